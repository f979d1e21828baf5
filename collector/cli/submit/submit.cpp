// SPDX-License-Identifier: MIT
// `warpmeter submit`: any measuring command as a job of Slurm, which starts the work and starts it
// again. This file plans the measurements (submit_plan.cpp), the job's folder holds all that there
// is to know of it (collector/lab), and Slurm does the rest (submit_job.cpp).
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/output.h"
#include "base/shell_line.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/submit/job.h"
#include "collector/cli/submit/request.h"
#include "collector/cli/terminal.h"
#include "collector/lab/folder.h"
#include "collector/lab/script.h"
#include "reports/table/number.h"

namespace warpmeter::cli {
namespace {

Error refused(const std::string& what) {
  return {ExitCode::usage, what + " (see: warpmeter submit --help)"};
}

void print_table(const reports::Table& table, const std::string& format) {
  Output output;
  output.write(rendered(table, format));
  output.finish();
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  const std::string text = std::filesystem::weakly_canonical(whole, ignored).string();
  return text.size() > 1 && text.back() == '/' ? text.substr(0, text.size() - 1) : text;
}

std::string default_folder() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("warpmeter-jobs/{:%Y%m%d-%H%M%S}-{}", parts, getpid());
}

reports::Table plan_table(const lab::Plan& plan) {
  using reports::Column;
  using reports::Kind;
  reports::Table table;
  table.columns = {Column::number("task", "task", "", Kind::exact),
                   Column::number("launches", "launches", "", Kind::count),
                   Column::number("share", "share of the cost", "%", Kind::reading),
                   Column::text("where"), Column::text("first", "first launch")};
  for (const lab::Task& task : plan.tasks) {
    std::string where = task.node;
    if (!task.gres.empty()) where += (where.empty() ? "" : ", ") + task.gres;
    if (task.gpu > 0) where += fmt::format(", GPU {} of them", task.gpu);
    const reports::Missing whole{"the whole command"}, anywhere{"where Slurm likes"};
    const bool is_whole = task.launches.empty();
    table.rows.push_back({task.number,
                          is_whole ? reports::Cell(whole)
                                   : reports::Cell(static_cast<std::int64_t>(task.launches.size())),
                          100 * task.share,
                          where.empty() ? reports::Cell(anywhere) : reports::Cell(where),
                          is_whole ? reports::Cell(whole) : reports::Cell(task.launches.front())});
  }
  return table;
}

ExitCode end_of(const lab::Folder& folder, const lab::Plan& plan, const SubmitRequest& request) {
  const lab::JobProgress progress = wait_for_end(folder, plan, request.quiet);
  if (!request.quiet) print_table(status_table(plan, progress), request.format);
  if (request.quiet) {
    say_what_failed(folder, progress);
  } else {
    say_what_became(folder, plan, progress);
  }
  if (!progress.has_ended()) return ExitCode::done;  // Ctrl-C
  if (!progress.is_merged && progress.has_stored && progress.exit_code() == ExitCode::done) {
    throw Error(ExitCode::file, fmt::format("the tasks are done, but not merged: {}/logs/merge.log "
                                            "says why",
                                            folder.path()));
  }
  return progress.exit_code();
}

/// Queues what is to be done of a job whose folder is there.
ExitCode go_on(const lab::Folder& folder, const lab::Plan& plan, const SubmitRequest& request) {
  queue_rest(folder, plan, request.quiet);
  if (request.wait) return end_of(folder, plan, request);
  if (!request.quiet) {
    say(fmt::format("next: warpmeter submit status {}\n", number_of(folder)));
  }
  return ExitCode::done;
}

ExitCode submit_command(const SubmitRequest& request) {
  check_command(request.command);
  check_options(request);
  const std::vector<lab::Node> nodes = lab::nodes();
  const lab::Plan plan = plan_of(request, nodes);
  const lab::Folder folder(absolute(request.folder.empty() ? default_folder() : request.folder));
  if (request.dry_run) {
    print_table(plan_table(plan), request.format);
    say(fmt::format("{}: {}; nothing was queued\n\n{}\n",
                    reports::counted(plan.tasks.size(), "task", "tasks"), plan.division,
                    lab::task_script(plan, folder.path())));
    return ExitCode::done;
  }
  if (folder.has_plan()) {
    const lab::Plan before = folder.plan();
    if (!lab::is_same_job(before, plan)) {
      throw Error(ExitCode::usage,
                  fmt::format("{} holds another job: choose another --folder", folder.path()));
    }
    return go_on(folder, before, request);
  }
  folder.write(plan);
  try {
    check_storage(folder, plan, request.quiet);
    if (!request.quiet) {
      say(fmt::format("{}: {}\n", reports::counted(plan.tasks.size(), "task", "tasks"),
                      plan.division));
    }
    queue_rest(folder, plan, request.quiet);
  } catch (const Error&) {
    if (folder.submissions().empty()) folder.remove(plan);
    throw;
  }
  if (request.wait) return end_of(folder, plan, request);
  if (!request.quiet) {
    say(fmt::format("next: warpmeter submit status {}\n", number_of(folder)));
  }
  return ExitCode::done;
}

ExitCode status(const lab::Folder& folder, const SubmitRequest& request) {
  const lab::Plan plan = folder.plan();
  if (request.wait) return end_of(folder, plan, request);
  const lab::JobProgress progress = lab::progress_of(folder, plan);
  if (request.quiet) {
    say_what_failed(folder, progress);
  } else {
    print_table(status_table(plan, progress), request.format);
    say_what_became(folder, plan, progress);
  }
  return progress.has_ended() ? progress.exit_code() : ExitCode::done;
}

ExitCode cancel(const lab::Folder& folder, const SubmitRequest& request) {
  const lab::JobProgress progress = lab::progress_of(folder, folder.plan());
  if (progress.in_queue.empty()) {
    say("nothing of the job waits or runs\n");
    return ExitCode::done;
  }
  lab::cancel(progress.in_queue);
  if (!request.quiet) {
    say(
        fmt::format("cancelled; what was finished is merged all the same, and what was not is "
                    "taken up by: warpmeter submit resume {}\n",
                    number_of(folder)));
  }
  return ExitCode::done;
}

ExitCode list_jobs(const SubmitRequest& request) {
  using reports::Column;
  using reports::Kind;
  reports::Table table;
  table.columns = {Column::number("job", "job", "", Kind::exact),
                   Column::text("submitted"),
                   Column::number("tasks", "tasks", "", Kind::count),
                   Column::number("ended", "ended", "", Kind::count),
                   Column::text("command"),
                   Column::text("folder")};
  for (const auto& [number, folder] : lab::known_jobs()) {
    const lab::Plan plan = folder.plan();
    std::int64_t ended = 0;
    for (const lab::Task& task : plan.tasks) ended += folder.exit_code(task.number) ? 1 : 0;
    table.rows.push_back({number, plan.created, static_cast<std::int64_t>(plan.tasks.size()), ended,
                          shell_line(plan.command), folder.path()});
  }
  print_table(table, request.format);
  return ExitCode::done;
}

/// Options that belong to submitting are not silently forgotten by what is done to a job.
void check_options_of_action(const CLI::App& app, const std::vector<std::string>& words,
                             const std::string& action) {
  const std::map<std::string, std::set<std::string>> taken = {
      {"status", {"--wait", "--format", "--quiet"}},
      {"resume", {"--wait", "--format", "--quiet"}},
      {"cancel", {"--quiet"}},
      {"list", {"--format"}}};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || option->count() == 0) continue;
    const bool is_typed = option->get_envname().empty() ||
                          std::any_of(words.begin(), words.end(), [&](const std::string& word) {
                            return word.starts_with(name);
                          });
    if (!is_typed) continue;  // a variable of the environment
    const auto is_name = [&](const std::string& known) {
      return option->check_lname(known.substr(2));
    };
    const std::set<std::string>& known = taken.at(action);
    if (std::any_of(known.begin(), known.end(), is_name)) continue;
    throw refused(fmt::format("submit {} takes no {}", action, name));
  }
}

