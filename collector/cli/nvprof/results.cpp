// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/kernel_name.h"
#include "base/utf8.h"
#include "base/with_noun.h"
#include "collector/cli/nvprof/kernel_path.h"
#include "collector/cli/nvprof/topology.h"
#include "collector/cli/tables/lines_tables.h"
#include "reports/nvprof/kernel_name.h"
#include "reports/nvprof/memory.h"
#include "reports/nvprof/summary_rows.h"
#include "reports/nvprof/trace.h"
#include "reports/table/number.h"

namespace warpmeter::cli::nvprof {
namespace {

using inject::ActivityKind;
using reports::nvprof::SummaryPart;
using reports::nvprof::SummaryRow;

/// A kernel as the tables show it.
std::string shown_kernel(const std::string& kernel, bool demangles) {
  return demangles ? reports::nvprof::kernel_name(demangled(kernel)) : kernel;
}

SummaryRow row_of(const profile::Activity& activity, bool demangles) {
  SummaryRow row;
  row.name = activity.kind == ActivityKind::kernel ? shown_kernel(activity.name, demangles)
                                                   : activity.name;
  row.calls = activity.calls;
  const std::vector<float>& times = activity.durations_ns;
  if (times.empty()) return row;
  const auto [least, greatest] = std::minmax_element(times.begin(), times.end());
  row.total_ns = activity.total_ns;
  row.least_ns = *least;
  row.greatest_ns = *greatest;
  return row;
}

/// The tables of one process.
class Tables {
 public:
  Tables(const Measured& measured, pid_t process, Log& log)
      : measured_(measured), request_(measured.request), process_(process), log_(log) {}

  void print() {
    // A file instead of tables, unless some were asked for.
    if (!request_.export_file.empty() && !request_.prints_trace() && !asks_for_summary()) {
      return write(warnings());
    }
    if (request_.counts() || has_imported_values()) {
      if (tells_processes_apart() || is_first()) print_counted();
      return;
    }
    write(fmt::format("{}{}Profiling result:\n", warnings(), mark()));
    if (request_.prints_trace()) print_trace();
    if (prints_summary()) write(summary());
    if (measured_.run_id && request_.managed_memory && !request_.prints_trace()) print_managed();
  }

 private:
  void write(const std::string& text) { log_.write(process_, text); }
  std::string mark() const {
    return measured_.recorder == nullptr ? "======== " : prefix(process_);
  }
  std::string warning(const std::string& text) const {
    return fmt::format("{}Warning: {}\n", mark(), text);
  }
  schema::Reader reader() const { return schema::Reader(measured_.database); }
  reports::nvprof::SummaryRequest summary_request() const {
    return {measured_.run_id.value_or(0), process_, request_.apis, request_.demangles};
  }

  /// An imported file does not say which process its counters are of.
  bool tells_processes_apart() const { return measured_.recorder != nullptr; }
  /// Warnings do not tell processes apart: the first prints them.
  bool is_first() const {
    return measured_.processes.empty() || process_ == measured_.processes.begin()->first;
  }

  bool has_imported_values() const {
    return measured_.recorder == nullptr && !measured_.names.names.empty();
  }

  bool asks_for_summary() const {
    return request_.prints_summary || request_.prints_summary_per_gpu ||
           request_.prints_gpu_summary || request_.prints_api_summary;
  }
  bool prints_summary() const { return asks_for_summary() || !request_.prints_trace(); }
  bool prints_gpu_summary() const {
    const bool is_of_calls_alone = request_.prints_api_summary && !request_.prints_summary &&
                                   !request_.prints_gpu_summary && !request_.prints_summary_per_gpu;
    return request_.traces_gpu && prints_summary() && !is_of_calls_alone;
  }

