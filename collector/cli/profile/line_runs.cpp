// SPDX-License-Identifier: MIT
#include "collector/cli/profile/line_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "base/named_files.h"
#include "base/with_noun.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/profile/remarks.h"
#include "collector/cli/tables/profile_tables.h"
#include "collector/cli/terminal.h"
#include "collector/cupti/passes.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/input/toolkit.h"
#include "collector/profile/injector.h"
#include "collector/profile/input.h"
#include "collector/profile/line_run.h"
#include "reports/record.h"
#include "reports/table/number.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

constexpr std::int64_t default_kernels = 8;
constexpr const char* alone_variable = "WARPMETER_RUN_ALONE";

/// The lines' texts, and their files as a person in this folder would write them.
class Sources {
 public:
  explicit Sources(NamedFiles allowed) : allowed_(std::move(allowed)) {}
  /// A source that this program holds.
  void give(std::string_view file, std::string_view text) { known_.emplace(file, text); }

  /// Lines are of type schema::Line or schema::Stall.
  template <class Placed>
  void complete(std::vector<Placed>& lines) {
    for (Placed& line : lines) {
      if (line.line == 0) continue;
      const auto [source, is_new] = known_.try_emplace(line.file);
      if (is_new) source->second = allowed_.text(line.file);
      line.text = model::line_text(source->second, line.line);
      line.file = model::relative_path(line.file);
    }
  }

 private:
  NamedFiles allowed_;
  std::map<std::string, std::string> known_;
};

/// A kernel of the profiled program, with the time of all its launches where it is known.
struct Kernel {
  std::string name;
  double total_ns = 0;
};

/// The costliest first; those that cost the same in the order of their first launches.
std::vector<Kernel> kernels_of(const schema::Reader& reader, const profile::Recorder& recorder) {
  std::map<std::string, double> totals;
  for (const profile::Activity& activity : recorder.activities()) {
    if (activity.kind == inject::ActivityKind::kernel) totals[activity.name] = activity.total_ns;
  }
  std::vector<Kernel> kernels;
  const schema::Rows rows = reader.query(
      "SELECT kernel, min(launch_id) FROM launches WHERE run_id = :run AND outcome = 'done' AND "
      "kernel NOT LIKE 'graph(%' GROUP BY kernel ORDER BY min(launch_id)",
      {{":run", *recorder.run_id()}});
  for (const auto& row : rows.rows) {
    const std::string& name = std::get<std::string>(row[0]);
    kernels.push_back({name, totals[name]});
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const Kernel& a, const Kernel& b) { return a.total_ns > b.total_ns; });
  return kernels;
}

/// The first stored launch like the one that was measured.
std::optional<std::int64_t> launch_like(const schema::Reader& reader, std::int64_t run_id,
                                        const std::string& kernel,
                                        const inject::LaunchShape& shape) {
  const auto extent = [](const std::array<std::uint32_t, 3>& e) {
    return fmt::format("{}x{}x{}", e[0], e[1], e[2]);
  };
  const schema::Rows rows = reader.query(
      "SELECT min(launch_id) FROM launches WHERE run_id = :run AND kernel = :kernel AND grid = "
      ":grid AND block = :block AND outcome = 'done'",
      {{":run", run_id},
       {":kernel", kernel},
       {":grid", extent(shape.grid)},
       {":block", extent(shape.block)}});
  const auto* id = std::get_if<std::int64_t>(&rows.rows.at(0).at(0));
  return id != nullptr ? std::optional(*id) : std::nullopt;
}

/// The results of two looks at a kernel, its accesses and what its warps wait for: two runs, for
/// CUPTI collects one of them.
struct Looks {
  profile::LaunchLines accesses;
  std::vector<schema::Stall> stalls;
  std::string without_stalls;  ///< why there are none
};

