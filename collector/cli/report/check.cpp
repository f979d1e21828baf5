// SPDX-License-Identifier: MIT
// `warpmeter check`: exit 0 when every gate holds, 1 when one is broken, 3 when one cannot be
// judged.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/named_files.h"
#include "base/output.h"
#include "collector/cli/options.h"
#include "collector/cli/terminal.h"
#include "collector/cli/usage.h"
#include "reports/gates/check.h"
#include "reports/gates/config.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

constexpr double default_max_slowdown = 0.03;

struct CheckCommand {
  std::string database, run = "last", config, baseline, max_slowdown, significance,
                        format = "table", file;
  std::vector<std::string> selectors, gates;
  bool no_expectations = false, allow_unfinished = false;
};

bool looks_like_a_file(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".db") ||
         text.ends_with(".sqlite") || text.ends_with(".sqlite3");
}

/// The gates' file: the one named, else the warpmeter.toml that holds here; "": there is none.
std::string config_path(const CheckCommand& command) {
  if (!command.config.empty()) return command.config;
  return reports::find_config(".").value_or("");
}

/// The gates of the file. One that lies in another folder is named, for nobody sees it there.
reports::Config read_gates(const CheckCommand& command, const std::string& path) {
  if (path.empty()) return {};
  reports::Config config = reports::read_config(path);
  if (command.config.empty() && path.find('/') != std::string::npos) {
    say(fmt::format("the gates of {} hold here\n", path));
  }
  if (config.baseline && looks_like_a_file(*config.baseline)) {
    config.baseline = (std::filesystem::path(path).parent_path() / *config.baseline).string();
    if (command.baseline.empty() && !NamedFiles(path).allows(*config.baseline)) {
      throw Error(ExitCode::usage,
                  fmt::format("{0} names the baseline {1}, which lies neither in its folder nor in "
                              "this one: give it with --baseline {1}",
                              path, *config.baseline));
    }
  }
  return config;
}

/// "a.db, b.db": the databases beside a path that does not exist.
std::string databases_beside(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".db") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (names.empty()) return fmt::format("there is no database in {}", folder.string());
  return fmt::format("the databases in {}: {}", folder.string(), fmt::join(names, ", "));
}

/// A baseline and, where it is in another file, that file's reader.
struct OpenBaseline {
  std::optional<schema::Reader> reader;
  reports::Baseline baseline;
};

void open_baseline(OpenBaseline& open, const schema::Reader& reader, std::int64_t run,
                   const std::string& text) {
  if (std::filesystem::exists(text)) {
    try {
      open.reader.emplace(text);
    } catch (const Error& error) {
      throw Error(error.code(), naming_other_option(error.what(), "--baseline"));
    }
    open.baseline.reader = &*open.reader;
    open.baseline.run = open.reader->find_run("last");
    open.baseline.name = fmt::format("{}, run {}", text, open.baseline.run);
    return;
  }
  if (looks_like_a_file(text)) {
    throw Error(ExitCode::file,
                fmt::format("there is no baseline '{}' ({})", text, databases_beside(text)));
  }
  open.baseline.reader = &reader;
  open.baseline.run = reader.find_run(text);
  open.baseline.name = fmt::format("run {}", open.baseline.run);
  if (open.baseline.run == run) {
    throw Error(ExitCode::usage,
                fmt::format("the baseline '{}' is the run that is checked, {}: name an earlier one",
                            text, run));
  }
}

reports::CheckFormat format_of(const std::string& name) {
  using reports::CheckFormat;
  if (name == "markdown") return CheckFormat::markdown;
  if (name == "csv") return CheckFormat::csv;
  if (name == "json") return CheckFormat::json;
  if (name == "github") return CheckFormat::github;
  if (name == "junit") return CheckFormat::junit;
  if (name == "sarif") return CheckFormat::sarif;
  return CheckFormat::table;
}

ExitCode exit_code_of(const reports::Check& check) {
  switch (check.outcome()) {
    case reports::Outcome::holds:
      return ExitCode::done;
    case reports::Outcome::broken:
      return ExitCode::broken;
    default:
      return ExitCode::nothing;
  }
}

/// Where the verdicts go: over none of the files that they come from.
Destination destination_of(const CheckCommand& command, const std::string& gates,
                           const std::string& baseline) {
  FileClaims files;
  files.read(gates.empty() ? "warpmeter.toml" : gates, "the gates");
  files.read_database(command.database);
  if (!baseline.empty() && std::filesystem::exists(baseline)) {
    files.read_database(baseline, "the baseline");
  }
  return files.write(command.file, "-o");
}

/// Refuses a gate where a selector is taken: "naive: duration <= 80us" lacks --gate.
void refuse_gate(const std::string& text) {
  try {
    reports::parse_gate(text);
  } catch (const Error&) {
    return;  // no gate
  }
  throw Error(ExitCode::usage,
              fmt::format("'{0}' is a gate, and not which launches to check: --gate '{0}'", text));
}

