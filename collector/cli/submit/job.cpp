// SPDX-License-Identifier: MIT
#include "collector/cli/submit/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "base/shell_line.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/progress.h"
#include "collector/cli/terminal.h"
#include "collector/lab/script.h"
#include "collector/lab/slurm.h"
#include "reports/table/number.h"

namespace warpmeter::cli {
namespace {

using lab::TaskState;

std::string comment_of(const lab::Plan& plan, bool merges) {
  return fmt::format("warpmeter {}{}", plan.id, merges ? " merge" : "");
}

std::vector<std::string> as_words(const std::vector<std::string>& options) {
  std::vector<std::string> words;
  for (const std::string& option : options) {
    for (std::string& word : lab::words_of_option(option)) words.push_back(std::move(word));
  }
  return words;
}

void queue_tasks(const lab::Folder& folder, const lab::Plan& plan,
                 const std::vector<std::int64_t>& tasks, const std::vector<std::string>& more) {
  std::vector<std::string> options = as_words(lab::task_options(plan, folder.path()));
  options.push_back("--array=" + lab::ranges(tasks));
  options.push_back("--comment=" + comment_of(plan, false));
  options.insert(options.end(), more.begin(), more.end());
  folder.add({lab::submit(folder.path(), options, "job.sh"), false, tasks});
}

void queue_merge(const lab::Folder& folder, const lab::Plan& plan,
                 const std::set<std::int64_t>& after) {
  std::vector<std::string> options = as_words(lab::merge_options(plan, folder.path()));
  options.push_back("--comment=" + comment_of(plan, true));
  if (!after.empty()) {
    options.push_back(fmt::format("--dependency=afterany:{}", fmt::join(after, ":")));
  }
  folder.add({lab::submit(folder.path(), options, "merge.sh"), true, {}});
}

/// Jobs that Slurm took while the program that gave them ended before it wrote down their numbers.
void find_lost(const lab::Folder& folder, const lab::Plan& plan) {
  std::set<std::int64_t> known;
  for (const lab::Submission& submission : folder.submissions()) known.insert(submission.job);
  for (const bool merges : {false, true}) {
    for (const std::int64_t job : lab::jobs_with_comment(comment_of(plan, merges))) {
      if (known.contains(job)) continue;
      std::set<std::int64_t> tasks;
      for (const lab::QueuedTask& task : lab::queued({job})) tasks.insert(task.task);
      folder.add({job, merges,
                  merges ? std::vector<std::int64_t>{}
                         : std::vector<std::int64_t>(tasks.begin(), tasks.end())});
    }
  }
}

}  // namespace

void check_storage(const lab::Folder& folder, const lab::Plan& plan, bool quiet) {
  std::vector<std::string> options;
  for (const std::string& option : lab::merge_options(plan, folder.path())) {
    const bool is_choice = option.starts_with("--partition") || option.starts_with("--account") ||
                           option.starts_with("--qos") || option.starts_with("--reservation") ||
                           option.starts_with("-A") || option.starts_with("-q");
    if (is_choice) options.push_back(option);
  }
  const lab::Sight sight =
      lab::look(folder.probe(), plan.id, plan.program, plan.directory, options);
  if (!sight.missing.empty()) {
    throw Error(ExitCode::file,
                fmt::format("node {} does not see {}: job, program and command have to be on "
                            "storage that all nodes share (--folder says where the job is)",
                            sight.node, sight.missing));
  }
  if (sight.node.empty() && !quiet) {
    say(fmt::format("no node was free to show that it sees {} ({}): each task looks for itself\n",
                    folder.path(), sight.words));
  }
}

std::int64_t number_of(const lab::Folder& folder) {
  const std::vector<lab::Submission> submissions = folder.submissions();
  return submissions.empty() ? 0 : submissions.front().job;
}

void queue_rest(const lab::Folder& folder, const lab::Plan& plan, bool quiet) {
  find_lost(folder, plan);
  const lab::JobProgress progress = lab::progress_of(folder, plan);
  std::vector<std::int64_t> rest;
  for (const lab::TaskProgress& task : progress.tasks) {
    if (task.needs_a_run()) rest.push_back(task.task);
  }
  const bool merges = !rest.empty() || (!progress.is_merged && !progress.merge_in_queue &&
                                        (progress.has_stored || !progress.has_ended()));
  if (!quiet && rest.empty()) {
    say(!progress.has_ended() || merges ? "no task has to be run again\n"
        : progress.is_merged            ? "every task has come to its end, and all is merged\n"
                                        : "every task has come to its end, and none has stored "
                                          "anything\n");
  }
  const std::vector<lab::Submission> before = folder.submissions();
  if (plan.is_pinned()) {
    for (const std::int64_t number : rest) {
      const lab::Task& task = plan.tasks.at(static_cast<std::size_t>(number) - 1);
      std::vector<std::string> more;
      if (!task.node.empty()) more.push_back("--nodelist=" + task.node);
      if (!task.gres.empty()) more.push_back("--gres=" + task.gres);
      queue_tasks(folder, plan, {number}, more);
    }
  } else if (!rest.empty()) {
    queue_tasks(folder, plan, rest, {});
  }
  if (!merges) return;
  std::set<std::int64_t> after(progress.in_queue.begin(), progress.in_queue.end());
  const std::vector<lab::Submission> all = folder.submissions();
  for (std::size_t i = before.size(); i < all.size(); ++i) after.insert(all[i].job);
  queue_merge(folder, plan, after);
  if (quiet) return;
  say(fmt::format("job {}: {} in Slurm's queue, then their merging; folder {}\n", number_of(folder),
                  reports::counted(rest.size(), "task", "tasks"), folder.path()));
}

lab::JobProgress wait_for_end(const lab::Folder& folder, const lab::Plan& plan, bool quiet) {
  using namespace std::chrono_literals;
  catch_interrupts("\nwarpmeter: the job goes on without being watched (submit status, cancel)\n");
  ProgressBar bar(is_terminal(STDERR_FILENO) && !quiet);
  auto pause = 200ms;
  for (;;) {
    lab::JobProgress progress = lab::progress_of(folder, plan);
    const std::size_t running = progress.count(TaskState::running);
    const std::size_t waiting = progress.count(TaskState::waiting);
    bar.update(progress.tasks.size() - running - waiting, progress.tasks.size(),
               progress.merge_in_queue && running + waiting == 0
                   ? std::string("merge")
                   : fmt::format("{} running, {} waiting", running, waiting));
    if (progress.has_ended() || interrupted()) return progress;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(5000));  // who waits long asks seldom
  }
}

