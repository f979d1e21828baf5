// SPDX-License-Identifier: MIT
// `warpmeter doctor`: one line a check, and for what does not work how to mend it. A machine
// without a GPU is not ill: the model answers there.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/output.h"
#include "collector/cli/backends.h"
#include "collector/cli/model/doctor_check.h"
#include "collector/cli/model/doctor_peaks.h"
#include "collector/cli/model/doctor_program.h"
#include "collector/cli/options.h"
#include "collector/cli/terminal.h"
#include "collector/cupti/diagnose.h"
#include "collector/family/catalogue.h"
#include "collector/model/input/cache.h"
#include "collector/model/session/backend.h"
#include "reports/gates/config.h"
#include "reports/table/number.h"
#include "schema/store.h"
#include "schema/upkeep/maintenance.h"

namespace warpmeter::cli {
namespace {

/// The model runs vector_add on a few blocks; its counts are known: each warp loads two full lines
/// of four sectors and stores one.
Check check_model() {
  constexpr std::int64_t n = 1024;
  constexpr double warps = n / 32.0;
  const std::string counters[] = {"global_load_sectors", "global_store_sectors"};
  const double expected[] = {warps * 2 * 4, warps * 4};
  Check check{"model", false, "", "this is a fault of warpmeter: please report it"};
  try {
    const kernels::Family& family = *family::find_in_catalogue("vector_add");
    const kernels::Variant& variant = family.variants.front();
    const std::unique_ptr<run::Backend> backend = model::open({});
    backend->select(counters);
    const kernels::Problem problem = family.prepare(n);
    const auto workload = backend->load(problem);
    const run::Launch launch{variant.image, variant.entry, variant.geometry(n)};
    const run::Execution execution = workload->execute(launch);
    if (!execution.failure.empty()) {
      check.detail = execution.failure;
      return check;
    }
    const auto counted = workload->count({&launch, 1});
    for (std::size_t i = 0; i < std::size(expected); ++i) {
      const schema::Counter& counter = counted.at(0).at(i);
      if (counter.value == expected[i]) continue;
      check.detail = fmt::format("{} of {} is {}, not {}", counter.name, launch.entry,
                                 counter.value.value_or(-1), expected[i]);
      return check;
    }
    check.ok = true;
    check.detail = fmt::format("{} executes and counts as it should", backend->device().name);
  } catch (const Error& error) {
    check.detail = error.what();
  }
  return check;
}

/// True if a file can be made in a folder, by making one: permission bits do not tell of read-only
/// or virtual file systems.
bool can_make_files(const std::filesystem::path& folder) {
  std::string probe = (folder / ".warpmeter.XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) return false;
  close(descriptor);
  unlink(probe.c_str());
  return true;
}

Check check_place(const std::string& path) {
  Check check{"database", false, "", "name another with --db or $WARPMETER_DB"};
  // A link may lead to where nothing is yet.
  std::filesystem::path place = path;
  std::error_code ignored;
  constexpr int most_links = 40;  // as the system follows
  for (int i = 0; i < most_links && std::filesystem::is_symlink(place, ignored); ++i) {
    place = place.parent_path() / std::filesystem::read_symlink(place, ignored);
  }
  const std::filesystem::path folder = place.parent_path();
  check.ok = can_make_files(folder.empty() ? "." : folder);
  check.detail = check.ok ? fmt::format("{} does not exist yet and can be made", path)
                          : fmt::format("{} does not exist and cannot be made there", path);
  return check;
}

/// All of the database is read before it is opened for writing, which would change it.
std::vector<Check> check_database(const std::string& path) {
  if (path.empty()) {
    return {{"database", false, "its name is empty", "name a file with --db or $WARPMETER_DB"}};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {check_place(path)};
  Check check{"database", false, "", "name another with --db or $WARPMETER_DB", "broken "};
  std::vector<Check> checks;
  try {
    for (schema::Examined& finding : schema::examine(path)) {
      checks.push_back({std::move(finding.name), finding.ok, std::move(finding.detail),
                        std::move(finding.remedy), "broken "});
    }
    check.ok = checks.front().ok;
    const bool is_writable = access(path.c_str(), W_OK) == 0;
    if (check.ok && is_writable) const schema::Store store(path);
    check.detail = fmt::format("{} {}", path,
                               !check.ok     ? "is damaged"
                               : is_writable ? "can be read and written"
                                             : "can be read, but you may not write to it");
  } catch (const Error& error) {
    check.detail = error.what();
  }
  checks.insert(checks.begin(), check);
  return checks;
}

std::string line_of(const Check& check) {
  const std::string mark = check.ok ? coloured(STDOUT_FILENO, Colour::green, "ok     ")
                                    : coloured(STDOUT_FILENO, Colour::red, check.otherwise);
  const std::string remedy =
      check.ok || check.remedy.empty() ? "" : fmt::format("\n{:21}-> {}", "", check.remedy);
  return fmt::format("{}  {:<12}{}{}\n", mark, check.name, check.detail, remedy);
}

/// The cache of compiled kernels.
Check check_cache() {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) {
    return {"cache", true, "none: neither $XDG_CACHE_HOME nor $HOME is a folder", ""};
  }
  std::error_code ignored;
  std::filesystem::path there = folder;
  while (!std::filesystem::exists(there, ignored) && there.has_relative_path()) {
    there = there.parent_path();
  }
  if (!can_make_files(there)) {
    return {"cache", false, fmt::format("{} cannot be written", folder.string()),
            "name a folder that can with $XDG_CACHE_HOME"};
  }
  const model::CacheState state = model::cache_state();
  return {"cache", true,
          fmt::format("{}: {}, {:.1f} of {} MiB", folder.string(),
                      reports::counted(state.entries, "compilation", "compilations"),
                      static_cast<double>(state.bytes) / (1 << 20), model::cache_limit >> 20),
          ""};
}

/// The choice that `run` would make here, in its own words.
Check check_choice() {
  Check check{"run", true, "", ""};
  try {
    const Backends backends = open_backends({});
    check.detail = fmt::format("{}", fmt::join(backends.notes, "; "));
  } catch (const Error& error) {
    check = {"run", false, error.what(), "mend one of the above"};
  }
  return check;
}

/// Which gates `check` would hold here.
Check check_gates() {
  const std::optional<std::string> path = reports::find_config(".");
  if (!path) return {"gates", true, "no warpmeter.toml here or in a folder above", ""};
  Check check{"gates", false, "", "mend the file, or name another with check --config", "broken "};
  try {
    const std::size_t count = reports::read_config(*path).gates.size();
    check.ok = true;
    check.detail = fmt::format("{} of {}", reports::counted(count, "gate", "gates"), *path);
  } catch (const Error& error) {
    check.detail = error.what();
  }
  return check;
}

ExitCode run(const std::string& database) {
  Output output;
  output.write(line_of(check_model()));
  for (const cupti::Finding& finding : cupti::diagnose()) {
    output.write(
        line_of({finding.name, finding.ok, finding.detail, finding.remedy, finding.otherwise}));
  }
  bool is_sound = true;
  std::vector<Check> checks = check_database(database);
  checks.push_back(check_gates());
  for (const Check& check : checks) {
    output.write(line_of(check));
    is_sound = is_sound && check.ok;
  }
  output.write(line_of(check_cache()));
  const Check choice = check_choice();
  output.write(line_of(choice));
  output.finish();
  if (!is_sound) return ExitCode::file;
  return choice.ok ? ExitCode::done : ExitCode::no_hardware;
}

/// Prints if a program can be answered where there is no GPU.
ExitCode run_program(const std::string& program) {
  Output output;
  bool is_sound = true;
  for (const Check& check : check_program(program)) {
    output.write(line_of(check));
    is_sound = is_sound && check.ok;
  }
  output.finish();
  return is_sound ? ExitCode::done : ExitCode::no_hardware;
}

}  // namespace

Command add_doctor(CLI::App& program) {
  CLI::App& app =
      add_command(program, "doctor", "Say what works here, and how to fix what does not",
                  {{"warpmeter doctor", "driver, CUPTI, permission, model, database"},
                   {"warpmeter doctor --db lab.db", "is this database sound?"},
                   {"warpmeter doctor ./app", "can profile -b model execute its kernels?"},
                   {"warpmeter doctor --peaks", "measure the GPU's peaks for the roofline"}});
  auto peaks = std::make_shared<bool>(false);
  auto device = std::make_shared<std::int64_t>(0);
  auto database = std::make_shared<std::string>();
  auto examined = std::make_shared<std::string>();
  add_database(app, *database);
  add_text(app, "PROGRAM", "", *examined, "A CUDA program: say whether it can run without a GPU");
  add_flag(app, "--peaks", *peaks,
           "Measure the GPU's bandwidths and arithmetic rates, and store them");
  add_count(app, "-d,--device", 0, 1023, *device, "The GPU's number, for --peaks");
  return {&app, [&app, database, examined, peaks, device] {
            if (*peaks && !examined->empty()) {
              throw Error(ExitCode::usage, "--peaks measures the GPU and takes no program");
            }
            if (!*peaks && app.count("--device") > 0) {
              throw Error(ExitCode::usage, "--device is for --peaks alone");
            }
            if (*peaks) return run_peaks(*database, static_cast<int>(*device));
            return examined->empty() ? run(*database) : run_program(*examined);
          }};
}

}  // namespace warpmeter::cli