/// `options` gives the next run's.
Looks look_at(const std::function<profile::Options()>& options, const inject::Config& config,
              const std::string& kernel) {
  Looks looks;
  looks.accesses = profile::look_by_line(options(), config, inject::Mode::lines, kernel);
  if (looks.accesses.is_cancelled || !looks.accesses.reason.empty()) return looks;
  profile::LaunchLines waits =
      profile::look_by_line(options(), config, inject::Mode::stalls, kernel);
  looks.accesses.is_cancelled = waits.is_cancelled;
  looks.stalls = std::move(waits.stalls);
  looks.accesses.instructions.insert(looks.accesses.instructions.end(), waits.instructions.begin(),
                                     waits.instructions.end());
  looks.without_stalls = std::move(waits.reason);
  return looks;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

void add_lines_of_kernels(const ProfileRequest& request, const profile::Options& options,
                          const inject::Config& config, const profile::Recorder& recorder) {
  if (!recorder.run_id() || interrupted()) return;
  const auto tell = [&](const std::string& text) {
    if (!request.quiet) say_line("warpmeter: " + text);
  };
  const schema::Reader reader(request.database);
  const std::vector<Kernel> kernels = kernels_of(reader, recorder);
  const std::size_t count = std::min<std::size_t>(
      kernels.size(), static_cast<std::size_t>(request.lines_kernels > 0 ? request.lines_kernels
                                                                         : default_kernels));
  if (count < kernels.size()) {
    const bool is_timed = kernels.front().total_ns > 0;
    tell(fmt::format("--lines looks at {} of {}, {}; --lines-kernels {} looks at all", count,
                     with_noun(kernels.size(), "kernel"),
                     is_timed ? "those that took longest" : "those launched first",
                     kernels.size()));
  }
  const auto begin = Clock::now();
  const profile::Input input;
  schema::Store store(request.database);
  NamedFiles allowed;
  for (const std::string& folder : config.source_folders) allowed.allow(folder);
  Sources sources(std::move(allowed));
  for (std::size_t i = 0; i < count && !interrupted(); ++i) {
    const std::string& kernel = kernels[i].name;
    const std::string name = fmt::format("'{}'", shown_name(kernel, KernelNameBase::function));
    tell(fmt::format("--lines, kernel {} of {}, two runs of the program: {}", i + 1, count, name));
    int looks = 0;
    const auto next = [&] {
      profile::Options run = options;
      run.socket += fmt::format(".lines{}.{}", i, looks++);
      input.rewind();
      run.streams = {input.can_rewind(), false};
      return run;
    };
    Looks look = look_at(next, config, kernel);
    profile::LaunchLines& found = look.accesses;
    if (found.is_cancelled) break;
    if (!found.reason.empty()) {
      tell(fmt::format("{} has no lines: {}", name, found.reason));
      continue;
    }
    if (!look.without_stalls.empty()) {
      tell(
          fmt::format("what the warps of {} wait for is not known: {}", name, look.without_stalls));
    }
    sources.complete(found.lines);
    sources.complete(look.stalls);
    const auto id = launch_like(reader, *recorder.run_id(), kernel, *found.shape);
    if (!id) {
      tell(fmt::format("{} has no lines: its first launch in that run is none of the first run",
                       name));
      continue;
    }
    const schema::Completion completion{*id,
                                        {},
                                        std::nullopt,
                                        std::move(found.lines),
                                        std::move(look.stalls),
                                        std::move(found.instructions)};
    store.complete_launches(std::span(&completion, 1));
  }
  if (interrupted()) tell("stopped before the lines of every kernel were measured");
  if (count > 0) {
    tell(fmt::format("--lines took {:.1f} s more", seconds_since(begin)));
  }
}

namespace {

/// A launch of the run that is to have lines.
struct Wanted {
  std::int64_t launch_id = 0;
  std::string device;  ///< its ordinal
  const kernels::Family* family = nullptr;
  const kernels::Variant* variant = nullptr;
  std::int64_t size = 0;

  std::string name() const {
    return fmt::format("{}/{}{}", family->name, variant->name,
                       family->has_sizes() ? fmt::format(" {}", size) : "");
  }
};

std::vector<Wanted> launches_without_lines(const schema::Reader& reader, std::int64_t run_id,
                                           const run::Choice& choice) {
  std::vector<Wanted> all;
  const auto add = [&](const run::Selection& selection, const kernels::Variant& variant,
                       std::int64_t size) {
    const schema::Rows rows = reader.query(
        "SELECT min(l.launch_id), d.ordinal FROM launches l JOIN devices d USING (run_id, "
        "device_id) WHERE l.run_id = :run AND d.backend = 'cupti' AND l.family = :family AND "
        "l.variant = :variant AND coalesce(l.size, 0) = :size AND l.outcome = 'done' AND l.reason "
        "IS NULL AND NOT EXISTS (SELECT 1 FROM lines n WHERE n.launch_id = l.launch_id) GROUP BY "
        "l.device_id",
        {{":run", run_id},
         {":family", selection.family->name},
         {":variant", variant.name},
         {":size", selection.family->has_sizes() ? size : 0}});
    for (const auto& row : rows.rows) {
      all.push_back({std::get<std::int64_t>(row[0]), std::to_string(std::get<std::int64_t>(row[1])),
                     selection.family, &variant, size});
    }
  };
  for (const run::Selection& selection : choice.selections) {
    for (const std::int64_t size : selection.sizes) {
      for (const kernels::Variant* variant : selection.variants) add(selection, *variant, size);
    }
  }
  return all;
}

/// This program, for that launch alone.
profile::Options process_of(const RunRequest& request, const Wanted& wanted,
                            const profile::PrivateFolder& folder) {
  RunRequest alone = request;
  alone.backend.backend = "cupti";
  alone.backend.device = wanted.device;
  alone.backend.counts = "auto";
  profile::Options options;
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  options.words = {self.string(), "run"};
  for (std::string& word : words_of(alone)) options.words.push_back(std::move(word));
  options.injector = profile::find_library(profile::Library::injector, self, folder.path());
  options.all_processes = false;
  options.streams = {false, false};
  options.variables = {{alone_variable, fmt::format("{}\n{}\n{}", wanted.family->name,
                                                    wanted.variant->name, wanted.size)}};
  options.cancelled = interrupted;
  return options;
}

}  // namespace

void add_lines_of_variants(const RunRequest& request, const run::Choice& choice,
                           std::int64_t run_id) {
  const std::vector<Wanted> all =
      launches_without_lines(schema::Reader(request.database), run_id, choice);
  if (all.empty() || interrupted()) return;
  const auto begin = Clock::now();
  const profile::PrivateFolder folder;
  inject::Config config;
  config.cupti_directory = cupti::cupti_folder();
  schema::Store store(request.database);
  remark(request, fmt::format("--lines: two processes of their own for each of {}",
                              reports::counted(all.size(), "launch", "launches")));
  for (const Wanted& wanted : all) {
    if (interrupted()) break;
    if (!wanted.variant->library.empty()) {
      remark(request, fmt::format("{} has no lines: its kernels are {}'s", wanted.name(),
                                  wanted.variant->library));
      continue;
    }
    int looks = 0;
    const auto next = [&] {
      profile::Options options = process_of(request, wanted, folder);
      options.socket = folder.path() / fmt::format("lines{}.{}", wanted.launch_id, looks++);
      return options;
    };
    Looks look = look_at(next, config, wanted.variant->entry);
    profile::LaunchLines& found = look.accesses;
    if (found.is_cancelled) break;
    if (!found.reason.empty()) {
      remark(request, fmt::format("{} has no lines: {}", wanted.name(), found.reason));
      continue;
    }
    const kernels::Image& image = *wanted.variant->image;
    Sources sources(model::allowed_sources(std::string(image.source_path), image.folders));
    sources.give(image.source_path, image.source);
    if (!look.without_stalls.empty()) {
      remark(request, fmt::format("what the warps of {} wait for is not known: {}", wanted.name(),
                                  look.without_stalls));
    }
    sources.complete(found.lines);
    sources.complete(look.stalls);
    const schema::Completion completion{wanted.launch_id,       {},
                                        std::nullopt,           std::move(found.lines),
                                        std::move(look.stalls), std::move(found.instructions)};
    store.complete_launches(std::span(&completion, 1));
  }
  if (interrupted()) remark(request, "stopped before the lines of every launch were measured");
  remark(request, fmt::format("--lines took {:.1f} s more", seconds_since(begin)));
}

std::optional<LaunchAlone> launch_alone() {
  const char* text = std::getenv(alone_variable);
  if (text == nullptr) return std::nullopt;
  LaunchAlone alone;
  std::istringstream fields(text);
  std::getline(fields, alone.family);
  std::getline(fields, alone.variant);
  fields >> alone.size;
  unsetenv(alone_variable);
  return alone;
}

ExitCode execute_alone(const LaunchAlone& alone, const run::Choice& choice, run::Backend& backend) {
  for (const run::Selection& selection : choice.selections) {
    const kernels::Family& family = *selection.family;
    const kernels::Variant* variant = family.find(alone.variant);
    if (family.name != alone.family || variant == nullptr) continue;
    const kernels::Problem problem =
        variant->prepare ? variant->prepare(alone.size) : family.prepare(alone.size);
    const run::Execution execution = backend.load(problem)->execute(
        {variant->image, variant->entry, variant->geometry(alone.size)});
    return execution.failure.empty() ? ExitCode::done : ExitCode::kernel;
  }
  return ExitCode::nothing;
}

}  // namespace warpmeter::cli