reports::Table status_table(const lab::Plan& plan, const lab::JobProgress& progress) {
  using reports::Column;
  using reports::Kind;
  reports::Table table;
  table.columns = {Column::number("task", "task", "", Kind::exact),
                   Column::text("state"),
                   Column::text("node"),
                   Column::number("launches", "launches planned", "", Kind::count),
                   Column::text("elapsed"),
                   Column::number("exit_code", "exit code", "", Kind::exact),
                   Column::text("why")};
  const auto text = [](const std::string& words, const char* reason) {
    return words.empty() ? reports::Cell(reports::Missing{reason}) : reports::Cell(words);
  };
  for (std::size_t i = 0; i < progress.tasks.size(); ++i) {
    const lab::TaskProgress& task = progress.tasks[i];
    const auto launches = static_cast<std::int64_t>(plan.tasks[i].launches.size());
    table.rows.push_back(
        {task.task, std::string(lab::to_string(task.state)),
         text(task.node.empty() ? plan.tasks[i].node : task.node, "it has not begun"),
         launches > 0 ? reports::Cell(launches) : reports::Cell(reports::Missing{"not divided"}),
         text(task.elapsed, "Slurm does not say"),
         task.exit_code ? reports::Cell(std::int64_t{*task.exit_code})
                        : reports::Cell(reports::Missing{"it has not ended"}),
         text(task.why, "nothing to say")});
  }
  return table;
}

void say_what_failed(const lab::Folder& folder, const lab::JobProgress& progress) {
  for (const lab::TaskProgress& task : progress.tasks) {
    if (task.state != TaskState::failed) continue;
    say(fmt::format("task {} ended with exit code {}: {}\n", task.task, *task.exit_code,
                    folder.log(task.task)));
  }
  if (!progress.has_ended()) return;
  for (const TaskState state : {TaskState::died, TaskState::never_ran}) {
    std::vector<std::int64_t> tasks;
    for (const lab::TaskProgress& task : progress.tasks) {
      if (task.state == state) tasks.push_back(task.task);
    }
    if (tasks.empty()) continue;
    say(fmt::format("task{} {} {}: {}/logs\n", tasks.size() == 1 ? "" : "s", lab::ranges(tasks),
                    lab::to_string(state), folder.path()));
  }
  const bool nothing = progress.exit_code() == ExitCode::nothing;
  const bool all_done = progress.count(TaskState::done) == progress.tasks.size();
  if (nothing && all_done) say(fmt::format("no task measured anything: {}/logs\n", folder.path()));
}

void say_what_became(const lab::Folder& folder, const lab::Plan& plan,
                     const lab::JobProgress& progress) {
  std::vector<std::string> counts;
  for (const TaskState state : {TaskState::done, TaskState::failed, TaskState::died,
                                TaskState::never_ran, TaskState::running, TaskState::waiting}) {
    if (const std::size_t count = progress.count(state)) {
      counts.push_back(fmt::format("{} {}", count, lab::to_string(state)));
    }
  }
  const std::int64_t number = number_of(folder);
  say(fmt::format("job {}: {} of warpmeter {}: {}\n", number,
                  reports::counted(progress.tasks.size(), "task", "tasks"),
                  shell_line(plan.command), fmt::join(counts, ", ")));
  say_what_failed(folder, progress);
  if (!progress.has_ended()) return;
  const bool needs_runs =
      std::any_of(progress.tasks.begin(), progress.tasks.end(),
                  [](const lab::TaskProgress& task) { return task.needs_a_run(); });
  if (needs_runs || (!progress.is_merged && progress.has_stored)) {
    say(fmt::format("next: warpmeter submit resume {}\n", number));
  } else if (progress.is_merged) {
    const std::string words[] = {"warpmeter", "report", "--db", folder.merged()};
    say(fmt::format("next: {}\n", shell_line(words)));
  }
}

}  // namespace warpmeter::cli
