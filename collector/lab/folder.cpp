// SPDX-License-Identifier: MIT
#include "collector/lab/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/named_files.h"
#include "base/new_file.h"
#include "base/numbers.h"
#include "collector/lab/script.h"

namespace warpmeter::lab {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw Error(ExitCode::file,
                fmt::format("the folder {} cannot be made: {}; choose another with --folder", path,
                            error.message()));
  }
}

/// Empty where there is no home either.
std::string registry() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/warpmeter/jobs";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return std::string(home) + "/.local/state/warpmeter/jobs";
}

std::vector<std::int64_t> numbers_of(const std::string& ranges) {
  std::vector<std::int64_t> numbers;
  std::istringstream parts(ranges);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = read_all<std::int64_t>(part.substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : read_all<std::int64_t>(part.substr(dash + 1));
    if (!first || !last) continue;
    for (std::int64_t number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::string first_line(const std::string& path) {
  const std::string text = content_of(path).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<std::string> content_of(const std::string& path) {
  return read_regular_file(path).text;
}

void write_whole(const std::string& path, const std::string& text) {
  NewFile file(path, "choose another folder with --folder");
  file.write(text);
  file.keep();
}

std::string Folder::file(std::int64_t task, const char* suffix) const {
  return fmt::format("{}/tasks/{}{}", path_, task_name(task), suffix);
}

std::string Folder::log(std::int64_t task) const {
  return fmt::format("{}/logs/{}.log", path_, task_name(task));
}

bool Folder::has_plan() const {
  std::error_code ignored;
  return fs::exists(path_ + "/plan.json", ignored);
}

void Folder::write(const Plan& plan) const {
  std::error_code error;
  if (fs::exists(path_, error) &&
      (!fs::is_directory(path_, error) || !fs::is_empty(path_, error))) {
    throw Error(ExitCode::usage,
                fmt::format("{} holds something else already: choose another --folder", path_));
  }
  make_folder(path_ + "/tasks");
  make_folder(path_ + "/logs");
  for (const Task& task : plan.tasks) {
    if (!task.launches.empty()) {
      write_whole(file(task.number, ".launches"),
                  fmt::format("{}\n", fmt::join(task.launches, "\n")));
    }
    if (task.gpu > 0) write_whole(file(task.number, ".gpu"), std::to_string(task.gpu) + "\n");
  }
  write_whole(path_ + "/job.sh", task_script(plan, path_));
  write_whole(path_ + "/merge.sh", merge_script(plan, path_));
  write_whole(probe(), plan.id + "\n");
  write_whole(path_ + "/plan.json", to_json(plan));
}

Plan Folder::plan() const {
  const std::string name = path_ + "/plan.json";
  const std::optional<std::string> text = content_of(name);
  if (!text) {
    throw Error(ExitCode::file, fmt::format("{} cannot be read: {}", name, std::strerror(errno)));
  }
  return plan_from_json(*text, name);
}

void Folder::remove(const Plan& plan) const {
  std::error_code ignored;
  for (const Task& task : plan.tasks) {
    for (const char* suffix : {".launches", ".gpu"}) fs::remove(file(task.number, suffix), ignored);
  }
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    if (entry.path().filename().string().starts_with("probe")) fs::remove(entry.path(), ignored);
  }
  for (const char* name : {"/job.sh", "/merge.sh", "/plan.json", "/tasks", "/logs", ""}) {
    fs::remove(path_ + name, ignored);
  }
}

std::vector<Submission> Folder::submissions() const {
  std::istringstream lines(content_of(path_ + "/jobs").value_or(""));
  std::vector<Submission> all;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const auto job = read_all<std::int64_t>(line.substr(0, blank));
    if (!job || blank == std::string::npos) continue;
    const std::string what = line.substr(blank + 1);
    all.push_back(
        {*job, what == "merge", what == "merge" ? std::vector<std::int64_t>{} : numbers_of(what)});
  }
  return all;
}

void Folder::add(const Submission& submission) const {
  const std::string line = fmt::format("{} {}\n", submission.job,
                                       submission.merges ? "merge" : ranges(submission.tasks));
  const std::string name = path_ + "/jobs";
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool is_written =
      file >= 0 && write_all(file, line, name, "the job is in Slurm's queue all the same");
  if (file >= 0) close(file);
  if (!is_written) {
    throw Error(ExitCode::file, fmt::format("{} cannot be written, though job {} is in Slurm's "
                                            "queue: {}",
                                            name, submission.job, std::strerror(errno)));
  }
  // A job that cannot be remembered is found by its folder.
  const std::string known = registry();
  std::error_code error;
  if (known.empty() || (fs::create_directories(known, error), error)) return;
  try {
    write_whole(fmt::format("{}/{}", known, submission.job), path_ + "\n");
  } catch (const Error&) {
  }
}

std::optional<int> Folder::exit_code(std::int64_t task) const {
  return read_all<int>(first_line(file(task, ".exit")));
}

std::string Folder::node(std::int64_t task) const { return first_line(file(task, ".node")); }

bool Folder::has_stored(std::int64_t task) const {
  std::error_code ignored;
  return fs::exists(file(task, ".db"), ignored);
}

std::string Folder::elapsed(std::int64_t task) const {
  std::error_code none_began, none_ended;
  const auto began = fs::last_write_time(file(task, ".node"), none_began);
  const auto ended = fs::last_write_time(file(task, ".exit"), none_ended);
  if (none_began || none_ended || ended < began) return "";
  const std::int64_t all = std::chrono::duration_cast<std::chrono::seconds>(ended - began).count();
  const std::int64_t days = all / 86400, hours = all / 3600 % 24, minutes = all / 60 % 60;
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, all % 60);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, all % 60);
  return fmt::format("{}:{:02}", minutes, all % 60);
}

