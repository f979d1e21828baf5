// SPDX-License-Identifier: MIT
// How far a job is: what its tasks left in its folder, and what Slurm says of those that have not
// come to their end. Slurm forgets, the folder does not: it is asked first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collector/lab/folder.h"
#include "collector/lab/plan.h"

namespace warpmeter::lab {

enum class TaskState {
  waiting,  ///< in Slurm's queue
  running,
  done,
  failed,     ///< came to its end with an exit code that is not 0
  died,       ///< began, and was cut off
  never_ran,  ///< did not begin, and is not in the queue
};
std::string_view to_string(TaskState state);

struct TaskProgress {
  std::int64_t task = 0;
  TaskState state = TaskState::never_ran;
  std::string node, elapsed;
  std::string why;  ///< Slurm's word for why it waits or died
  std::optional<int> exit_code;
  bool is_final = false;  ///< it came to an end that a second try would not change

  /// True if it has to be run again, and is not about to.
  bool needs_a_run() const;
};

struct JobProgress {
  std::vector<TaskProgress> tasks;
  std::vector<std::int64_t> in_queue;  ///< Slurm's numbers of those that wait or run, of tasks
  bool merge_in_queue = false, is_merged = false;
  bool has_stored = false;  ///< any task: there is something to merge

  std::size_t count(TaskState state) const;
  /// Nothing waits or runs.
  bool has_ended() const;
  /// The command's: 6 where a launch failed anywhere, else the worst of the tasks', 3 where one
  /// never ran or was cut off. The job has ended.
  ExitCode exit_code() const;
};

/// Throws Error{no_hardware} where Slurm has to be asked and does not answer.
JobProgress progress_of(const Folder& folder, const Plan& plan);

}  // namespace warpmeter::lab