ExitCode submit_or_act(const SubmitRequest& request, const CLI::App& app,
                       const std::vector<std::string>& words) {
  if (request.words.empty()) return submit_command(request);
  const std::string& action = request.words[0];
  if (!request.command.empty()) {
    throw refused(fmt::format("'{}' stands before --: the command goes after it", action));
  }
  if (action == "list" && request.words.size() == 1) {
    check_options_of_action(app, words, action);
    return list_jobs(request);
  }
  const bool is_action = action == "status" || action == "resume" || action == "cancel";
  if (action == "run" || action == "profile" || action == "model") {
    throw refused(fmt::format("the command goes after --: warpmeter submit -- {} …", action));
  }
  if (!is_action && action != "list") {
    throw refused(
        fmt::format("submit takes status, resume, cancel or list, or a command after --, "
                    "not '{}'",
                    action));
  }
  if (request.words.size() != 2 || action == "list") {
    throw refused(
        action == "list" ? "submit list takes no job"
        : request.words.size() == 1
            ? fmt::format("submit {} needs a job: its number or its folder", action)
            : fmt::format("submit {} takes one job, not {}", action, request.words.size() - 1));
  }
  check_options_of_action(app, words, action);
  const lab::Folder folder = lab::find_job(request.words[1]);
  if (action == "status") return status(folder, request);
  if (action == "cancel") return cancel(folder, request);
  return go_on(folder, folder.plan(), request);
}

}  // namespace