bool Folder::is_merged(const Plan& plan) const {
  std::error_code error;
  const auto merged_at = fs::last_write_time(merged(), error);
  if (error) return false;
  return std::all_of(plan.tasks.begin(), plan.tasks.end(), [&](const Task& task) {
    for (const char* suffix : {".db", ".exit"}) {
      const auto written_at = fs::last_write_time(file(task.number, suffix), error);
      if (!error && written_at > merged_at) return false;
    }
    return true;
  });
}

std::vector<std::pair<std::int64_t, Folder>> known_jobs() {
  std::map<std::string, std::int64_t> first;  // for each folder
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(registry(), ignored)) {
    const auto number = read_all<std::int64_t>(entry.path().filename().string());
    const std::optional<std::string> text = content_of(entry.path().string());
    if (!number || !text || text->empty()) continue;
    const Folder folder(text->substr(0, text->size() - 1));
    if (!folder.has_plan()) continue;
    const auto [place, is_new] = first.try_emplace(folder.path(), *number);
    if (!is_new) place->second = std::min(place->second, *number);
  }
  std::vector<std::pair<std::int64_t, Folder>> jobs;
  for (const auto& [path, number] : first) jobs.emplace_back(number, Folder(path));
  std::sort(jobs.begin(), jobs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return jobs;
}

Folder find_job(const std::string& word) {
  if (const auto number = read_all<std::int64_t>(word)) {
    const std::optional<std::string> text = content_of(fmt::format("{}/{}", registry(), *number));
    if (text && !text->empty()) {
      const Folder folder(text->substr(0, text->size() - 1));
      if (folder.has_plan()) return folder;
      throw Error(ExitCode::usage, fmt::format("job {} was in {}, which is not there any more",
                                               *number, folder.path()));
    }
  } else {
    std::error_code error;
    const Folder folder(fs::weakly_canonical(fs::absolute(word), error).string());
    if (!error && folder.has_plan()) return folder;
  }
  std::vector<std::int64_t> numbers;
  for (const auto& [number, folder] : known_jobs()) numbers.push_back(number);
  const std::string known = numbers.empty() ? "none was submitted here"
                                            : fmt::format("there are {}", fmt::join(numbers, ", "));
  throw Error(ExitCode::usage, fmt::format("there is no job '{}': {}; a job that was submitted "
                                           "elsewhere is named by its folder",
                                           word, known));
}

}  // namespace warpmeter::lab
