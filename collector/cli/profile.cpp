// `warpmeter profile`: nvprof's job. What can be wrong with the request is said before the program
// starts; the program runs with our library inside; its own output goes where it always goes, the
// tables go to standard error when it has ended, and its exit code becomes ours.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/output.h"
#include "collector/cli/profile_tables.h"
#include "collector/cli/version.h"
#include "collector/cupti/device.h"
#include "collector/cupti/passes.h"
#include "collector/inject/filter.h"
#include "collector/profile/injector.h"
#include "collector/profile/session.h"
#include "reports/table.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

using namespace std::chrono_literals;

struct ProfileRequest {
  std::vector<std::string> words, metrics, devices, ranges;
  std::string kernel, name_base = "function", processes = "all", label, database, command_line;
  std::int64_t skip = 0, count = 0;
  double timeout = 0;
  bool list_passes = false, quiet = false;

  bool counts() const { return !metrics.empty(); }
};

// ---- from what was typed to what the library is told

std::vector<std::string> counters_of(const ProfileRequest& request) {
  const std::vector<std::string> counters = schema::Catalogue::get().counters_for(request.metrics);
  if (request.counts() && counters.empty()) {
    throw Error(ExitCode::usage,
                "these --metrics are times: leave --metrics away and the summary shows them");
  }
  return counters;
}

inject::Config config_of(const ProfileRequest& request) {
  inject::Config config;
  config.mode = request.counts() ? inject::Mode::counters : inject::Mode::activity;
  config.counters = counters_of(request);
  config.selection.kernel = request.kernel;
  config.selection.skip = static_cast<std::uint64_t>(request.skip);
  config.selection.count = static_cast<std::uint64_t>(request.count);
  for (const std::string& device : request.devices) {
    config.selection.devices.push_back(
        static_cast<std::uint32_t>(whole_number("--devices", device, 0, 1023)));
  }
  config.selection.ranges = request.ranges;
  if (!request.ranges.empty() && !request.counts()) {
    throw Error(ExitCode::usage,
                "--nvtx-include chooses launches to count: it needs --metrics (@default will do)");
  }
  const inject::KernelPattern checked(request.kernel);  // a bad pattern is noticed here
  return config;
}

// ---- --list-passes

/// For the chips here; without any, for one chip of each generation.
std::vector<std::string> chips_here() {
  std::vector<std::string> chips;
  for (const schema::Device& device : cupti::devices()) {
    const bool is_new = std::find(chips.begin(), chips.end(), device.chip) == chips.end();
    if (!device.chip.empty() && is_new) chips.push_back(device.chip);
  }
  if (chips.empty()) {
    for (const char* chip : cupti::known_chips()) chips.emplace_back(chip);
  }
  return chips;
}

ExitCode list_passes(const ProfileRequest& request) {
  if (!request.counts()) throw Error(ExitCode::usage, "--list-passes needs --metrics to plan");
  const std::vector<std::string> counters = counters_of(request);
  using reports::Column;
  reports::Table table;
  table.columns = {Column::text("chip"),
                   Column::number("passes", "passes", "", reports::Kind::exact),
                   Column::number("counters", "counters", "", reports::Kind::exact),
                   Column::text("lacking", "counters that the chip lacks")};
  for (const std::string& chip : chips_here()) {
    const cupti::Passes passes = cupti::plan_passes(chip, counters);
    std::vector<std::string> lacking;
    for (const auto& [counter, why] : passes.lacking) lacking.push_back(counter);
    table.rows.push_back({chip, static_cast<std::int64_t>(passes.passes),
                          static_cast<std::int64_t>(counters.size()),
                          fmt::format("{}", fmt::join(lacking, ", "))});
  }
  Output output("");
  output.write(reports::render(table, reports::Format::table));
  output.finish();
  return ExitCode::done;
}

// ---- what a person sees

void say(const std::string& text) {
  const std::string line = text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

KernelNameBase base_of(const std::string& word) {
  return word == "mangled"     ? KernelNameBase::mangled
         : word == "demangled" ? KernelNameBase::demangled
                               : KernelNameBase::function;
}

/// Names as the tables show them, each once: at most five, and how many more.
template <class Names>
std::string some_of(const Names& kernels, KernelNameBase base) {
  std::set<std::string> names;
  for (const std::string& kernel : kernels) names.insert(shown_name(kernel, base));
  const std::size_t shown = std::min<std::size_t>(names.size(), 5);
  const std::size_t more = names.size() - shown;
  return fmt::format(
      "{}{}",
      fmt::join(names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(shown)), ", "),
      more > 0 ? fmt::format(" and {} more", more) : "");
}