Command add_submit(CLI::App& program, const std::vector<std::string>& words) {
  CLI::App& app = add_command(
      program, "submit", "Run any measuring command as a job of Slurm",
      {{"warpmeter submit --split 16 -- run tune.yaml", "one sweep in sixteen tasks"},
       {"warpmeter submit --gres gpu:1 --wait -- run transpose", "one task, until it has ended"},
       {"warpmeter submit --each gpu-type -- run matmul", "the same on one GPU of each type"},
       {"warpmeter submit --each node -- profile ./app", "or on every node"},
       {"warpmeter submit status 17", "how far it is"},
       {"warpmeter submit resume 17", "run again what was cut off; keep what is finished"},
       {"warpmeter submit list", "the jobs that were submitted here"}});
  auto request = std::make_shared<SubmitRequest>();
  add_arguments(app, "ACTION JOB", request->words,
                "status, resume or cancel with a JOB (its number or folder), or list; a command to "
                "submit stands after --");
  add_count(app, "--split", 1, 1'000'000, request->split,
            "Divide the launches of a run evenly into N tasks, by their expected cost");
  add_choice(app, "--each", {"node", "gpu-type", "gpu"}, request->each,
             "The whole command on each node, on one GPU of each type, or on each GPU");
  add_text(app, "--partition", "NAME", request->partition, "Slurm's (default: its default)");
  add_text(app, "--gres", "GRES", request->gres, "The resources of each task: gpu:1, gpu:h200:2");
  add_text(app, "--time", "TIME", request->time,
           "How long each task may take: 30 (minutes), 2:00:00");
  add_repeated(app, "--sbatch", "OPTION", request->options,
               "Any other option of sbatch: --sbatch '--qos=low'");
  add_text(app, "--folder", "FOLDER", request->folder,
           "Where the job is kept, on storage that the nodes see; warpmeter-jobs/TIME when not "
           "given");
  add_text(app, "--label", "TEXT", request->label, "A name for the runs, for report --run");
  add_flag(app, "--wait", request->wait, "Wait for the job's end, and exit as the command would");
  add_flag(app, "--dry-run", request->dry_run,
           "Show the tasks and the batch script, queue nothing");
  add_database(app, request->database, "With --split: the database with earlier durations");
  add_format(app, request->format);
  add_flag(app, "-q,--quiet", request->quiet, "Print no table and no remarks");
  return {&app, [request, &program, &app, words] {
            const std::size_t begin = words_before_program(program, words);
            if (begin < words.size()) {
              request->command.assign(words.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                                      words.end());
            }
            return submit_or_act(*request, app, words);
          }};
}

}  // namespace warpmeter::cli
