// SPDX-License-Identifier: MIT
#include "collector/cli/profile/request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <span>

#include "base/output.h"
#include "base/with_noun.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/profile/remarks.h"
#include "collector/cli/profile/source_folders.h"
#include "collector/cli/progress.h"
#include "collector/cli/terminal.h"
#include "collector/cupti/device.h"
#include "collector/cupti/passes.h"
#include "collector/inject/filter.h"
#include "reports/table/table.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {
namespace {

std::vector<std::string> counters_of(const ProfileRequest& request) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const std::vector<std::string> counters = catalogue.counters_for(request.metrics);
  if (request.counts() && counters.empty() && !catalogue.names_resource(request.metrics)) {
    throw Error(ExitCode::usage,
                "these --metrics are times: leave --metrics away and the summary shows them");
  }
  return counters;
}

/// Options that mean nothing without counters.
void check_needs(const ProfileRequest& request) {
  if (request.lines_kernels != 0 && !request.lines) {
    throw Error(ExitCode::usage, "--lines-kernels says how many kernels --lines looks at: add it");
  }
  if (request.counts() && (request.traces() || !request.trace_file.empty())) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} shows when everything ran, and --metrics repeat launches: leave one "
                    "out",
                    request.traces() ? "--trace" : "--trace-out"));
  }
  if (request.counts()) return;
  const auto refuse = [](const char* option, const char* why) {
    throw Error(ExitCode::usage,
                fmt::format("{} {}: it needs --metrics (@default will do)", option, why));
  };
  if (request.replays_program()) refuse("--replay application", "says how counters are read");
  if (request.times) refuse("--timing", "adds clean times to counters");
  if (request.launch_timeout > 0) refuse("--launch-timeout", "is about counted launches");
}

}  // namespace

inject::Config config_of(const ProfileRequest& request) {
  check_needs(request);
  inject::Config config;
  config.mode = request.counts() ? inject::Mode::counters : inject::Mode::activity;
  config.counters = counters_of(request);
  if (request.launch_timeout > 0) {
    config.selection.launch_timeout_ms =
        static_cast<std::uint32_t>(std::min(request.launch_timeout, 1e6) * 1000);
  }
  config.calls =
      !request.trace || request.trace_calls || request.sums_calls || request.writes_trace();
  config.managed_memory = request.managed_memory && (request.trace || request.writes_trace());
  config.allocations = request.allocations && request.trace;
  config.ranges = request.traces() || request.writes_trace();
  config.selection.kernel = request.kernel;
  config.selection.skip = static_cast<std::uint64_t>(request.skip);
  config.selection.count = static_cast<std::uint64_t>(request.count);
  for (const std::string& device : request.devices) {
    config.selection.devices.push_back(
        static_cast<std::uint32_t>(whole_number("--devices", device, 0, 1023)));
  }
  config.selection.ranges = request.ranges;
  if (request.from_start == "off") config.selection.profiling = inject::Profiling::off;
  config.source_folders = source_folders(request.words, request.source_roots);
  const inject::KernelPattern checked(request.kernel);  // a bad pattern is noticed here
  return config;
}

namespace {

/// A person who waits sees the chip whose passes are planned: all counters of six chips take most
/// of a minute.
class PlanProgress {
 public:
  PlanProgress(std::size_t chips, bool is_quiet)
      : chips_(chips), is_quiet_(is_quiet), bar_(is_terminal(STDERR_FILENO) && !is_quiet) {}

  void begin(const std::string& chip) {
    bar_.update(begun_++, chips_, "plans the passes of " + chip);
    const auto waited = std::chrono::steady_clock::now() - start_;
    if (is_quiet_ || is_terminal(STDERR_FILENO) || waited < std::chrono::seconds(2)) return;
    say_line(fmt::format("warpmeter: plans the passes of {}, chip {} of {}", chip, begun_, chips_));
  }
  void end() { bar_.clear(); }

