// SPDX-License-Identifier: MIT
// The two batch scripts of a job. A person can read them, and run them without `submit`: sbatch
// job.sh in the job's folder, then merge.sh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/lab/plan.h"

namespace warpmeter::lab {

/// The script of a task. It may run any number of times: what it finished is kept. `folder`: the
/// job's.
std::string task_script(const Plan& plan, const std::string& folder);

/// Joins what the tasks measured in merged.db, made anew each time.
std::string merge_script(const Plan& plan, const std::string& folder);

/// The name of a task's files: "0007".
std::string task_name(std::int64_t number);

/// The options of sbatch for every task, also where the script cannot say it (a line break in it).
std::vector<std::string> task_options(const Plan& plan, const std::string& folder);

/// The options of sbatch for merging: whom it is charged to, and nothing of what measuring needs.
std::vector<std::string> merge_options(const Plan& plan, const std::string& folder);

/// A native option as it is typed ("--qos low", "-A lab") as words of a command line.
std::vector<std::string> words_of_option(const std::string& option);

/// "1-4,7" for 1, 2, 3, 4, 7.
std::string ranges(const std::vector<std::int64_t>& numbers);

}  // namespace warpmeter::lab