  void print_trace() {
    if (!measured_.run_id) {
      if (request_.prints_gpu_trace) write(fmt::format("{}\n", reports::nvprof::no_kernels));
      if (request_.prints_api_trace) write(fmt::format("{}\n", reports::nvprof::no_calls));
      return;
    }
    reports::nvprof::TraceRequest wanted;
    wanted.run_id = *measured_.run_id;
    wanted.process_id = process_;
    wanted.gpu = request_.prints_gpu_trace;
    wanted.api = request_.prints_api_trace;
    wanted.apis = request_.apis;
    wanted.demangles = request_.demangles;
    wanted.style = request_.style;
    wanted.resource_names = measured_.resource_names;
    reports::nvprof::print_trace(reader(), wanted,
                                 [&](std::string_view lines) { log_.write(process_, lines); });
  }

  void print_managed() {
    const std::string table = reports::nvprof::managed_text(reader(), *measured_.run_id, process_);
    if (table.empty()) return;
    write(fmt::format("\n{}Unified Memory profiling result:\n{}", mark(), table));
  }

  /// The activities of GPUs and the calls: by the recorder, which has the times of the model's
  /// calls too, or, where processes and devices are to be told apart, by the trace.
  std::pair<SummaryPart, SummaryPart> rows() const {
    SummaryPart gpu{reports::nvprof::gpu_part, reports::nvprof::no_kernels, {}};
    SummaryPart calls{reports::nvprof::call_part, reports::nvprof::no_calls, {}};
    const bool is_one = measured_.recorder != nullptr && measured_.processes.size() == 1;
    if (!is_one && measured_.run_id) {
      return {gpu_rows(reader(), summary_request()), call_rows(reader(), summary_request())};
    }
    if (!is_one) return {gpu, calls};
    for (const profile::Activity& activity : measured_.recorder->activities()) {
      const bool is_of_gpu = activity.kind == ActivityKind::kernel ||
                             activity.kind == ActivityKind::copy ||
                             activity.kind == ActivityKind::set;
      if (is_of_gpu) {
        gpu.rows.push_back(row_of(activity, request_.demangles));
      } else if (activity.kind == ActivityKind::call &&
                 reports::nvprof::is_of_api(activity.name, request_.apis)) {
        calls.rows.push_back(row_of(activity, request_.demangles));
      }
    }
    return {gpu, calls};
  }

  std::string summary() const {
    auto [gpu, calls] = rows();
    const bool is_default = !request_.prints_gpu_summary && !request_.prints_api_summary;
    const bool wants_all = is_default || request_.prints_summary;
    std::vector<SummaryPart> parts;
    std::string text;
    if (request_.prints_summary_per_gpu && measured_.run_id) {
      for (const std::string& device : devices_of(reader(), summary_request())) {
        text += fmt::format("Device \"{}\"\n", device);
        text += summary_text({gpu_rows(reader(), summary_request(), device)}, request_.style);
      }
    } else if (request_.traces_gpu && (wants_all || request_.prints_gpu_summary)) {
      parts.push_back(std::move(gpu));
    }
    if (request_.traces_api && (wants_all || request_.prints_api_summary)) {
      parts.push_back(std::move(calls));
    }
    return text + summary_text(std::move(parts), request_.style);
  }

  /// The tables of events and metrics; the warnings are the reasons of what is not there.
  void print_counted() {
    reports::nvprof::CountedText told;
    if (measured_.run_id) told = counted_text(reader(), counted_request(), request_.style);
    std::string before = warnings(), tables;
    const auto warn = [&](const char* words, const auto& reasons) {
      for (const auto& [reason, names] : reasons) {
        before += warning(fmt::format(fmt::runtime(words), reason, fmt::join(names, ", ")));
      }
    };
    warn("no value of {1}: {0}", told.missing);
    warn("0 stands for no value of {1}: {0}", told.undefined);
    warn("not exact: {1}: {0}", told.doubtful);
    if (request_.prints_api_trace || asks_for_summary() || request_.asks_for_trace) {
      before += warning(
          "reading counters disturbs times: run without events and metrics for the "
          "trace and the summary");
    }
    if (!told.events.empty()) {
      tables += fmt::format("{}Event result:\n{}", mark(), told.events);
    }
    if (!told.metrics.empty()) {
      tables +=
          fmt::format("{}{}Metric result:\n{}", tables.empty() ? "" : "\n", mark(), told.metrics);
    }
    tables += told.launches;
    if (request_.looks_at_lines()) tables += (tables.empty() ? "" : "\n") + lines();
    if (tables.empty()) tables = "No events/metrics were profiled.\n";
    write(fmt::format("{}{}Profiling result:\n{}", before, mark(), tables));
  }

