// SPDX-License-Identifier: MIT
// The folder of a job, on storage that all nodes see:
//
//   plan.json       what the job is (plan.h)
//   job.sh merge.sh the batch scripts (script.h)
//   jobs            a line for each job that Slurm was given: its number, and its tasks or "merge"
//   tasks/0007.db   what a task measured; .launches: what it has to; .node: where it ran last;
//                   .exit: its exit code, once it has come to its end
//   logs/0007.log   what it said
//   merged.db       all of it
//
// Where a job's folder is stands in $XDG_STATE_HOME/warpmeter/jobs under each of its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/lab/plan.h"

namespace warpmeter::lab {

/// A job that Slurm was given.
struct Submission {
  std::int64_t job = 0;
  bool merges = false;
  std::vector<std::int64_t> tasks;  ///< empty where it merges
};

class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string merged() const { return path_ + "/merged.db"; }
  std::string probe() const { return path_ + "/probe"; }
  std::string log(std::int64_t task) const;
  /// ".db", ".exit", …
  std::string file(std::int64_t task, const char* suffix) const;

  bool has_plan() const;
  /// Makes the folder and what is in it; plan.json last, so that a folder with one is whole. Throws
  /// Error{usage} where the folder holds something else, Error{file}.
  void write(const Plan& plan) const;
  /// Throws Error{file}.
  Plan plan() const;
  /// Removes what write() made.
  void remove(const Plan& plan) const;

  std::vector<Submission> submissions() const;
  /// Adds it, and remembers for folder_of_job() where the job is.
  void add(const Submission& submission) const;

  /// None: the task has not come to its end.
  std::optional<int> exit_code(std::int64_t task) const;
  /// True if it has stored anything.
  bool has_stored(std::int64_t task) const;
  /// From its last beginning to its end, as Slurm writes it ("3:07"); empty: it has not ended.
  std::string elapsed(std::int64_t task) const;
  /// Where it began last; empty: it never did.
  std::string node(std::int64_t task) const;
  /// True if merged.db holds what the tasks have measured until now.
  bool is_merged(const Plan& plan) const;

 private:
  std::string path_;
};

/// The whole of a file; none where it cannot be read.
std::optional<std::string> content_of(const std::string& path);

/// Writes a file whole or not at all. Throws Error{file}.
void write_whole(const std::string& path, const std::string& text);

/// A job by one of Slurm's numbers, or by its folder. Throws Error{usage} where there is none, with
/// those that there are.
Folder find_job(const std::string& word);

/// The jobs that were submitted here and whose folders are still there, by their first number.
std::vector<std::pair<std::int64_t, Folder>> known_jobs();

}  // namespace warpmeter::lab
