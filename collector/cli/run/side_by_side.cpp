// SPDX-License-Identifier: MIT
#include "collector/cli/run/side_by_side.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/with_noun.h"
#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/run/continued_run.h"
#include "schema/process.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// Set for a part, and for the fresh process that goes on with it.
constexpr const char* part_variable = "WARPMETER_PART_OF_RUN";

struct Part {
  int device = 0;
  pid_t id = 0;
  bool has_ended = false;
  int status = 0;  ///< as waitpid gives it

  /// Empty where it measured, failed kernels or not.
  std::string wrong() const {
    if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
    const auto code = static_cast<ExitCode>(WEXITSTATUS(status));
    const bool is_fine =
        code == ExitCode::done || code == ExitCode::kernel || code == ExitCode::nothing;
    return is_fine ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
  }
};

Part start(const RunRequest& request, int device) {
  RunRequest alone = request;
  alone.backend.device = std::to_string(device);
  std::vector<std::string> words = {"warpmeter", "run", "--quiet", "--db", request.database};
  if (request.interleave) words.emplace_back("--interleave");
  for (std::string& word : words_of(alone)) words.push_back(std::move(word));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Part part;
  part.device = device;
  if (const int error =
          posix_spawn(&part.id, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ)) {
    throw Error(ExitCode::no_hardware, fmt::format("the process for device {} cannot be started: "
                                                   "{}",
                                                   device, std::strerror(error)));
  }
  return part;
}

struct Stored {
  std::size_t launches = 0, failed = 0;
};

Stored stored_of(const std::string& database, std::int64_t run_id) {
  const schema::Rows rows = schema::Reader(database).query(
      "SELECT count(*), coalesce(sum(outcome = 'failed'), 0) FROM launches WHERE run_id = :run",
      {{":run", run_id}});
  return {static_cast<std::size_t>(std::get<std::int64_t>(rows.rows.at(0).at(0))),
          static_cast<std::size_t>(std::get<std::int64_t>(rows.rows.at(0).at(1)))};
}

/// Until all have ended; they are told when the user asks this process to end.
void wait_for(std::vector<Part>& parts, const std::function<void()>& meanwhile) {
  using namespace std::chrono_literals;
  bool are_told = false;
  for (std::size_t ended = 0; ended < parts.size();) {
    for (Part& part : parts) {
      if (part.has_ended) continue;
      if (interrupted() && !are_told) kill(part.id, SIGTERM);
      if (waitpid(part.id, &part.status, WNOHANG) != part.id) continue;
      part.has_ended = true;
      ++ended;
    }
    are_told = are_told || interrupted();
    meanwhile();
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace

run::Summary measure_side_by_side(const RunRequest& request, schema::Run record,
                                  run::Options options, const std::vector<int>& devices,
                                  std::size_t launches_of_a_device, ProgressBar& bar) {
  const std::size_t total = launches_of_a_device * devices.size();
  record.planned_launches = static_cast<std::int64_t>(total) * request.repeat;
  run::Summary summary;
  schema::Store store(request.database);
  summary.run_id = request.continued_run;
  if (summary.run_id == 0) {
    summary.run_id = store.begin_run(record);
  } else if (has_come_to_its_end(request, options)) {
    return {summary.run_id, options.stored_before, options.failed_before, false, "", {}};
  } else {
    take_up(request, false, store, options);
  }
  setenv(part_variable, std::to_string(summary.run_id).c_str(), 1);
  std::vector<Part> parts;
  std::string wrong;
  try {
    for (const int device : devices) parts.push_back(start(request, device));
  } catch (const Error& error) {
    wrong = error.what();
    for (const Part& part : parts) kill(part.id, SIGTERM);
  }
  unsetenv(part_variable);
  auto shown = std::chrono::steady_clock::now();
  wait_for(parts, [&] {
    if (std::chrono::steady_clock::now() - shown < std::chrono::milliseconds(300)) return;
    shown = std::chrono::steady_clock::now();
    bar.update(stored_of(request.database, summary.run_id).launches, total, "side by side");
  });
  const Stored stored = stored_of(request.database, summary.run_id);
  summary.launches = stored.launches;
  summary.failed = stored.failed;
  summary.cancelled = interrupted();
  for (const Part& part : parts) {
    if (wrong.empty() && !summary.cancelled && !part.wrong().empty()) {
      wrong = fmt::format("the process for device {} ended with {}", part.device, part.wrong());
    }
  }
  run::end_run(store, summary, wrong);
  if (!wrong.empty()) {
    throw Error(
        ExitCode::no_hardware,
        fmt::format("{}; {} kept in run {}", wrong,
                    with_noun(stored.launches, "launch is", "launches are"), summary.run_id));
  }
  return summary;
}

std::int64_t run_of_part() {
  const char* text = std::getenv(part_variable);
  return text != nullptr ? whole_number(part_variable, text, 1, INT64_MAX) : 0;
}

void join_run(schema::Store& store) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  store.write_as(schema::ProcessIdentity::of(getppid()));
}

}  // namespace warpmeter::cli