  /// nvprof printed nothing of source lines: its file had them. This is the table of profile
  /// --lines.
  std::string lines() const {
    const std::string table = measured_.run_id ? lines_text(reader(), *measured_.run_id,
                                                            ShownLaunches::worst_of_kernel, 0)
                                               : "";
    return fmt::format("{}Source-level result:\n{}", mark(),
                       table.empty() ? "No source lines were profiled.\n" : table);
  }

  /// The kinds of --source-level-analysis that have no answer.
  std::string unanswered_kinds() const {
    std::vector<std::string> kinds;
    for (const std::string& kind : request_.source_kinds) {
      if (kind == "branch" || kind == "pc_sampling") kinds.push_back(kind);
      if (kind == "instruction_execution" && measured_.is_of_model) {
        kinds.push_back(kind + " (which needs a GPU)");
      }
    }
    if (kinds.empty()) return "";
    return warning(
        fmt::format("--source-level-analysis has no {} here: explain finds divergent "
                    "lines, profile --lines what warps wait for",
                    fmt::join(kinds, ", ")));
  }

  reports::nvprof::CountedRequest counted_request() const {
    reports::nvprof::CountedRequest wanted;
    wanted.run_id = *measured_.run_id;
    std::vector<KernelPath> paths;
    for (const ScopedName& name : measured_.names.names) {
      wanted.names.push_back(name.counted);
      paths.emplace_back(name.scope.kernels, measured_.resource_names);
    }
    wanted.shows = [this, paths = std::move(paths)](const reports::nvprof::CountedLaunch& launch,
                                                    std::size_t name) {
      const std::vector<std::uint32_t>& devices = measured_.names.names[name].scope.devices;
      const bool is_there = devices.empty() || std::find(devices.begin(), devices.end(),
                                                         launch.device) != devices.end();
      const bool is_own = !tells_processes_apart() || launch.origin.process == process_;
      return is_own && is_there && paths[name].matches(launch);
    };
    wanted.each_launch = request_.prints_gpu_trace;
    wanted.resource_names = measured_.resource_names;
    if (tells_processes_apart()) {
      wanted.origin = [this](std::int64_t launch_id) { return origin_of(launch_id); };
    }
    wanted.kernel_text = [this](const std::string& kernel) {
      return shown_kernel(kernel, request_.demangles);
    };
    return wanted;
  }

  /// A launch that only a later run of the program had is one of the first process.
  reports::nvprof::Origin origin_of(std::int64_t launch_id) const {
    const profile::LaunchOrigins& origins = measured_.recorder->origins();
    const auto found = origins.find(launch_id);
    const bool is_known = found != origins.end() && found->second.process != 0;
    if (!is_known) return {measured_.processes.begin()->first};
    const profile::LaunchOrigin& origin = found->second;
    return {origin.process, origin.context, origin.stream, origin.correlation};
  }

