// SPDX-License-Identifier: MIT
#include "collector/lab/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"
#include "collector/lab/process.h"

namespace warpmeter::lab {
namespace {

constexpr const char* no_slurm =
    "submit needs Slurm's commands, so type it where jobs are submitted (a login node)";

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

Error no_answer(const std::string& program, const Answer& answer) {
  return {ExitCode::no_hardware,
          fmt::format("{} does not answer, so submit where it does (a login node): {}", program,
                      complaint(answer))};
}

std::string joined(const std::vector<std::int64_t>& jobs) {
  return fmt::format("{}", fmt::join(jobs, ","));
}

/// "COMPLETED", "CANCELLED by 1000" → its first word.
std::string state_of(const std::string& text) { return text.substr(0, text.find(' ')); }

std::vector<QueuedTask> from_squeue(const std::vector<std::int64_t>& jobs) {
  const Answer answer = ask(
      {"squeue", "-h", "-r", "-t", "all", "-j", joined(jobs), "-o", "%F|%K|%T|%r|%N|%M"}, no_slurm);
  std::vector<QueuedTask> tasks;
  if (answer.status != 0) {
    if (answer.error.find("Invalid job id") != std::string::npos) return tasks;
    throw no_answer("squeue", answer);
  }
  for (const std::string& line : parts_of(answer.output, '\n')) {
    const std::vector<std::string> fields = parts_of(line + "|.", '|');
    if (fields.size() < 7) continue;
    QueuedTask task;
    task.job = read_all<std::int64_t>(fields[0]).value_or(0);
    task.task = read_all<std::int64_t>(fields[1]).value_or(0);
    task.state = fields[2];
    task.reason = fields[3] == "None" ? "" : fields[3];
    task.node = fields[4];
    task.elapsed = fields[5];
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Adds jobs that squeue has forgotten. A cluster without accounting tells nothing.
void add_from_sacct(const std::vector<std::int64_t>& jobs, std::vector<QueuedTask>& tasks) {
  Answer answer;
  try {
    answer =
        ask({"sacct", "-n", "-P", "-X", "-j", joined(jobs), "-o", "JobID,State,NodeList,Elapsed"},
            no_slurm);
  } catch (const Error&) {
    return;
  }
  if (answer.status != 0) return;
  for (const std::string& line : parts_of(answer.output, '\n')) {
    const std::vector<std::string> fields = parts_of(line, '|');
    if (fields.size() < 4) continue;
    QueuedTask task;
    const std::size_t underscore = fields[0].find('_');
    task.job = read_all<std::int64_t>(fields[0].substr(0, underscore)).value_or(0);
    if (underscore != std::string::npos) {
      task.task = read_all<std::int64_t>(fields[0].substr(underscore + 1)).value_or(0);
    }
    task.state = state_of(fields[1]);
    task.node = fields[2];
    task.elapsed = fields[3];
    tasks.push_back(std::move(task));
  }
}

}  // namespace

bool Node::is_usable() const {
  for (const char* bad : {"down", "drain", "fail", "inval", "power", "unk", "maint"}) {
    if (state.find(bad) != std::string::npos) return false;
  }
  return state.find('*') == std::string::npos;  // it does not answer
}

std::map<std::string, std::int64_t> gpus_of(const std::string& gres) {
  std::map<std::string, std::int64_t> gpus;
  for (std::string part : parts_of(gres, ',')) {
    part = part.substr(0, part.find('('));
    const std::vector<std::string> words = parts_of(part, ':');
    if (words.empty() || words[0] != "gpu") continue;
    const std::optional<std::int64_t> last =
        words.size() > 1 ? read_all<std::int64_t>(words.back()) : std::nullopt;
    const bool has_type = words.size() == 3 || (words.size() == 2 && !last);
    gpus[has_type ? words[1] : ""] += last.value_or(1);
  }
  return gpus;
}

std::vector<Node> nodes() {
  const Answer answer = ask({"sinfo", "-h", "-N", "-o", "%N|%P|%T|%G"}, no_slurm);
  if (answer.status != 0) throw no_answer("sinfo", answer);
  std::vector<Node> all;
  for (const std::string& line : parts_of(answer.output, '\n')) {
    const std::vector<std::string> fields = parts_of(line, '|');
    if (fields.size() < 4) continue;
    Node node{fields[0], fields[1], fields[2], false, gpus_of(fields[3])};
    node.is_default_partition = node.partition.ends_with('*');
    if (node.is_default_partition) node.partition.pop_back();
    all.push_back(std::move(node));
  }
  return all;
}

bool QueuedTask::is_waiting() const {
  static const std::set<std::string_view> states = {"PENDING",     "REQUEUED",     "REQUEUE_HOLD",
                                                    "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
  return states.contains(state);
}

bool QueuedTask::is_running() const {
  static const std::set<std::string_view> states = {"RUNNING",   "COMPLETING", "CONFIGURING",
                                                    "SUSPENDED", "STOPPED",    "SIGNALING",
                                                    "STAGE_OUT", "RESIZING"};
  return states.contains(state);
}

std::vector<QueuedTask> queued(const std::vector<std::int64_t>& jobs) {
  if (jobs.empty()) return {};
  std::vector<QueuedTask> tasks = from_squeue(jobs);
  std::vector<std::int64_t> forgotten;
  for (const std::int64_t job : jobs) {
    const bool is_known = std::any_of(tasks.begin(), tasks.end(),
                                      [&](const QueuedTask& task) { return task.job == job; });
    if (!is_known) forgotten.push_back(job);
  }
  if (!forgotten.empty()) add_from_sacct(forgotten, tasks);
  return tasks;
}

std::vector<std::int64_t> jobs_with_comment(const std::string& comment) {
  const Answer answer = ask({"squeue", "-h", "-t", "all", "--me", "-o", "%F|%k"}, no_slurm);
  if (answer.status != 0) throw no_answer("squeue", answer);
  std::set<std::int64_t> jobs;
  for (const std::string& line : parts_of(answer.output, '\n')) {
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos || line.substr(bar + 1) != comment) continue;
    if (const auto job = read_all<std::int64_t>(line.substr(0, bar))) jobs.insert(*job);
  }
  return {jobs.begin(), jobs.end()};
}

std::int64_t submit(const std::string& folder, const std::vector<std::string>& options,
                    const std::string& script) {
  std::vector<std::string> words = {"sbatch", "--parsable", "--chdir=" + folder};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(folder + "/" + script);
  const Answer answer = ask(words, no_slurm);
  const std::string number = answer.output.substr(0, answer.output.find_first_of(";\n"));
  const std::optional<std::int64_t> job = read_all<std::int64_t>(number);
  if (answer.status == 0 && job) return *job;
  const std::string said = complaint(answer);
  const bool is_away = said.find("contact slurm controller") != std::string::npos ||
                       said.find("onnection") != std::string::npos;
  if (is_away) throw no_answer("sbatch", answer);
  throw Error(ExitCode::usage, fmt::format("Slurm refuses the job: {}", said));
}

void cancel(const std::vector<std::int64_t>& jobs) {
  std::vector<std::string> words = {"scancel"};
  for (const std::int64_t job : jobs) words.push_back(std::to_string(job));
  const Answer answer = ask(words, no_slurm);
  if (answer.status != 0) throw no_answer("scancel", answer);
}

Sight look(const std::string& probe, const std::string& words, const std::string& program,
           const std::string& directory, const std::vector<std::string>& options) {
  constexpr const char* script = R"SH(n=${SLURMD_NODENAME:-$(hostname)}
if [ "$(cat -- "$1" 2>/dev/null)" != "$2" ]; then echo "missing $n the folder of the job"
elif ! : 2>/dev/null >"$1.$n"; then echo "missing $n permission to write into the folder of the job"
elif ! [ -x "$3" ]; then echo "missing $n the program $3"
elif ! cd -- "$4" 2>/dev/null; then echo "missing $n the folder $4"
else echo "sees $n"; fi)SH";
  std::vector<std::string> srun = {"srun", "--quiet", "--ntasks=1", "--chdir=/"};
  srun.insert(srun.end(), options.begin(), options.end());
  // After the others, so that these count.
  srun.insert(srun.end(), {"--time=1", "--immediate=5", "--job-name=warpmeter-probe", "/bin/sh",
                           "-c", script, "sh", probe, words, program, directory});
  const Answer answer = ask(srun, no_slurm);
  Sight sight;
  for (const std::string& line : parts_of(answer.output, '\n')) {
    const std::size_t first = line.find(' ');
    if (first == std::string::npos) continue;
    const std::size_t second = std::min(line.find(' ', first + 1), line.size());
    const std::string verdict = line.substr(0, first);
    if (verdict != "sees" && verdict != "missing") continue;
    sight.node = line.substr(first + 1, second - first - 1);
    if (verdict == "missing") sight.missing = line.substr(std::min(second + 1, line.size()));
    return sight;
  }
  sight.words = complaint(answer);
  return sight;
}

}  // namespace warpmeter::lab
