// SPDX-License-Identifier: MIT
// The plan of a job: the command, what of it each task does, and how Slurm is asked. It is written
// once, as plan.json, and never changed; everything else in the job's folder follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmeter::lab {

/// The words that one task adds to the common ones; empty: nothing.
struct Task {
  std::int64_t number = 0;            ///< from 1, as Slurm's array counts
  std::vector<std::string> launches;  ///< the launches of a command that was split
  double share = 1;                   ///< the share of the expected cost
  std::string node, gres;             ///< that it has to run on
  std::int64_t gpu = 0;               ///< the how-many-eth of the node's GPUs; 0: all that it got
};

struct Plan {
  std::string id;                    ///< tells jobs of warpmeter apart, in Slurm's comment
  std::string created;               ///< UTC
  std::string program;               ///< warpmeter, as the nodes find it
  std::string directory;             ///< where the command was typed
  std::vector<std::string> command;  ///< "run", "tune.yaml"
  std::string label;
  std::string division;               ///< how it was divided, in words
  std::string partition, gres, time;  ///< the partition of every task; empty: Slurm's own
  std::vector<std::string> options;   ///< native ones of sbatch
  std::vector<Task> tasks;

  bool is_pinned() const;  ///< tasks ask for nodes or GPUs of their own, so each is a job
  bool is_run() const { return command.front() == "run"; }
};

std::string to_json(const Plan& plan);

/// Throws Error{file} when it is none, or of a newer version.
Plan plan_from_json(const std::string& text, const std::string& name);

/// True if two plans are of the same command, asked for in the same way.
bool is_same_job(const Plan& a, const Plan& b);

}  // namespace warpmeter::lab