  /// The sentences beside the tables.
  std::string warnings() const {
    if (measured_.recorder == nullptr || !is_first()) return "";
    const profile::Recorder& recorder = *measured_.recorder;
    std::string text = unanswered_kinds();
    for (const auto* sentences : {&recorder.problems(), &recorder.remarks()}) {
      for (const std::string& sentence : *sentences) text += warning(sentence);
    }
    for (const auto& [reason, refusal] : recorder.refusals()) {
      text += warning(fmt::format("{} not measured: {}",
                                  reports::counted(refusal.launches, "launch was", "launches were"),
                                  reason));
    }
    for (const auto& [reason, launches] : recorder.refused()) {
      text += warning(fmt::format(
          "{} refused: {}", reports::counted(launches, "launch was", "launches were"), reason));
    }
    for (const auto& [reason, failure] : recorder.failures()) {
      text += warning(fmt::format(
          "{} failed: {}", reports::counted(failure.launches, "launch", "launches"), reason));
    }
    if (recorder.never_started() > 0) {
      text += warning(
          "the program never called cudaProfilerStart, and --profile-from-start off waits for it");
    }
    if (recorder.lost_records() > 0) {
      text += warning(fmt::format("CUPTI lost {}", with_noun(recorder.lost_records(), "record")));
    }
    const std::vector<profile::Activity> activities = recorder.activities();
    const auto lacks_times = [](const profile::Activity& activity) {
      return activity.durations_ns.empty() && activity.kind != inject::ActivityKind::allocation;
    };
    const bool shows_gpu = request_.prints_gpu_trace || prints_gpu_summary();
    if (!request_.counts() && shows_gpu &&
        std::any_of(activities.begin(), activities.end(), lacks_times)) {
      text += warning(
          "the model executes the kernels on the CPU and has no clock: - stands for a "
          "time");
    }
    return text;
  }

  const Measured& measured_;
  const Request& request_;
  pid_t process_;
  Log& log_;
};

}  // namespace

namespace {

/// The names of --context-name instead of others.
reports::nvprof::ResourceNames with_given(reports::nvprof::ResourceNames names,
                                          const Request& request) {
  if (request.context_name.empty()) return names;
  names.context = [&request](std::int64_t process, std::int64_t context) {
    return request.name_of_context(process, context);
  };
  return names;
}

template <class Names, class Key>
std::string name_in(const Names& names, const Key& key) {
  const auto found = names.find(key);
  return found == names.end() ? "" : found->second;
}

}  // namespace

reports::nvprof::ResourceNames resource_names(const Request& request,
                                              const profile::Recorder& recorder) {
  const profile::ResourceNames& given = recorder.resource_names();
  reports::nvprof::ResourceNames names;
  names.context = [&given](std::int64_t process, std::int64_t context) {
    return given.of_context(process, context);
  };
  names.stream = [&given](std::int64_t process, std::int64_t context, std::int64_t stream) {
    return given.of_stream(process, context, stream);
  };
  return with_given(std::move(names), request);
}

reports::nvprof::ResourceNames resource_names(const Request& request,
                                              const schema::NvprofNames& imported) {
  reports::nvprof::ResourceNames names;
  names.context = [&imported](std::int64_t, std::int64_t context) {
    return name_in(imported.contexts, context);
  };
  names.stream = [&imported](std::int64_t, std::int64_t context, std::int64_t stream) {
    return name_in(imported.streams, std::pair(context, stream));
  };
  return with_given(std::move(names), request);
}

std::string prefix(pid_t process) { return fmt::format("=={}== ", process); }

bool needs_trace(const Request& request) {
  return !request.counts() &&
         (request.prints_trace() || request.prints_summary_per_gpu || request.follows_children ||
          !request.export_file.empty() || request.managed_memory || request.tracks_allocations);
}

void print_results(const Measured& measured, Log& log) {
  const bool shows_links = measured.request.prints_nvlink_topology && measured.recorder != nullptr;
  for (const auto& [process, command] : measured.processes) {
    if (measured.recorder != nullptr) {
      log.write(process,
                fmt::format("{}Profiling application: {}\n", prefix(process), printable(command)));
    }
    if (shows_links && process == measured.processes.begin()->first) {
      const cupti::NvLinkTopology links =
          measured.is_of_model ? cupti::NvLinkTopology() : cupti::nvlink_topology();
      log.write(process, fmt::format("{}NVLink topology:\n{}", prefix(process),
                                     topology_text(links, measured.request.style.csv)));
    }
    Tables(measured, process, log).print();
  }
}

}  // namespace warpmeter::cli::nvprof