void show_tables(const ProfileRequest& request, const profile::Recorder& recorder) {
  const KernelNameBase base = base_of(request.name_base);
  if (!request.counts()) {
    if (!recorder.activities().empty()) say(summary_table(recorder.activities(), base));
  } else if (recorder.run_id()) {
    const schema::Reader reader(request.database);
    say(metrics_table(reader, *recorder.run_id(), shown_metrics(request.metrics), base));
  }
}

void show_remarks(const ProfileRequest& request, const profile::Recorder& recorder) {
  for (const std::string& problem : recorder.problems()) say("warpmeter: " + problem);
  for (const auto& [reason, refusal] : recorder.refusals()) {
    say(fmt::format("warpmeter: {} launches of {} were not measured: {}", refusal.launches,
                    some_of(refusal.kernels, base_of(request.name_base)), reason));
  }
  if (recorder.lost_records() > 0) {
    say(fmt::format("warpmeter: CUPTI lost {} records, so the calls are too few",
                    recorder.lost_records()));
  }
  if (recorder.run_id()) {
    const std::string words[] = {"warpmeter",      "report", "--db",
                                 request.database, "--run",  std::to_string(*recorder.run_id())};
    say(fmt::format("warpmeter: {} launches of {}, run {} of {}\nnext: {}", recorder.launches(),
                    std::filesystem::path(request.words.front()).filename().string(),
                    *recorder.run_id(), request.database, shell_line(words)));
  }
}

// ---- the command

schema::Run describe(const ProfileRequest& request) {
  schema::Run run;
  char host[256] = {};
  run.backend = "cupti";
  run.tool_version = version();
  run.git_revision = git_revision();
  run.cuda_version = cuda_version();
  run.host = gethostname(host, sizeof host - 1) == 0 ? host : "";
  run.command = request.command_line;
  run.label = request.label;
  return run;
}

/// The first device, or why there is none.
schema::Device required_device() {
  try {
    return cupti::describe_device(0);
  } catch (const Error& error) {
    const std::string_view words = error.what();
    throw Error(error.code(), fmt::format("{}; profile needs a GPU, `warpmeter run` does not",
                                          words.substr(0, words.find(';'))));
  }
}

using Devices = std::shared_future<std::vector<schema::Device>>;

/// The devices of this machine. Throws Error{no_hardware} when there is none, or no driver: that is
/// known at once, while a working driver takes 0.3 s to start.
Devices find_devices() {
  return std::async(std::launch::async,
                    [] {
                      std::vector<schema::Device> devices = cupti::devices();
                      if (devices.empty()) devices.push_back(required_device());
                      return devices;
                    })
      .share();
}

/// A process names its device by what the driver tells; we know the rest of it.
std::function<void(schema::Device&)> completing(const Devices& known) {
  return [known](schema::Device& device) {
    for (const schema::Device& whole : known.get()) {
      if (whole.uuid == device.uuid) device = whole;
    }
  };
}

schema::RunOutcome outcome_of(const profile::Outcome& outcome) {
  if (outcome.cancelled || outcome.timed_out) return schema::RunOutcome::interrupted;
  return outcome.ending.ok() ? schema::RunOutcome::done : schema::RunOutcome::failed;
}

std::string reason_of(const ProfileRequest& request, const profile::Outcome& outcome) {
  if (outcome.timed_out) return fmt::format("ended after --timeout {}", request.timeout);
  if (outcome.cancelled) return "stopped by a signal";
  return outcome.ending.ok() ? "" : "the program " + outcome.ending.in_words();
}

/// Why nothing was measured. The program itself did well.
Error nothing_measured(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (!recorder.refusals().empty()) {
    return {ExitCode::no_hardware,
            "no launch could be measured: " + recorder.refusals().begin()->first};
  }
  if (!recorder.problems().empty()) {
    return {ExitCode::no_hardware, "nothing was measured: " + *recorder.problems().begin()};
  }
  if (!recorder.left_out().empty()) {
    return {ExitCode::nothing,
            fmt::format("no launch passed the filters; the program launched {}",
                        some_of(recorder.left_out(), base_of(request.name_base)))};
  }
  return {ExitCode::nothing,
          "no kernel was launched by this program or its children; is it the "
          "one that uses CUDA?"};
}

ExitCode conclude(const ProfileRequest& request, const profile::Outcome& outcome,
                  profile::Recorder& recorder) {
  recorder.finish(outcome_of(outcome), reason_of(request, outcome));
  if (!request.quiet) {
    show_tables(request, recorder);
    show_remarks(request, recorder);
  }
  if (const std::string reason = reason_of(request, outcome); !reason.empty()) {
    say(fmt::format("warpmeter: {}; what was measured before is kept", reason));
    return static_cast<ExitCode>(outcome.ending.status());
  }
  if (recorder.launches() == 0) throw nothing_measured(request, recorder);
  return ExitCode::done;
}