 private:
  std::size_t chips_, begun_ = 0;
  bool is_quiet_;
  ProgressBar bar_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// True for a PerfWorks name that the chip does not know.
bool is_unknown(const std::string& chip, const std::string& counter) {
  if (schema::Catalogue::get().find_counter(counter) != nullptr) return false;
  try {
    cupti::plan_passes(chip, std::span(&counter, 1));
    return false;
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    return true;
  }
}

/// The cost of the counters on a chip. `is_one_of_several`: a name that this chip does not know may
/// be of another, and is one that it lacks.
std::vector<reports::Cell> row_of_chip(const std::string& chip,
                                       const std::vector<std::string>& counters,
                                       bool is_one_of_several) {
  std::vector<std::string> lacking, known;
  for (const std::string& counter : counters) {
    const bool is_left_out = is_one_of_several && is_unknown(chip, counter);
    (is_left_out ? lacking : known).push_back(counter);
  }
  const cupti::Passes passes = known.empty() ? cupti::Passes{} : cupti::plan_passes(chip, known);
  for (const auto& [counter, why] : passes.lacking) lacking.push_back(counter);
  const auto groups = cupti::one_pass_groups(std::vector<std::string>{chip}, known);
  return {chip, static_cast<std::int64_t>(counters.size()),
          static_cast<std::int64_t>(passes.passes), static_cast<std::int64_t>(groups.size()),
          fmt::format("{}", fmt::join(lacking, ", "))};
}

}  // namespace

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

void check_names(const inject::Config& config) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  std::vector<std::string> unknown;
  std::copy_if(config.counters.begin(), config.counters.end(), std::back_inserter(unknown),
               [&](const std::string& name) {
                 return catalogue.find_counter(name) == nullptr && !catalogue.reads(name);
               });
  for (const char* chip : cupti::known_chips()) {
    if (unknown.empty()) return;
    unknown = cupti::unknown_names(chip, unknown);
  }
  if (unknown.empty()) return;
  // Names that the one chip here has alone pass; of the others this says what is near them on it,
  // or on the chip that the model stands for.
  const std::vector<std::string> chips = chips_here();
  cupti::plan_passes(chips.size() == 1 ? chips.front() : "GH100", unknown);
}

void tell_passes(const ProfileRequest& request, const inject::Config& config,
                 const std::string& chip) {
  if (request.quiet || request.replays_program() || config.counters.empty()) return;
  const auto unknown = cupti::UnknownName::is_lacking;
  const std::size_t count = cupti::plan_passes(chip, config.counters, unknown).passes;
  say_line(fmt::format("warpmeter: {} in {} on {}", with_noun(config.counters.size(), "counter"),
                       with_noun(count, "pass", "passes"), chip));
}

profile::Passes passes_of(const ProfileRequest& request, const inject::Config& config) {
  profile::Passes passes{{config.counters}, request.times};
  if (config.counters.empty() || !request.replays_program()) return passes;
  const auto tell = [&](const std::string& text) {
    if (!request.quiet) say_line("warpmeter: " + text);
  };
  const std::vector<std::string> chips = chips_here();
  passes.counters.clear();
  for (const cupti::PassGroup& group : cupti::one_pass_groups(chips, config.counters)) {
    passes.counters.push_back(group.counters);
    if (group.passes <= 1) continue;
    tell(
        fmt::format("{} takes {} by itself: in its run of the program each launch is "
                    "replayed",
                    group.counters.front(), with_noun(group.passes, "pass", "passes")));
  }
  tell(fmt::format("{} in {} of the program on {}", with_noun(config.counters.size(), "counter"),
                   with_noun(passes.counters.size(), "run"), fmt::join(chips, ", ")));
  return passes;
}

ExitCode list_passes(const ProfileRequest& request) {
  if (!request.counts()) throw Error(ExitCode::usage, "--list-passes needs --metrics to plan");
  const inject::Config config = config_of(request);
  if (config.counters.empty())
    throw Error(ExitCode::usage, "these --metrics are resources and need no pass");
  const std::vector<std::string> chips = chips_here();
  if (chips.size() > 1) check_names(config);  // a name may be of one chip alone
  using reports::Column;
  reports::Table table;
  table.columns = {
      Column::text("chip"), Column::number("counters", "counters", "", reports::Kind::exact),
      Column::number("passes", "passes", "", reports::Kind::exact),
      Column::number("runs", "runs with --replay application", "", reports::Kind::exact),
      Column::text("lacking", "counters that the chip lacks")};
  PlanProgress progress(chips.size(), request.quiet);
  for (const std::string& chip : chips) {
    progress.begin(chip);
    table.rows.push_back(row_of_chip(chip, config.counters, chips.size() > 1));
  }
  progress.end();
  Output output;
  output.write(rendered(table, request.format, ""));
  output.finish();
  return ExitCode::done;
}

}  // namespace warpmeter::cli