ExitCode run(const CheckCommand& command) {
  // All that was typed is read before a database is opened: its mistakes come first.
  reports::CheckRequest request;
  for (const std::string& gate : command.gates) request.gates.push_back(reports::parse_gate(gate));
  std::optional<double> max_slowdown, significance;
  if (!command.max_slowdown.empty()) {
    max_slowdown = reports::parse_percentage("--max-slowdown", command.max_slowdown);
  }
  if (!command.significance.empty()) {
    significance = reports::parse_significance("--significance", command.significance);
  }
  const std::string gates = config_path(command);
  reports::Config config = read_gates(command, gates);
  std::move(config.gates.begin(), config.gates.end(), std::back_inserter(request.gates));
  request.expectations = !command.no_expectations && config.expectations.value_or(true);
  request.allow_unfinished = command.allow_unfinished;
  for (const std::string& selector : command.selectors) {
    refuse_gate(selector);
    request.selectors.push_back(reports::parse_selector(selector));
  }
  const std::string baseline =
      !command.baseline.empty() ? command.baseline : config.baseline.value_or("");
  if (baseline.empty() && (max_slowdown || significance)) {
    throw Error(ExitCode::usage, fmt::format("{} needs a --baseline that it is measured from",
                                             max_slowdown ? "--max-slowdown" : "--significance"));
  }
  const Destination destination = destination_of(command, gates, baseline);
  const schema::Reader reader(command.database);
  request.run = reader.find_run(command.run);
  OpenBaseline open;
  if (!baseline.empty()) {
    open_baseline(open, reader, request.run, baseline);
    open.baseline.max_slowdown =
        max_slowdown.value_or(config.max_slowdown.value_or(default_max_slowdown));
    open.baseline.significance =
        significance.value_or(config.significance.value_or(open.baseline.significance));
    request.baseline = open.baseline;
  }

  reports::Check check = reports::check(reader, request);
  check.database = command.database;
  const bool on_terminal = command.file.empty() && is_terminal(STDOUT_FILENO);
  const std::size_t width =
      on_terminal ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
  Output output(destination);
  output.write(reports::render(check, format_of(command.format), width));
  output.finish();
  if (command.format == "csv") {  // its rows have no room for them
    for (const std::string& remark : check.remarks) say(remark + "\n");
  }
  return exit_code_of(check);
}

}  // namespace

Command add_check(CLI::App& program) {
  CLI::App& app = add_command(
      program, "check", "Fail when an expectation or a gate does not hold",
      {{"warpmeter check", "what the catalogue expects, and warpmeter.toml"},
       {"warpmeter check --gate 'gst_efficiency >= 90'", "a gate on every launch"},
       {"warpmeter check --gate 'transpose/*@4096: duration <= 80us'", "on some, at one size"},
       {"warpmeter check --baseline main.db --max-slowdown 3%", "no slower than it was"},
       {"warpmeter check --format github", "annotations on a pull request"},
       {"warpmeter check --format sarif -o check.sarif",
        "for GitHub's code scanning, and editors"}});
  auto check = std::make_shared<CheckCommand>();
  add_arguments(
      app, "SELECTOR", check->selectors,
      "Check only these launches: a family, family/variant, or a glob; then @SIZE[,SIZE], "
      "@grid=64x64, @block=256 or @device='*H200 #1'; all when none is given");
  add_repeated(app, "-g,--gate", "GATE", check->gates,
               "[SELECTOR:] EXPRESSION RELATION EXPRESSION, with + - * / and numbers in ns, us, "
               "ms, s or %; added to "
               "those of --config");
  add_text(app, "--config", "FILE", check->config,
           "Gates in TOML (default: warpmeter.toml of this folder or the nearest above)");
  add_flag(app, "--no-expectations", check->no_expectations,
           "Leave out what the catalogue expects of its variants");
  add_flag(app, "--allow-unfinished", check->allow_unfinished,
           "Judge the launches that are there though the run was interrupted, or some failed");
  add_text(app, "--baseline", "FILE|RUN", check->baseline,
           "A database (its last run), or a run of this one, to compare times with");
  add_text(app, "--max-slowdown", "PERCENT", check->max_slowdown,
           "How much slower than the baseline is allowed (default: 3%)");
  add_text(app, "--significance", "PERCENT", check->significance,
           "How probable a false alarm may be, over all launches (default: 0.1%)");
  add_text(app, "--run", "RUN", check->run,
           "An id, the beginning of its UUID, a label, last or last~N (default: last)");
  add_database(app, check->database);
  add_choice(
      app, "--format", {"table", "markdown", "csv", "json", "github", "junit", "sarif"},
      check->format,
      "The format (default: table); in csv, text that a spreadsheet would take for a formula "
      "begins with an apostrophe");
  add_text(app, "-o,--output", "FILE", check->file, "Write there instead of standard output");
  return {&app, [check] { return run(*check); }};
}

}  // namespace warpmeter::cli
