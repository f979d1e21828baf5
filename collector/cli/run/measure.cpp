// SPDX-License-Identifier: MIT
#include "collector/cli/run/measure.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "collector/cli/arguments.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/request/run_record.h"
#include "collector/cli/run/continued_run.h"
#include "collector/cli/run/side_by_side.h"
#include "collector/cli/terminal.h"
#include "collector/run/verify.h"
#include "reports/table/number.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

std::string launch_name(std::string_view family, std::string_view variant, std::int64_t size) {
  const std::string at = size > 0 ? fmt::format(" {}", size) : "";
  return fmt::format("{}/{}{}", printable(family), printable(variant), at);
}

/// A compiler's complaint takes many lines: once for all launches that it is about.
std::string short_if_said(const std::string& reason, std::set<std::string>& said) {
  const std::size_t end = reason.find('\n');
  if (end == std::string::npos) return reason;
  std::string complaints;  // without the source, which macros change from launch to launch
  for (std::size_t at = reason.find("error: "); at != std::string::npos;
       at = reason.find("error: ", at + 1)) {
    complaints += reason.substr(at, reason.find('\n', at) - at) + "\n";
  }
  const bool is_new = said.insert(complaints).second;
  return is_new ? reason : reason.substr(0, end) + " the errors are those named above";
}

/// --print-output: the first values of every buffer that the launch changed.
std::string output_lines(const std::string& launch, const kernels::Problem& problem,
                         const run::Execution& execution, std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < execution.buffers.size(); ++i) {
    const kernels::Buffer& buffer = problem.buffers[i];
    if (execution.buffers[i] == buffer.initial) continue;
    lines += fmt::format("{} {}: {}\n", launch, buffer.name,
                         fmt::join(run::first_values(buffer, execution.buffers[i], count), " "));
  }
  return lines;
}

/// The doubts that right answers leave, to be said once for all launches of which it is true.
class Doubts {
 public:
  void add(const std::string& launch, const std::string& clause) {
    const auto found = std::find_if(all_.begin(), all_.end(),
                                    [&](const Doubt& doubt) { return doubt.clause == clause; });
    if (found != all_.end()) {
      ++found->others;
    } else {
      all_.push_back({launch, clause, 0});
    }
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> texts;
    for (const Doubt& doubt : all_) {
      const std::string more =
          doubt.others == 0
              ? ""
              : fmt::format("; so it is with {}",
                            reports::counted(doubt.others, "other launch", "other launches"));
      texts.push_back(fmt::format("{} {}{}", doubt.launch, doubt.clause, more));
    }
    return texts;
  }

 private:
  struct Doubt {
    std::string launch, clause;
    std::size_t others;
  };
  std::vector<Doubt> all_;  ///< in the order in which they came up
};

run::Hooks hooks_of(const RunRequest& request, ProgressBar& bar, Output& output, Doubts& doubts) {
  run::Hooks hooks;
  hooks.cancelled = interrupted;
  hooks.progress = [&bar](const run::Progress& progress) { bar.update(progress); };
  hooks.failed = [&bar, &request,
                  said = std::set<std::string>()](const schema::Launch& launch) mutable {
    if (request.watch) return;  // it says so under its table
    bar.clear();
    say(Colour::red, "failed:",
        fmt::format(" {}: {}\n",
                    launch_name(launch.family, launch.variant, launch.size.value_or(0)),
                    short_if_said(launch.reason, said)));
  };
  hooks.verified = [&bar, &request](const schema::Launch& launch, const std::string& error) {
    if (error.empty()) return;
    bar.clear();
    remark(request,
           fmt::format("{} is right within the tolerance: the largest error is {}",
                       launch_name(launch.family, launch.variant, launch.size.value_or(0)), error));
  };
  hooks.doubted = [&doubts](const schema::Launch& launch, const std::string& clause) {
    doubts.add(launch_name(launch.family, launch.variant, launch.size.value_or(0)), clause);
  };
  if (request.print_output > 0) {
    hooks.executed = [&](const kernels::Family& family, const kernels::Variant& variant,
                         std::int64_t size, const kernels::Problem& problem,
                         const run::Execution& execution) {
      bar.clear();
      output.write(output_lines(launch_name(family.name, variant.name, size), problem, execution,
                                static_cast<std::size_t>(request.print_output)));
    };
  }
  return hooks;
}

/// A run that a process of ours began, which could not go on: set by go_on() for the one after it.
constexpr const char* continued_variable = "WARPMETER_CONTINUED_RUN";

/// Takes over the results that the run stored before the exec.
void take_over(const RunRequest& request, run::Options& options) {
  const char* text = std::getenv(continued_variable);
  if (text == nullptr) return;
  options.continued_run = whole_number(continued_variable, text, 1, INT64_MAX);
  options.is_resumed = false;  // a moment ago, on the same device
  unsetenv(continued_variable);
  read_finished(request, false, options);
}

/// This process cannot launch anything any more: the same command goes on in a fresh one, which
/// takes over the run. exec leaves nothing of the old one behind, a kernel that hangs included.
[[noreturn]] void go_on(const RunRequest& request, std::int64_t run_id, const std::string& reason) {
  setenv(continued_variable, std::to_string(run_id).c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : request.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // By its number: the C library's own function is younger than some lab machines.
  syscall(SYS_close_range, 3U, ~0U, 1U << 2);  // CLOSE_RANGE_CLOEXEC
  execv("/proc/self/exe", words.data());
  throw Error(ExitCode::kernel, fmt::format("{}; the rest needs a fresh process, which cannot be "
                                            "started: {}",
                                            reason, std::strerror(errno)));
}

}  // namespace

run::Summary measure_into(const RunRequest& request, const run::Choice& choice,
                          run::Options options, const Backends& backends, ProgressBar& bar,
                          Output& output) {
  schema::Store store(request.database);
  std::vector<run::Backend*> pointers;
  for (const auto& backend : backends.opened) pointers.push_back(backend.get());
  for (const auto& counting : backends.counting) options.counting.push_back(counting.get());
  if (const std::int64_t run_id = run_of_part(); run_id != 0) {
    options.continued_run = run_id;
    options.is_part = options.is_resumed = true;
    join_run(store);
    read_finished(request, false, options);  // where a run goes on
    options.stored_before = options.failed_before = 0;
  }
  take_over(request, options);
  if (request.continued_run != 0 && options.continued_run == 0) {
    if (has_come_to_its_end(request, options)) {
      return {options.continued_run, options.stored_before, options.failed_before, false, "", {}};
    }
    take_up(request, pointers.size() == 1, store, options);
  }
  Doubts doubts;
  run::Hooks hooks = hooks_of(request, bar, output, doubts);
  hooks.lost = [&](std::int64_t run_id, const std::string& reason) {
    bar.clear();
    for (const std::string& text : doubts.texts()) remark(request, text);
    go_on(request, run_id, reason);
  };
  run::Summary summary = run::measure(
      run_record(pointers.front()->device().backend, request.command_line, request.label),
      choice.selections, options, pointers, store, hooks);
  summary.remarks = doubts.texts();
  return summary;
}

}  // namespace warpmeter::cli
