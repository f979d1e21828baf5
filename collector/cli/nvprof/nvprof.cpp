// SPDX-License-Identifier: MIT
// `warpmeter nvprof`, and the program called nvprof: nvprof's command line and its output, measured
// by what `profile` measures with. The figures go to a temporary database unless --db or
// $WARPMETER_DB names one.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/file_claims.h"
#include "base/output.h"
#include "base/temporary.h"
#include "base/utf8.h"
#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/nvprof/kernel_path.h"
#include "collector/cli/nvprof/options.h"
#include "collector/cli/nvprof/results.h"
#include "collector/cli/options.h"
#include "collector/cli/profile/profile.h"
#include "collector/cli/usage.h"
#include "collector/cli/version.h"
#include "collector/cupti/device.h"
#include "collector/profile/program.h"
#include "schema/nvprof_file/export.h"
#include "schema/nvprof_file/import.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace nvprof {
namespace {

/// The words of a process as one line; those of the request where they cannot be read.
std::string command_of(pid_t process, const std::vector<std::string>& words) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", process), std::ios::binary);
  std::string line{std::istreambuf_iterator<char>(file), {}};
  while (line.ends_with('\0')) line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line.empty() ? fmt::format("{}", fmt::join(words, " ")) : line;
}

/// The kernels of all scopes, as `profile -k` takes them; empty: one of them takes any.
std::string kernels_of(const Names& names) {
  std::set<std::string> patterns;
  for (const ScopedName& name : names.names) {
    const KernelPath path(name.scope.kernels);
    if (path.kernel().empty()) return "";
    patterns.insert("(" + path.kernel() + ")");
  }
  return patterns.empty() ? "" : fmt::format("regex:{}", fmt::join(patterns, "|"));
}

/// The devices of all scopes; empty: all.
std::vector<std::string> devices_of(const Names& names) {
  std::set<std::string> devices;
  for (const ScopedName& name : names.names) {
    if (name.scope.devices.empty()) return {};
    for (const std::uint32_t device : name.scope.devices) devices.insert(std::to_string(device));
  }
  return {devices.begin(), devices.end()};
}

ProfileRequest profile_request(const Request& request, const Names& names,
                               const std::string& command_line) {
  ProfileRequest wanted;
  wanted.words = request.words;
  for (const ScopedName& name : names.names) wanted.metrics.push_back(name.counted.answer);
  const bool traces = needs_trace(request);
  wanted.trace = traces && request.traces_gpu;
  wanted.sums_calls = request.traces_api;
  wanted.trace_calls =
      traces && request.traces_api &&
      (request.prints_api_trace || request.follows_children || !request.export_file.empty());
  wanted.kernel = kernels_of(names);
  wanted.devices = devices_of(names);
  wanted.managed_memory = request.managed_memory;
  wanted.allocations = request.tracks_allocations;
  if (request.looks_at_lines()) {
    wanted.lines = true;
    if (wanted.metrics.empty()) wanted.metrics = {"@default"};
  }
  wanted.from_start = request.from_start ? "on" : "off";
  wanted.processes = request.follows_children ? "all" : "application-only";
  wanted.backend = request.backend;
  wanted.replay = request.replay == "application" && request.counts() ? "application" : "kernel";
  wanted.timeout = request.timeout;
  wanted.keeps_origins = request.counts();
  wanted.command_line = command_line;
  wanted.quiet = true;
  return wanted;
}

/// The program's own ending, as nvprof tells of it.
std::string ending_of(const profile::Outcome& outcome, const Request& request) {
  if (outcome.timed_out) {
    return fmt::format("======== Warning: the application ran longer than {} s and was ended\n",
                       request.timeout);
  }
  if (outcome.ending.signal != 0) {
    return fmt::format("======== Error: Application received signal {}\n", outcome.ending.status());
  }
  if (outcome.ending.exit_code == 0) return "";
  return fmt::format("======== Error: Application returned non-zero code {}\n",
                     outcome.ending.exit_code);
}

