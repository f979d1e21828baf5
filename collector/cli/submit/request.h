// SPDX-License-Identifier: MIT
// The request of `warpmeter submit`, and the plan that it becomes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/lab/plan.h"
#include "collector/lab/slurm.h"
#include "collector/lab/split.h"

namespace warpmeter::cli {

/// As it was typed.
struct SubmitRequest {
  std::vector<std::string> words;    ///< before --: none, or an action and its job
  std::vector<std::string> command;  ///< after --
  std::string partition, gres, time, each, folder, label, database, format = "table";
  std::vector<std::string> options;  ///< --sbatch
  std::int64_t split = 0;
  bool wait = false, dry_run = false, quiet = false;
};

/// Refuses options that are wrong whatever the cluster has. Throws Error{usage}.
void check_options(const SubmitRequest& request);

/// The command and its division into tasks, against what there is on the cluster. Throws
/// Error{usage} for a command that does not measure or cannot be divided so, for a partition or GPU
/// that there is not.
lab::Plan plan_of(const SubmitRequest& request, const std::vector<lab::Node>& nodes);

/// A launch that one `run` would measure; `words` are those after "run".
struct PlannedLaunch {
  std::string line, family, variant;
  std::int64_t size = 0;
  double work = 0;  ///< bytes and operations
};
std::vector<PlannedLaunch> planned_launches(const std::vector<std::string>& words);

/// Throws Error{usage} where the words are no command that measures, or say what submit says.
void check_command(const std::vector<std::string>& command);

}  // namespace warpmeter::cli
