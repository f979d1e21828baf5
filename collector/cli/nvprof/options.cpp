// SPDX-License-Identifier: MIT
#include "collector/cli/nvprof/options.h"

#include <algorithm>

#include "base/numbers.h"
#include "collector/cli/arguments.h"
#include "collector/cli/nvprof/log.h"

namespace warpmeter::cli::nvprof {
namespace {

using reports::nvprof::TimeUnit;

/// nvprof took empty parts of a list, which scripts have: "a,,b".
void add_names(Request& request, std::string_view list, bool is_event) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (end > 0)
      request.names.push_back({std::string(list.substr(0, end)), is_event, request.scope});
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

void set_devices(Request& request, const std::string& list) {
  request.scope.devices.clear();
  if (list == "all") return;
  for (const std::string& device : split_list("--devices", {&list, 1})) {
    request.scope.devices.push_back(
        static_cast<std::uint32_t>(whole_number("--devices", device, 0, 1023)));
  }
}

void set_unit(Request& request, const std::string& unit) {
  request.style.unit = unit == "s"     ? TimeUnit::s
                       : unit == "ms"  ? TimeUnit::ms
                       : unit == "us"  ? TimeUnit::us
                       : unit == "ns"  ? TimeUnit::ns
                       : unit == "col" ? TimeUnit::column
                                       : TimeUnit::automatic;
}

void set_trace(Request& request, const std::string& list) {
  request.traces_gpu = request.traces_api = false;
  request.asks_for_trace = true;
  const std::vector<std::string> known = {"gpu", "api"};
  for (const std::string& word : split_list("--trace", {&list, 1})) {
    (choose_word("--trace", word, known) == "gpu" ? request.traces_gpu : request.traces_api) = true;
  }
}

/// nvprof's kinds. Those that have no answer here are warned of where others are asked for too, for
/// scripts ask for all of them at once.
void set_source_kinds(Request& request, const std::string& list) {
  const std::vector<std::string> known = {"global_access", "shared_access", "branch",
                                          "instruction_execution", "pc_sampling"};
  for (const std::string& word : split_list("--source-level-analysis", {&list, 1})) {
    request.source_kinds.push_back(choose_word("--source-level-analysis", word, known));
  }
}

constexpr std::string_view cpu_sampling = "perf record or py-spy: warpmeter looks at GPUs alone";
constexpr std::string_view nsight_systems = "Nsight Systems (nsys profile)";

constexpr Option all_options[] = {
    {"aggregate-mode", 0, "on|off", "values of the whole device", nullptr, "off",
     "PerfWorks names with .min, .max or .avg over the units: profile -m NAME.max"},
    {"analysis-metrics", 0, "", "all metrics but those of NVLink and PCIe (@analysis)",
     [](Request& r, const std::string&) {
       r.names.push_back({"@analysis", false, r.scope});
     }},
    {"annotate-mpi", 0, "off|openmpi|mpich", "no ranges of MPI calls", nullptr, "openmpi|mpich",
     "Nsight Systems (nsys profile --trace=mpi)"},
    {"concurrent-kernels", 0, "on|off",
     "kernels run side by side in a trace, one by one where counters are read"},
    {"continuous-sampling-interval", 0, "<milliseconds>", "no effect: nothing is sampled"},
    {"dependency-analysis", 0, "", "", nullptr, "*", nsight_systems},
    {"device-buffer-size", 0, "<megabytes>", "no effect: buffers grow by themselves"},
    {"device-cdp-buffer-size", 0, "<megabytes>", "no effect"},
    {"devices", 0, "<numbers>|all", "the devices of the events and metrics that follow",
     set_devices},
    {"event-collection-mode", 0, "kernel|continuous", "values of each launch", nullptr,
     "continuous", "Nsight Systems (nsys profile --gpu-metrics-devices=all)"},
    {"events", 'e', "<names>|all", "events to count for each launch",
     [](Request& r, const std::string& list) { add_names(r, list, true); }},
    {"kernel-latency-timestamps", 0, "on|off", "no queueing times", nullptr, "on", nsight_systems},
    {"kernels", 0, "<kernel>|<context>:<stream>:<kernel>:<invocation>",
     "the launches of the events and metrics that follow",
     [](Request& r, const std::string& path) { r.scope.kernels = path; }},
    {"metrics", 'm', "<names>|all", "metrics to measure for each launch",
     [](Request& r, const std::string& list) { add_names(r, list, false); }},
    {"pc-sampling-period", 0, "<period>", "no effect: profile --lines samples"},
    {"profile-all-processes", 0, "", "", nullptr, "*",
     "--profile-child-processes around the program that starts the others"},
    {"profile-api-trace", 0, "none|runtime|driver|all", "the API whose calls are shown",
     [](Request& r, const std::string& apis) {
       r.apis = apis;
       r.traces_api = apis != "none";
     }},
    {"profile-child-processes", 0, "", "the processes that the program starts, too",
     [](Request& r, const std::string&) { r.follows_children = true; }},
    {"profile-from-start", 0, "on|off",
     "off: nothing before the program's first call of cudaProfilerStart",
     [](Request& r, const std::string& word) { r.from_start = word == "on"; }},
    {"profiling-semaphore-pool-size", 0, "<count>", "no effect"},
    {"query-events", 0, "", "list the events",
     [](Request& r, const std::string&) { r.queries_events = true; }},
    {"query-metrics", 0, "", "list the metrics",
     [](Request& r, const std::string&) { r.queries_metrics = true; }},
    {"replay-mode", 0, "disabled|kernel|application",
     "kernel: repeat a launch whose counters do not fit together; application: run the program "
     "again",
     [](Request& r, const std::string& mode) { r.replay = mode; }, "disabled",
     "fewer names at a time: one pass needs no replay"},
    {"skip-kernel-replay-save-restore", 0, "on|off", "memory is restored between passes", nullptr,
     "on", "--replay-mode application"},
    {"source-level-analysis", 'a', "<kinds>",
     "accesses of each source line: global_access and shared_access in the file of -o, else as a "
     "table (nvprof printed none); on a GPU instruction_execution in that file; the others are "
     "warned of",
     set_source_kinds},
    {"system-profiling", 0, "on|off", "no power, clocks and temperatures", nullptr, "on",
     "the view device_states (warpmeter query device_states) or nvidia-smi dmon"},
    {"timeout", 't', "<seconds>", "end the program after that long",
     [](Request& r, const std::string& text) { r.timeout = positive_seconds("--timeout", text); }},
    {"trace", 0, "gpu|api|gpu,api", "the activities that are recorded", set_trace},
    {"track-memory-allocations", 0, "on|off", "allocations in the file of -o; no table has them",
     [](Request& r, const std::string& word) { r.tracks_allocations = word == "on"; }},
    {"unified-memory-profiling", 0, "per-process-device|off",
     "page faults and migrations of managed memory",
     [](Request& r, const std::string& word) { r.managed_memory = word != "off"; }},
    {"cpu-profiling", 0, "on|off", "no samples of the CPU", nullptr, "on", cpu_sampling},
    {"cpu-profiling-explain-ccff", 0, "<file>", "", nullptr, "*", cpu_sampling},
    {"cpu-profiling-frequency", 0, "<hertz>", "no effect"},
    {"cpu-profiling-max-depth", 0, "<levels>", "no effect"},
    {"cpu-profiling-mode", 0, "flat|top-down|bottom-up", "no effect"},
    {"cpu-profiling-percentage-threshold", 0, "<percent>", "no effect"},
    {"cpu-profiling-scope", 0, "function|instruction", "no effect"},
    {"cpu-profiling-show-ccff", 0, "on|off", "no effect"},
    {"cpu-profiling-show-library", 0, "on|off", "no effect"},
    {"cpu-profiling-thread-mode", 0, "separated|aggregated", "no effect"},
    {"cpu-profiling-unwind-stack", 0, "on|off", "no effect"},
    {"cpu-thread-tracing", 0, "on|off", "no calls of Pthreads", nullptr, "on",
     "Nsight Systems (nsys profile --trace=osrt)"},
    {"openacc-profiling", 0, "on|off", "no OpenACC constructs; their kernels are shown"},
    {"openmp-profiling", 0, "on|off", "no OpenMP constructs; their kernels are shown"},
    {"context-name", 0, "<name>",
     "contexts by this name, with %i the context and what --log-file has",
     [](Request& r, const std::string& name) {
       file_name("--context-name", name, 0, 0);
       r.context_name = name;
     }},
    {"csv", 0, "", "tables as comma-separated values",
     [](Request& r, const std::string&) { r.style.csv = true; }},
    {"demangling", 0, "on|off", "off: kernels under the names of the machine code",
     [](Request& r, const std::string& word) { r.demangles = word == "on"; }},
    {"normalized-time-unit", 'u', "s|ms|us|ns|col|auto", "the unit of all times", set_unit},
    {"openacc-summary-mode", 0, "exclusive|inclusive", "no effect"},
    {"print-api-summary", 0, "", "where the time of the calls goes",
     [](Request& r, const std::string&) { r.prints_api_summary = true; }},
    {"print-api-trace", 0, "", "each call",
     [](Request& r, const std::string&) { r.prints_api_trace = true; }},
    {"print-dependency-analysis-trace", 0, "", "", nullptr, "*", nsight_systems},
    {"print-gpu-summary", 0, "", "where the time of the GPU goes",
     [](Request& r, const std::string&) { r.prints_gpu_summary = true; }},
    {"print-gpu-trace", 0, "",
     "each kernel, copy and set; with metrics, their values for each launch",
     [](Request& r, const std::string&) { r.prints_gpu_trace = true; }},
    {"print-nvlink-topology", 0, "", "the links between the devices of this machine",
     [](Request& r, const std::string&) { r.prints_nvlink_topology = true; }},
    {"print-openacc-constructs", 0, "", "", nullptr, "*", nsight_systems},
    {"print-openacc-summary", 0, "", "no effect: there is nothing of OpenACC"},
    {"print-openacc-trace", 0, "", "no effect"},
    {"print-openmp-summary", 0, "", "no effect"},
    {"print-pci-topology", 0, "", "", nullptr, "*", "nvidia-smi topo -m"},
    {"print-summary", 's', "", "both summaries",
     [](Request& r, const std::string&) { r.prints_summary = true; }},
    {"print-summary-per-gpu", 0, "", "a summary for each GPU",
     [](Request& r, const std::string&) { r.prints_summary_per_gpu = true; }},
    {"process-name", 0, "<name>",
     "the process by this name in files of -o, with what --log-file has",
     [](Request& r, const std::string& name) {
       file_name("--process-name", name, 0);
       r.process_name = name;
     }},
    {"quiet", 'q', "", "print nothing", [](Request& r, const std::string&) { r.is_quiet = true; }},
    {"export-profile", 'o', "<file>", "write an SQLite file as nvprof did; no summary then",
     [](Request& r, const std::string& file) { r.export_file = file; }},
    {"force-overwrite", 'f', "", "write over the file of --export-profile",
     [](Request& r, const std::string&) { r.overwrites = true; }},
    {"import-profile", 'i', "<file>", "print what such a file holds",
     [](Request& r, const std::string& file) { r.import_file = file; }},
    {"log-file", 0, "<file>",
     "print to that file: %p the process, %h the host, %q{NAME} a variable, %% a per cent sign",
     [](Request& r, const std::string& file) { r.log_file = file; }},
    {"backend", 0, "auto|cupti|model",
     "where: the GPU (cupti), the model on the CPU, or the GPU where there is one (auto, the "
     "default); nvprof had no such option",
     [](Request& r, const std::string& word) { r.backend = word; }},
    {"db", 0, "<file>", "keep the figures in this database (nvprof had none)",
     [](Request& r, const std::string& file) { r.database = file; }},
    {"help", 'h', "", "this text", [](Request& r, const std::string&) { r.helps = true; }},
    {"version", 'V', "", "the version",
     [](Request& r, const std::string&) { r.tells_version = true; }},
};

}  // namespace

std::span<const Option> options() { return all_options; }

std::string Request::name_of_context(std::int64_t process, std::int64_t context) const {
  if (context_name.empty()) return "";
  return file_name("--context-name", context_name, static_cast<pid_t>(process), context);
}

}  // namespace warpmeter::cli::nvprof
