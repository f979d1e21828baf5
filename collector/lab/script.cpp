// SPDX-License-Identifier: MIT
#include "collector/lab/script.h"

#include <fmt/format.h>

#include <string_view>

#include "base/shell_line.h"
#include "base/with_noun.h"

namespace warpmeter::lab {
namespace {

std::string quoted(const std::string& word) { return shell_line(std::vector{word}); }

/// "#SBATCH --partition=lab", in quotation marks where its reader would take something for an end;
/// a remark where a line break cannot be said.
std::string directive(const std::string& option) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (option.find_first_of("\n\r") != std::string::npos) {
    return "# an option with a line break stands on sbatch's command line only\n";
  }
  if (option.find_first_not_of(plain) == std::string::npos) return "#SBATCH " + option + "\n";
  const std::size_t value = option.starts_with("--") ? option.find('=') + 1 : 0;
  std::string line = "#SBATCH " + option.substr(0, value) + '"';
  for (const char c : option.substr(value)) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  return line + "\"\n";
}

/// With a backslash in it Slurm takes no name of a file as a pattern: the script itself opens its
/// log.
bool opens_its_log(const std::string& folder) { return folder.find('\\') != std::string::npos; }

/// A log as sbatch is told of it; a % in the folder's name would stand for something to Slurm.
std::string output_option(const std::string& folder, const char* log) {
  if (opens_its_log(folder)) return "--output=/dev/null";
  std::string text;
  for (const char c : folder) text += c == '%' ? std::string("%%") : std::string(1, c);
  return "--output=" + text + "/logs/" + log;
}

/// As a comment; a line break in it ends no comment.
std::string comment(const std::string& text) {
  std::string line = "#   ";
  for (const char c : text) line += c == '\n' ? std::string("\n#   ") : std::string(1, c);
  return line + "\n";
}

/// The command that a person would have typed without Slurm: what runs are recorded with.
std::string typed(const Plan& plan) {
  std::vector<std::string> words = {"warpmeter"};
  words.insert(words.end(), plan.command.begin(), plan.command.end());
  return shell_line(words);
}

/// The command with what a task adds to it.
std::string command_line(const Plan& plan) {
  std::string line = "\"$warpmeter\" " + quoted(plan.command.front()) + " --db \"$at.db\"";
  line += " --as " + quoted(typed(plan));
  if (!plan.label.empty()) line += " --label " + quoted(plan.label);
  if (plan.is_run()) line += " --continue --no-progress";
  if (!plan.tasks.front().launches.empty()) line += " --launches \"$at.launches\"";
  const std::vector<std::string> rest(plan.command.begin() + 1, plan.command.end());
  return rest.empty() ? line : line + " \\\n  " + shell_line(rest);
}

std::string head_of_task(const Plan& plan, const std::string& folder) {
  const std::size_t count = plan.tasks.size();
  std::string text = "#!/bin/bash\n";
  text +=
      fmt::format("# {} of this command; what each does is in tasks/:\n", with_noun(count, "task"));
  text += comment("warpmeter " + shell_line(plan.command));
  text += "# By hand: sbatch job.sh, in this folder; when all have ended, bash merge.sh.\n";
  text +=
      "# Again, or for a part of the tasks: sbatch --array=3,7 job.sh. What is finished is kept.\n";
  std::vector<std::int64_t> all;
  for (const Task& task : plan.tasks) all.push_back(task.number);
  text += directive("--array=" + ranges(all));
  for (const std::string& option : task_options(plan, folder)) text += directive(option);
  if (plan.is_pinned()) {
    text += "# Where a task has to run, submit says on sbatch's command line:\n";
    for (const Task& task : plan.tasks) {
      text += comment(fmt::format("--array={}{}{}", task.number,
                                  task.node.empty() ? "" : " --nodelist=" + task.node,
                                  task.gres.empty() ? "" : " --gres=" + task.gres));
    }
  }
  return text;
}

}  // namespace

std::string task_name(std::int64_t number) { return fmt::format("{:04}", number); }

std::vector<std::string> words_of_option(const std::string& option) {
  const std::size_t blank = option.find_first_of(" \t");
  const std::size_t equals = option.find('=');
  if (blank == std::string::npos || equals < blank) return {option};
  const std::size_t value = option.find_first_not_of(" \t", blank);
  const std::string name = option.substr(0, blank);
  if (value == std::string::npos) return {name};
  if (option.starts_with("--")) return {name + "=" + option.substr(value)};
  return {name, option.substr(value)};
}