/// Where the figures go.
class Database {
 public:
  explicit Database(std::string named) : path_(std::move(named)) {
    const char* variable = std::getenv("WARPMETER_DB");
    if (path_.empty() && variable != nullptr) path_ = variable;
    if (!path_.empty()) return;
    folder_.emplace();
    path_ = folder_->path() / "nvprof.db";
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<TemporaryFolder> folder_;
};

/// The file of --export-profile for a process. Throws Error{usage} where it may not be written.
Destination export_destination(const Request& request, const std::string& database, pid_t process) {
  const std::string name = file_name("--export-profile", request.export_file, process);
  if (!request.overwrites && std::filesystem::exists(name)) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} is already there: -f writes over it, %p in its name is the process", name));
  }
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw Error(ExitCode::file, fmt::format("there is no folder {} for {}", folder.string(), name));
  }
  FileClaims files;
  if (!request.words.empty()) {
    files.read(profile::find_program(request.words.front()), "the program");
  }
  files.store(database);
  return files.write(name, "--export-profile");
}

schema::NvprofSourceLevel source_level(const Request& request) {
  const auto has = [&](std::string_view kind) {
    return std::find(request.source_kinds.begin(), request.source_kinds.end(), kind) !=
           request.source_kinds.end();
  };
  return {has("global_access"), has("shared_access"), has("instruction_execution")};
}

/// The names of contexts, streams, threads and devices in the file of --export-profile.
schema::NvprofNaming naming_by_program(const Request& request, const profile::Recorder& recorder) {
  schema::NvprofNaming naming;
  const reports::nvprof::ResourceNames names = resource_names(request, recorder);
  naming.context = names.context;
  naming.stream = names.stream;
  recorder.resource_names().each([&](pid_t process, const inject::ResourceName& name) {
    if (name.resource == inject::Resource::thread) {
      naming.threads.push_back({process, name.number, name.name});
    } else if (name.resource == inject::Resource::device) {
      naming.devices[static_cast<std::int64_t>(name.number)] = name.name;
    }
  });
  return naming;
}

/// --export-profile: one file for the run, with all of its processes.
void export_run(const Request& request, const Names& names, const std::string& database,
                const profile::Recorder& recorder, pid_t process, Log& log) {
  std::vector<std::string> wanted;
  for (const ScopedName& name : names.names) wanted.push_back(name.counted.answer);
  const Destination destination = export_destination(request, database, process);
  schema::NvprofNaming naming = naming_by_program(request, recorder);
  if (!request.process_name.empty()) {
    naming.process = [&](std::int64_t of) {
      return file_name("--process-name", request.process_name, static_cast<pid_t>(of));
    };
  }
  schema::export_nvprof_file(schema::Reader(database), *recorder.run_id(), destination, wanted,
                             naming, source_level(request));
  log.write(process, fmt::format("{}Generated result file: {}\n", prefix(process),
                                 std::filesystem::absolute(destination.path()).string()));
}

ExitCode profile(const Request& request, const std::string& command_line) {
  const Names names = names_of(request.names);
  const Database database(request.database);
  Log log(request.log_file, request.is_quiet);
  if (!request.export_file.empty()) export_destination(request, database.path(), getpid());
  for (const std::string& sentence : names.warnings) {
    log.write(getpid(), fmt::format("======== Warning: {}\n", sentence));
  }
  ProfileRequest wanted = profile_request(request, names, command_line);
  wanted.database = database.path();
  Processes processes;
  ProfileHooks hooks;
  hooks.met = [&](pid_t process) {
    if (processes.count(process) != 0) return;
    const std::string command = command_of(process, request.words);
    processes[process] = command;
    log.write(process, fmt::format("{}NVPROF is profiling process {}, command: {}\n",
                                   prefix(process), process, printable(command)));
  };
  hooks.remark = [&](const std::string& text) {
    log.write(getpid(), fmt::format("======== Warning: {}\n", text));
  };
  hooks.conclude = [&](const ProfileRequest& asked, const profile::Outcome& outcome,
                       profile::Recorder& recorder) {
    end_run(asked, outcome, recorder);
    if (processes.empty()) {
      log.write(getpid(), "======== Warning: No CUDA application was profiled, exiting\n");
    }
    const bool is_of_model = asked.backend == "model" || cupti::devices().empty();
    print_results({request, names, processes, database.path(), recorder.run_id(), &recorder,
                   is_of_model, resource_names(request, recorder)},
                  log);
    const pid_t first = processes.empty() ? getpid() : processes.begin()->first;
    if (!request.export_file.empty() && recorder.run_id()) {
      export_run(request, names, database.path(), recorder, first, log);
    }
    log.write(first, ending_of(outcome, request));
    return static_cast<ExitCode>(outcome.ending.status());
  };
  return profile_program(wanted, hooks);
}