ExitCode run_command(const ProfileRequest& request) {
  if (request.list_passes) return list_passes(request);
  if (request.words.empty()) {
    throw Error(ExitCode::usage,
                "profile needs a program: warpmeter profile [OPTIONS] PROGRAM [ARGS...] (see: "
                "warpmeter profile --help)");
  }
  profile::find_program(request.words.front());
  check_label(request.label);
  inject::Config config = config_of(request);
  config.cupti_directory = cupti::cupti_folder();
  const Devices devices = find_devices();
  // The summary does not keep the program waiting for what only the database wants to know.
  if (request.counts() || devices.wait_for(20ms) == std::future_status::ready) devices.get();
  if (request.counts()) {
    for (const std::string& chip : chips_here()) {
      const cupti::Passes passes = cupti::plan_passes(chip, config.counters);
      if (!request.quiet) {
        say(fmt::format("warpmeter: {} counters in {} passes on {}", config.counters.size(),
                        passes.passes, chip));
      }
    }
  }

  const profile::PrivateFolder folder;
  profile::RecorderOptions recording{request.database, describe(request),
                                     std::filesystem::path(request.words.front()).filename(),
                                     config, completing(devices)};
  profile::Recorder recorder(std::move(recording));
  profile::Options options;
  options.words = request.words;
  std::error_code ignored;
  options.injector = profile::find_injector(
      std::filesystem::read_symlink("/proc/self/exe", ignored), folder.path());
  options.socket = folder.path() / "socket";
  options.all_processes = request.processes == "all";
  if (request.timeout > 0) options.timeout = std::chrono::duration<double>(request.timeout);
  options.cancelled = interrupted;
  options.remark = [](const std::string& text) { say("warpmeter: " + text); };
  catch_interrupts();
  const profile::Outcome outcome = profile::profile(options, config, recorder);
  if (recorder.launches() == 0) devices.get();  // why, perhaps
  return conclude(request, outcome, recorder);
}

/// Whether an option of ours takes the word after it.
bool takes_next_word(const CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const bool is_long = word.starts_with("--");
  if (!is_long && word.size() > 2) return false;  // -s2
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace

std::size_t words_before_program(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.size() < 2 || words[1] != "profile") return words.size();
  const CLI::App& app = *program.get_subcommand("profile");
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--" || words[i].size() < 2 || words[i].front() != '-') return i;
    if (takes_next_word(app, words[i])) ++i;
  }
  return words.size();
}

Command add_profile(CLI::App& program, std::vector<std::string> words) {
  CLI::App& app = add_command(
      program, "profile", "Measure the kernels of any CUDA program, as nvprof did",
      {{"warpmeter profile ./app", "where its time goes"},
       {"warpmeter profile -m @default ./app --size 4096", "metrics of every launch"},
       {"warpmeter profile -m @shared -k regex:'reduce.*' -s 2 -c 10 ./app", "of chosen ones"},
       {"warpmeter profile -m @all --list-passes", "what that would cost"}});
  auto request = std::make_shared<ProfileRequest>();
  request->command_line = shell_line(words);
  add_arguments(app, "PROGRAM", request->words,
                "The program and its arguments; -- may stand before it");
  add_list(app, "-m,--metrics", "METRIC", request->metrics,
           "Metrics, counters, sets (@default) or PerfWorks names; times when not given");
  add_text(app, "-k,--kernel-name", "NAME", request->kernel,
           "Measure only the kernel NAME, or those that regex:PATTERN finds");
  add_count(app, "-s,--launch-skip", 0, INT64_MAX, request->skip,
            "Leave out the first N of those launches of a process");
  add_count(app, "-c,--launch-count", 1, INT64_MAX, request->count,
            "Measure no more than N of those launches of a process");
  add_list(app, "--devices", "N", request->devices,
           "Measure only on these devices, as the program counts them");
  add_repeated(app, "--nvtx-include", "RANGE", request->ranges,
               "Measure only inside of this NVTX range of the program");
  add_choice(app, "--kernel-name-base", {"function", "demangled", "mangled"}, request->name_base,
             "How the tables name kernels");
  add_choice(app, "--target-processes", {"all", "application-only"}, request->processes,
             "Measure the program's children too (all, the default) or not");
  add_flag(app, "--list-passes", request->list_passes,
           "Show how often a launch is repeated for --metrics, and run nothing");
  add_seconds(app, "--timeout", request->timeout, "End the program after that long");
  add_text(app, "--label", "TEXT", request->label, "A name for the run, for --run later");
  add_database(app, request->database);
  add_flag(app, "-q,--quiet", request->quiet, "Print no tables");
  return {&app, [request, &program, words = std::move(words)] {
            std::size_t begin = words_before_program(program, words);
            if (begin < words.size() && words[begin] == "--") ++begin;
            request->words.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
            return run_command(*request);
          }};
}

}  // namespace warpmeter::cli