std::vector<std::string> task_options(const Plan& plan, const std::string& folder) {
  std::vector<std::string> options = {"--job-name=warpmeter", "--requeue", "--open-mode=append",
                                      output_option(folder, "%4a.log"), "--ntasks=1"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.push_back(name + value);
  };
  add("--partition=", plan.partition);
  add("--gres=", plan.gres);
  add("--time=", plan.time);
  for (const std::string& option : plan.options) {
    const std::vector<std::string> words = words_of_option(option);
    // "-A lab" is one word to the script, and -Alab means the same everywhere.
    options.push_back(words.size() == 2 ? words[0] + words[1] : words[0]);
  }
  return options;
}

std::vector<std::string> merge_options(const Plan& plan, const std::string& folder) {
  std::vector<std::string> options = {"--job-name=warpmeter-merge", "--requeue",
                                      "--open-mode=append", output_option(folder, "merge.log"),
                                      "--ntasks=1"};
  if (!plan.partition.empty()) options.push_back("--partition=" + plan.partition);
  for (const std::string& option : task_options(plan, folder)) {
    for (const char* name : {"--account=", "-A", "--qos=", "-q", "--reservation="}) {
      if (option.starts_with(name)) options.push_back(option);
    }
  }
  return options;
}

std::string task_script(const Plan& plan, const std::string& folder) {
  std::string text = head_of_task(plan, folder);
  text += fmt::format("\njob={}\nwarpmeter={}\n", quoted(folder), quoted(plan.program));
  text += R"SH(task=${SLURM_ARRAY_TASK_ID:-${1:?which task? give its number}}
printf -v at '%s/tasks/%04d' "$job" "$task"
node=${SLURMD_NODENAME:-$HOSTNAME}
)SH";
  if (opens_its_log(folder)) {
    text += "printf -v log '%s/logs/%04d.log' \"$job\" \"$task\"; exec >>\"$log\" 2>&1\n";
  }
  text += R"SH(
# Until it has ended, a task has no file .exit; .node says where it began last. What ended before it
# stored anything is tried again.
final=
if [ -e "$at.exit" ]; then final=$(<"$at.exit"); fi
if [ ! -e "$at.db" ] && [ "$final" != 0 ]; then final=; fi
case $final in 0 | 3 | 6) echo "task $task has ended already: $final"; exit "$final" ;; esac
rm -f "$at.exit"
if ! echo "$node" >"$at.node"; then echo "node $node cannot write to $job"; exit 5; fi
)SH";
  text +=
      fmt::format("if ! cd -- {}; then echo \"node $node does not see that folder\"; exit 5; fi\n",
                  quoted(plan.directory));
  bool any_gpu = false;
  for (const Task& task : plan.tasks) any_gpu |= task.gpu > 0;
  if (any_gpu) {
    text +=
        R"SH(# It got all GPUs of the node, so that nobody else measures there, and takes one of them.
gpus=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi --query-gpu=uuid --format=csv,noheader | paste -sd,)}
CUDA_VISIBLE_DEVICES=$(cut -d, -f "$(<"$at.gpu")" <<<"$gpus")
export CUDA_VISIBLE_DEVICES
)SH";
  }
  if (!plan.is_run()) {
    text += "rm -f \"$at.db\" \"$at.db-wal\" \"$at.db-shm\" # of a try that was cut off\n";
  }
  text += "\nstatus=0\n" + command_line(plan) + " || status=$?\n";
  text += R"SH(if [ "$status" -le 6 ]; then # else a signal ended it, and there is more to do
  echo "$status" >"$at.exit.new" && mv "$at.exit.new" "$at.exit"
fi
exit "$status"
)SH";
  return text;
}

std::string merge_script(const Plan& plan, const std::string& folder) {
  std::string text =
      "#!/bin/bash\n# Joins what the tasks measured in merged.db, made anew each time.\n";
  for (const std::string& option : merge_options(plan, folder)) text += directive(option);
  text += fmt::format("\nwarpmeter={}\ncd -- {} || exit 5\n", quoted(plan.program), quoted(folder));
  if (opens_its_log(folder)) text += "exec >>logs/merge.log 2>&1\n";
  std::size_t launches = 0;
  for (const Task& task : plan.tasks) launches += task.launches.size();
  const std::string one_run = launches == 0 ? ""
                                            : fmt::format(" \\\n  --one-run {} --planned {}",
                                                          quoted(typed(plan)), launches);
  text += R"SH(shopt -s nullglob
databases=(tasks/*.db)
if [ ${#databases[@]} -eq 0 ]; then echo "no task has measured anything"; exit 3; fi
new=merged.new.${SLURM_JOB_ID:-$$}.db
rm -f merged.new.*
status=0
"$warpmeter" merge "${databases[@]}" -o "$new" --skip-unreadable)SH";
  text += one_run;
  text += R"SH( || status=$?
if [ "$status" -eq 0 ]; then
  rm -f merged.db-wal merged.db-shm
  mv "$new" merged.db
fi
exit "$status"
)SH";
  return text;
}

std::string ranges(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace warpmeter::lab