/// The names that were asked for and that an imported file has; a warning has the others.
Names shown_of(const Request& request, Names there, Log& log) {
  if (!request.counts()) return there;
  Names shown = names_of(request.names);
  std::vector<std::string> missing;
  const auto is_missing = [&](const ScopedName& asked) {
    return std::none_of(there.names.begin(), there.names.end(), [&](const ScopedName& one) {
      return one.counted.name == asked.counted.name &&
             one.counted.is_event == asked.counted.is_event;
    });
  };
  for (const ScopedName& asked : shown.names) {
    if (is_missing(asked) && !asked.counted.is_of_all) missing.push_back(asked.counted.name);
  }
  std::erase_if(shown.names, is_missing);
  if (!missing.empty()) {
    log.write(0, fmt::format("======== Warning: {} has no value of {}\n", request.import_file,
                             fmt::join(missing, ", ")));
  }
  return shown;
}

/// --import-profile: the tables of a file that nvprof wrote.
ExitCode print_imported(const Request& request) {
  const TemporaryFolder folder;
  const std::string database = folder.path() / "nvprof.db";
  Log log(request.log_file, request.is_quiet);
  try {
    schema::import_nvprof_file(request.import_file, database, {"", interrupted});
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.code(), naming_other_option(error.what(), "--import-profile"));
  }
  const schema::Reader reader(database);
  const std::int64_t run_id = reader.find_run("last");
  const Names names = shown_of(request, names_in(reader, run_id), log);
  Processes processes;
  const schema::Rows rows = reader.query(
      "SELECT DISTINCT process_id FROM activities WHERE run_id = :run", {{":run", run_id}});
  for (const auto& row : rows.rows) {
    processes[static_cast<pid_t>(std::get<std::int64_t>(row.front()))] = "";
  }
  if (processes.empty()) processes[0] = "";
  const schema::NvprofNames named = schema::read_nvprof_names(request.import_file);
  print_results(
      {request, names, processes, database, run_id, nullptr, false, resource_names(request, named)},
      log);
  return ExitCode::done;
}

ExitCode print(const std::string& text) {
  Output output;
  output.write(text);
  output.finish();
  return ExitCode::done;
}

/// --query-metrics, --query-events
std::string available(const Request& request) {
  std::vector<std::string> devices;
  for (const schema::Device& device : cupti::devices()) devices.push_back(device.name);
  if (devices.empty()) devices.emplace_back("model");
  return (request.queries_events ? available_text(true, devices) : "") +
         (request.queries_metrics ? available_text(false, devices) : "");
}

ExitCode run(std::span<const std::string> words, const std::string& command_line) {
  const Request request = read_command_line(words);
  if (request.helps) return print(help_text());
  if (request.tells_version) {
    return print(
        fmt::format("nvprof: {}\nRelease version {} (1)\n", version_line(), cuda_version()));
  }
  if (request.queries_metrics || request.queries_events) return print(available(request));
  if (!request.import_file.empty()) return print_imported(request);
  if (request.words.empty())
    throw Error(ExitCode::usage, "no application was given (nvprof --help)");
  return profile(request, command_line);
}

}  // namespace
}  // namespace nvprof

bool is_called_nvprof(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "nvprof" || name == "warpmeter-nvprof";
}

Command add_nvprof(CLI::App& program, std::vector<std::string> words) {
  CLI::App& app =
      add_command(program, "nvprof", "nvprof's own command line and output",
                  {{"warpmeter nvprof ./app", "where its time goes"},
                   {"warpmeter nvprof --metrics gld_efficiency ./app", "a metric of each kernel"},
                   {"warpmeter nvprof --csv --print-gpu-trace ./app", "each kernel and copy"}});
  return {&app, [words = std::move(words)] {
            try {
              return nvprof::run(std::span(words).subspan(2), shell_line(words));
            } catch (const Interrupted&) {
              throw;
            } catch (const Error& error) {
              nvprof::Log("", false).write(0, fmt::format("======== Error: {}\n", error.what()));
              return error.code();
            }
          }};
}

}  // namespace warpmeter::cli
