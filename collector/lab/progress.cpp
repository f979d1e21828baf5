// SPDX-License-Identifier: MIT
#include "collector/lab/progress.h"

#include <algorithm>
#include <map>
#include <set>

#include "collector/lab/slurm.h"

namespace warpmeter::lab {
namespace {

/// True if a task came to an end that a second try would not change: done, or nothing to measure or
/// a kernel that failed, and that is stored. The script knows it too.
bool has_final_end(const Folder& folder, std::int64_t task) {
  const std::optional<int> code = folder.exit_code(task);
  if (code == static_cast<int>(ExitCode::done)) return true;
  const bool may_be =
      code == static_cast<int>(ExitCode::nothing) || code == static_cast<int>(ExitCode::kernel);
  return may_be && folder.has_stored(task);
}

/// The state of each task by Slurm, by the last job that was given it.
std::map<std::int64_t, QueuedTask> by_task(const std::vector<Submission>& submissions,
                                           const std::vector<QueuedTask>& queue) {
  std::map<std::int64_t, QueuedTask> result;
  for (const Submission& submission : submissions) {
    if (submission.merges) continue;
    for (const std::int64_t task : submission.tasks) result.erase(task);
    for (const QueuedTask& queued : queue) {
      const bool is_of_it = queued.job == submission.job &&
                            std::find(submission.tasks.begin(), submission.tasks.end(),
                                      queued.task) != submission.tasks.end();
      if (is_of_it) result[queued.task] = queued;
    }
  }
  return result;
}

TaskProgress state_of(const Folder& folder, std::int64_t number, const QueuedTask* queued) {
  TaskProgress task;
  task.task = number;
  task.node = folder.node(number);
  task.exit_code = folder.exit_code(number);
  task.is_final = has_final_end(folder, number);
  task.elapsed = folder.elapsed(number);
  if (queued != nullptr) {
    if (task.elapsed.empty() || queued->is_running()) task.elapsed = queued->elapsed;
    if (!queued->node.empty()) task.node = queued->node;
  }
  if (queued != nullptr && queued->is_waiting()) {
    task.state = TaskState::waiting;
    task.why = queued->reason;
    task.exit_code.reset();
    task.elapsed.clear();
  } else if (task.exit_code) {
    const bool is_done = *task.exit_code == static_cast<int>(ExitCode::done) ||
                         *task.exit_code == static_cast<int>(ExitCode::nothing);
    task.state = is_done ? TaskState::done : TaskState::failed;
  } else if (queued != nullptr && queued->is_running()) {
    task.state = TaskState::running;
  } else {
    task.state = folder.node(number).empty() ? TaskState::never_ran : TaskState::died;
    task.why = queued != nullptr ? queued->state : "";
  }
  return task;
}

}  // namespace

std::string_view to_string(TaskState state) {
  switch (state) {
    case TaskState::waiting:
      return "waiting";
    case TaskState::running:
      return "running";
    case TaskState::done:
      return "done";
    case TaskState::failed:
      return "failed";
    case TaskState::died:
      return "died";
    case TaskState::never_ran:
      return "never ran";
  }
  return "";
}

bool TaskProgress::needs_a_run() const {
  if (state == TaskState::failed || state == TaskState::done) return !is_final;
  return state == TaskState::died || state == TaskState::never_ran;
}

std::size_t JobProgress::count(TaskState state) const {
  return static_cast<std::size_t>(std::count_if(
      tasks.begin(), tasks.end(), [&](const TaskProgress& task) { return task.state == state; }));
}

bool JobProgress::has_ended() const {
  return count(TaskState::waiting) == 0 && count(TaskState::running) == 0 && !merge_in_queue;
}

ExitCode JobProgress::exit_code() const {
  std::set<int> codes;
  bool all_ended = true;
  for (const TaskProgress& task : tasks) {
    all_ended &= task.exit_code.has_value();
    if (task.exit_code) codes.insert(*task.exit_code);
  }
  for (const ExitCode code :
       {ExitCode::kernel, ExitCode::file, ExitCode::no_hardware, ExitCode::usage}) {
    if (codes.contains(static_cast<int>(code))) return code;
  }
  if (!all_ended) return ExitCode::nothing;
  // A part without anything that could be measured is no failure of the whole.
  return codes.contains(static_cast<int>(ExitCode::done)) ? ExitCode::done : ExitCode::nothing;
}

JobProgress progress_of(const Folder& folder, const Plan& plan) {
  const std::vector<Submission> submissions = folder.submissions();
  JobProgress progress;
  progress.is_merged = folder.is_merged(plan);
  const bool all_ended = std::all_of(plan.tasks.begin(), plan.tasks.end(), [&](const Task& task) {
    return has_final_end(folder, task.number);
  });
  std::vector<QueuedTask> queue;
  if (!all_ended || !progress.is_merged) {
    std::vector<std::int64_t> jobs;
    for (const Submission& submission : submissions) jobs.push_back(submission.job);
    queue = queued(jobs);
  }
  const std::map<std::int64_t, QueuedTask> tasks = by_task(submissions, queue);
  for (const Task& task : plan.tasks) {
    const auto found = tasks.find(task.number);
    progress.has_stored |= folder.has_stored(task.number);
    progress.tasks.push_back(
        state_of(folder, task.number, found == tasks.end() ? nullptr : &found->second));
  }
  std::set<std::int64_t> waiting;
  for (const QueuedTask& task : queue) {
    if (!task.is_waiting() && !task.is_running()) continue;
    const bool merges = std::any_of(submissions.begin(), submissions.end(),
                                    [&](const auto& s) { return s.job == task.job && s.merges; });
    progress.merge_in_queue |= merges;
    if (!merges) waiting.insert(task.job);
  }
  progress.in_queue.assign(waiting.begin(), waiting.end());
  // It may have been merged while Slurm was asked, and have left the queue.
  if (!progress.merge_in_queue) progress.is_merged = folder.is_merged(plan);
  return progress;
}

}  // namespace warpmeter::lab
