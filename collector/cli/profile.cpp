// `warpmeter profile`: nvprof's job. What can be wrong with the request is said before the program
// starts; the program runs with our library inside; its own output goes where it always goes, the
// tables go to standard error when it has ended, and its exit code becomes ours.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_claims.h"
#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/profile_remarks.h"
#include "collector/cli/profile_request.h"
#include "collector/cli/run_record.h"
#include "collector/cupti/device.h"
#include "collector/cupti/diagnose.h"
#include "collector/cupti/passes.h"
#include "collector/profile/injector.h"

namespace warpmeter::cli {
namespace {

using namespace std::chrono_literals;

constexpr const char* without_clean_time =
    "no launch of the run for clean times (--timing) matches it";

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

/// Before the program runs for nothing. Throws Error{no_hardware}.
void check_permission() {
  std::ifstream params("/proc/driver/nvidia/params"), status("/proc/self/status");
  if (const std::string refusal = cupti::counters_refusal(params, status); !refusal.empty()) {
    throw Error(ExitCode::no_hardware, refusal + "; without --metrics the summary works");
  }
}

ExitCode run_command(const ProfileRequest& request) {
  if (request.list_passes) return list_passes(request);
  if (request.words.empty()) {
    throw Error(ExitCode::usage,
                "profile needs a program: warpmeter profile [OPTIONS] PROGRAM [ARGS...] (see: "
                "warpmeter profile --help)");
  }
  FileClaims files;
  files.read(profile::find_program(request.words.front()), "the program");
  files.store(request.database);
  check_label(request.label);
  inject::Config config = config_of(request);
  if (request.counts()) check_permission();
  config.cupti_directory = cupti::cupti_folder();
  const Devices devices = find_devices();
  // The summary does not keep the program waiting for what only the database wants to know.
  if (request.counts() || devices.wait_for(20ms) == std::future_status::ready) {
    try {
      devices.get();
    } catch (const Error&) {
      check_names(config);  // a wrong name is wrong whatever else is missing
      throw;
    }
  }
  const profile::Passes passes = passes_of(request, config);

  const profile::PrivateFolder folder;
  profile::RecorderOptions recording;
  recording.database = request.database;
  recording.run = run_record("cupti", request.command_line, request.label);
  recording.program = std::filesystem::path(request.words.front()).filename();
  recording.has_more_passes = passes.size() > 1;
  if (request.times) recording.timing_reason = without_clean_time;
  recording.complete = completing(devices);
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
  options.remark = [](const std::string& text) { say_line("warpmeter: " + text); };
  catch_interrupts();
  const profile::Outcome outcome = profile::profile_passes(options, config, passes, recorder);
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
       {"warpmeter profile -m @all --replay application --timing ./app", "and clean times"},
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
  add_choice(app, "--replay", {"kernel", "application"}, request->replay,
             "For counters that do not fit together repeat each launch (kernel, the default) or "
             "run the whole program again (application)");
  add_flag(app, "--timing", request->times,
           "With --metrics: run the program once more without counters, for clean durations");
  add_flag(app, "--list-passes", request->list_passes,
           "Show how often --metrics repeat a launch or the program, and run nothing");
  add_seconds(app, "--timeout", request->timeout, "End each run of the program after that long");
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
