// SPDX-License-Identifier: MIT
// `warpmeter profile`: nvprof's job. Mistakes of the request are reported before the program
// starts; the program runs with our library inside; its own output goes where it always goes, the
// tables go to standard error when it has ended, and its exit code becomes ours.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_claims.h"
#include "collector/cli/arguments.h"
#include "collector/cli/codes.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/profile/backend.h"
#include "collector/cli/profile/devices.h"
#include "collector/cli/profile/line_runs.h"
#include "collector/cli/profile/profile.h"
#include "collector/cli/request/run_record.h"
#include "collector/cli/request/shapes.h"
#include "collector/cli/request/sources.h"
#include "collector/cli/tables/measured_findings.h"
#include "collector/cupti/device.h"
#include "collector/cupti/diagnose.h"
#include "collector/cupti/passes.h"
#include "collector/lab/dcgm.h"
#include "collector/model/input/compile_options.h"
#include "collector/profile/injector.h"
#include "collector/profile/program.h"
#include "collector/runtime/image/program_file.h"

namespace warpmeter::cli {
namespace {

constexpr const char* without_clean_time =
    "no launch of the run for clean times (--timing) matches it";

/// The first device, or why there is none.
schema::Device required_device() {
  try {
    return cupti::describe_device(0);
  } catch (const Error& error) {
    const std::string_view words = error.what();
    throw Error(error.code(), fmt::format("{}; -b model executes the program's kernels on the CPU",
                                          words.substr(0, words.find(';'))));
  }
}

/// Before the program runs for nothing. Throws Error{no_hardware}.
void check_permission() {
  if (const std::string refusal = cupti::counters_refusal(); !refusal.empty()) {
    throw Error(ExitCode::no_hardware,
                refusal + "; without --metrics and --lines the summary works");
  }
}

/// Settings that frameworks of Python need on the model, where the person has not set them. CuPy
/// takes its own reductions instead of CUB's, which are machine code alone. PyTorch allocates each
/// tensor by itself, so that --check knows where it ends.
std::map<std::string, std::string> variables_of_frameworks(const ProfileRequest& request) {
  std::map<std::string, std::string> variables = {{"CUPY_ACCELERATORS", ""}};
  if (request.checks) variables["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1";
  std::erase_if(variables,
                [](const auto& one) { return std::getenv(one.first.c_str()) != nullptr; });
  return variables;
}

/// The options that a GPU and the model share: the program with our library in it.
profile::Options options_of(const ProfileRequest& request, const ProfileHooks& hooks,
                            profile::Library library, const profile::PrivateFolder& folder) {
  profile::Options options;
  options.words = request.words;
  std::error_code ignored;
  options.injector = profile::find_library(
      library, std::filesystem::read_symlink("/proc/self/exe", ignored), folder.path());
  options.is_preloaded = library == profile::Library::runtime;
  if (options.is_preloaded) {
    options.stand_ins = profile::write_stand_ins(folder.path());
    options.variables = variables_of_frameworks(request);
  }
  options.socket = folder.path() / "socket";
  options.all_processes = request.processes == "all";
  if (request.timeout > 0) options.timeout = std::chrono::duration<double>(request.timeout);
  options.cancelled = interrupted;
  options.met = hooks.met;
  options.remark = hooks.remark;
  return options;
}

profile::RecorderOptions recording_of(const ProfileRequest& request, const char* backend) {
  profile::RecorderOptions recording;
  recording.database = request.database;
  recording.run = run_record(backend, request.command_line, request.label);
  recording.program = std::filesystem::path(request.words.front()).filename();
  recording.traces = request.trace || request.writes_trace();
  recording.traces_calls = request.trace_calls || request.writes_trace();
  recording.keeps_origins = request.keeps_origins;
  return recording;
}

/// Before it runs and finds no GPU. Throws Error{usage} for what is no program, Error{no_hardware}.
void check_way_in(const std::string& name, std::uint32_t arch) {
  const std::string path = profile::find_program(name).string();
  const runtime::WayIn way = runtime::read_program(path, static_cast<int>(arch)).way;
  const bool may_start_others = way == runtime::WayIn::no_program;  // a script
  if (const std::string why = runtime::no_way_into(way); !why.empty() && !may_start_others) {
    throw Error(ExitCode::no_hardware, fmt::format("{} cannot be answered: {}", name, why));
  }
}

/// Stores the lines' text, and with --lines the compilers' output.
void keep_texts(const ProfileRequest& request, const profile::Recorder& recorder) {
  if (!recorder.run_id()) return;
  if (recorder.has_lines() || request.lines) keep_sources(request.database, *recorder.run_id());
  if (!request.lines) return;
  keep_code_of_program(request.database, *recorder.run_id(),
                       profile::find_program(request.words.front()).string());
}

ExitCode run_on_model(const ProfileRequest& request, const ProfileHooks& hooks,
                      inject::Config config) {
  if (!request.arch.empty()) {
    config.arch = static_cast<std::uint32_t>(model::checked_arch("--arch", request.arch));
  }
  config.devices = static_cast<std::uint32_t>(request.model_devices);
  config.checks = request.checks;
  config.blocks = request.blocks;
  config.shapes = request.shapes;
  check_names(config);
  check_way_in(request.words.front(), config.arch);
  if (!request.quiet && request.backend == "auto") {
    say_line(fmt::format("warpmeter: {}the model executes the kernels, as sm_{}",
                         cupti::has_device() ? "" : "there is no GPU here: ", config.arch));
  }
  const profile::PrivateFolder folder;
  profile::RecorderOptions recording = recording_of(request, "model");
  recording.timing_reason = profile::no_clock;
  profile::Recorder recorder(std::move(recording));
  const profile::Options options = options_of(request, hooks, profile::Library::runtime, folder);
  catch_interrupts();
  const profile::Outcome outcome =
      profile::profile_passes(options, config, {{config.counters}, false}, recorder);
  keep_texts(request, recorder);
  const ExitCode code = hooks.conclude(request, outcome, recorder);
  if (recorder.run_id()) check_shapes(request.shapes, recorder.shaped(), *recorder.run_id());
  return code;
}

ExitCode run_on_gpu(const ProfileRequest& request, const ProfileHooks& hooks,
                    inject::Config config) {
  if (request.counts() || request.lines) check_permission();
  Devices devices([&](const std::string& chip) { tell_passes(request, config, chip); });
  config.cupti_directory = cupti::cupti_folder();
  check_names(config);  // a wrong name is wrong whatever else is missing
  if (!cupti::has_device()) required_device();
  const profile::Passes passes = passes_of(request, config);

  const profile::PrivateFolder folder;
  profile::RecorderOptions recording = recording_of(request, "cupti");
  recording.has_more_passes = passes.size() > 1;
  if (request.times) recording.timing_reason = without_clean_time;
  recording.complete = [&](schema::Device& device) { devices.complete(device); };
  recording.states = [&](const schema::Device& device) { return devices.states(device); };
  profile::Recorder recorder(std::move(recording));
  profile::Options options = options_of(request, hooks, profile::Library::injector, folder);
  options.met = [&](pid_t process) {
    devices.met();
    if (hooks.met) hooks.met(process);
  };
  catch_interrupts();
  const profile::Outcome outcome = profile::profile_passes(options, config, passes, recorder);
  if (recorder.launches() == 0) required_device();  // throws where that is the reason
  if (request.lines && !outcome.cancelled && !outcome.timed_out) {
    add_lines_of_kernels(request, options, config, recorder);
    if (recorder.run_id()) add_measured_findings(request.database, *recorder.run_id());
  }
  keep_texts(request, recorder);
  return hooks.conclude(request, outcome, recorder);
}

}  // namespace

ExitCode profile_program(const ProfileRequest& typed, const ProfileHooks& hooks) {
  ProfileRequest request = typed;
  if (request.csv) request.format = "csv";
  check_format(request.format, request.checks && !request.counts() && !request.traces());
  if (request.list_passes) return list_passes(request);
  if (request.words.empty()) {
    throw Error(ExitCode::usage,
                "profile needs a program: warpmeter profile [OPTIONS] PROGRAM [ARGS...] (see: "
                "warpmeter profile --help)");
  }
  FileClaims files;
  files.read(profile::find_program(request.words.front()), "the program");
  files.store(request.database);
  request.destination = files.write(request.output, "-o");
  require_folder(request.output, "-o");
  request.nvprof_destination = files.write(request.nvprof_file, "--nvprof-out");
  request.trace_destination = files.write(request.trace_file, "--trace-out");
  check_label(request.label);
  inject::Config config = config_of(request);
  const bool is_model = is_for_model(request);
  std::optional<lab::DcgmPause> pause;
  if (request.pause_dcgm) {
    catch_interrupts();  // from here on somebody has to resume it
    pause.emplace(hooks.remark);
  }
  // The model has the lines of what it counts, and explains it, and of what else it executes none.
  if (is_model && (request.lines || !request.shapes.empty()) && !request.counts()) {
    request.metrics = {"@default"};
    config = config_of(request);
  }
  return is_model ? run_on_model(request, hooks, std::move(config))
                  : run_on_gpu(request, hooks, std::move(config));
}

namespace {

/// True if an option of ours takes the word after it.
bool takes_next_word(const CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos) return false;
  const bool is_long = word.starts_with("--");
  if (!is_long && word.size() > 2) return false;  // -s2
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

}  // namespace

std::size_t words_before_program(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.size() > 1 && words[1] == "submit") {
    const auto end = std::find(words.begin(), words.end(), "--");
    return static_cast<std::size_t>(end - words.begin());
  }
  if (words.size() > 1 && words[1] == "nvprof") return 2;  // which reads its own
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
       {"warpmeter profile -m @all --replay application --timing ./app", "and clean times"},
       {"warpmeter profile --trace ./app", "what ran when"},
       {"warpmeter profile --lines ./app", "what each source line costs"},
       {"warpmeter profile -m @default --blocks 5% ./app", "quicker on the model, estimated"},
       {"warpmeter profile --check ./app", "look for mistakes, on the model"},
       {"warpmeter profile -m @all --list-passes", "what that would cost"}});
  auto request = std::make_shared<ProfileRequest>();
  request->command_line = shell_line(words);
  add_arguments(app, "PROGRAM", request->words,
                "The program and its arguments; -- may stand before it");
  add_metrics(app, request->metrics,
              "Metrics, counters, sets (@default) or PerfWorks names (default: times)");
  add_choice(app, "-b,--backend", {"auto", "cupti", "model"}, request->backend,
             "The GPU (cupti), the model on the CPU, or the GPU where there is one (auto, the "
             "default)");
  add_text(app, "--arch", "ARCH", request->arch,
           "The architecture of the model's devices (default: sm_90)");
  add_count(app, "--model-devices", 1, 64, request->model_devices,
            "The number of the model's devices (default: 1)");
  add_flag(app, "--trace", request->trace,
           "Show each kernel, copy and set, in the order of time; on a GPU also managed memory's "
           "traffic");
  add_flag(app, "--trace-api", request->trace_calls, "Show each call of CUDA's API");
  add_choice(app, "--from-start", {"on", "off"}, request->from_start,
             "Measure from the start of the program (on, the default) or from its first call of "
             "cudaProfilerStart (off); cudaProfilerStop ends either");
  add_format_of_findings(app, request->format);
  add_flag(app, "--csv", request->csv, "Short for --format csv");
  add_text(app, "-o,--output", "FILE", request->output,
           "Write the tables to FILE (default: standard error)");
  add_text(app, "--trace-out", "FILE", request->trace_file,
           "Write what ran when to FILE, as a Perfetto trace (ui.perfetto.dev)");
  add_text(app, "--nvprof-out", "FILE", request->nvprof_file,
           "Write what was recorded to FILE, as nvprof -o did");
  add_flag(app, "--check", request->checks,
           "Look for mistakes of kernels and host code, on the model; exit 6 when there are any");
  add_flag(app, "-v,--verbose", request->verbose,
           "With --check: list all that was looked for, and what was not");
  add_text(app, "--blocks", "N|P%", request->blocks,
           "With --metrics: count only N blocks of a launch, or a share of them, and estimate the "
           "rest with a bound on the error (grade sampled); all blocks run. For the model");
  add_list(app, "--shape", "NAME=SHAPE", request->shapes,
           "The shape of an array in the model's shared memory, for `explain`: tile=16x16:f32");
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
  add_repeated(
      app, "--source-root", "DIR", request->source_roots,
      "Show the text of sources below this folder too; the folders of the program, of this "
      "project and of the toolkit need no naming");
  add_flag(app, "--lines", request->lines,
           "Show the cost of each source line, the worst first; on a GPU this takes more runs of "
           "the program for each kernel");
  add_count(
      app, "--lines-kernels", 1, 1'000'000, request->lines_kernels,
      "With --lines on a GPU: look at no more than N kernels, those that took longest or, with "
      "--metrics, were launched first (default: 8)");
  add_choice(app, "--kernel-name-base", {"function", "demangled", "mangled"}, request->name_base,
             "How the tables name kernels");
  add_choice(app, "--target-processes", {"all", "application-only"}, request->processes,
             "Measure the program's children too (all, the default) or not");
  add_choice(app, "--replay", {"kernel", "application"}, request->replay,
             "For counters that do not fit together repeat each launch (kernel, the default) or "
             "run the whole program again (application)");
  add_flag(app, "--timing", request->times,
           "With --metrics: run the program once more without counters, for clean durations");
  add_flag(app, "--list-passes", request->list_passes,
           "Show how many times --metrics repeat each launch or the program, and run nothing");
  add_flag(app, "--pause-dcgm", request->pause_dcgm,
           "Pause DCGM's profiling, which takes the counters; it is resumed at the end, and after "
           "Ctrl-C");
  add_seconds(app, "--timeout", request->timeout,
              "End each run of the program after that long; the exit code is 3 then");
  add_seconds(
      app, "--launch-timeout", request->launch_timeout,
      "With --metrics: before a launch is measured, wait that long for earlier work that may wait "
      "for the program, 12 times as long for other work; then leave the launch out (default: 5)");
  add_text(app, "--label", "TEXT", request->label, "A name for the run, for report --run");
  add_database(app, request->database);
  add_recorded_as(app, request->command_line);
  add_flag(app, "-q,--quiet", request->quiet, "Print no tables");
  return {&app, [request, &program, words = std::move(words)] {
            std::size_t begin = words_before_program(program, words);
            if (begin < words.size() && words[begin] == "--") ++begin;
            request->words.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
            return profile_program(*request, {});
          }};
}

}  // namespace warpmeter::cli
