// SPDX-License-Identifier: MIT
// A planned job and Slurm: put into the queue, completed, waited for, shown.
#pragma once

#include <cstdint>

#include "collector/lab/folder.h"
#include "collector/lab/plan.h"
#include "collector/lab/progress.h"
#include "reports/table/table.h"

namespace warpmeter::cli {

/// The folder has to be seen by a node. Says so where no node was free to look; throws Error{file}
/// where one does not see it.
void check_storage(const lab::Folder& folder, const lab::Plan& plan, bool quiet);

/// Queues the tasks that need a run and wait for none, then the merging; nothing where nothing is
/// left to do.
void queue_rest(const lab::Folder& folder, const lab::Plan& plan, bool quiet);

/// The number that names the job: the first that Slurm gave it.
std::int64_t number_of(const lab::Folder& folder);

/// Until nothing of the job waits or runs; with a progress bar.
lab::JobProgress wait_for_end(const lab::Folder& folder, const lab::Plan& plan, bool quiet);

reports::Table status_table(const lab::Plan& plan, const lab::JobProgress& progress);

/// Prints failures to standard error; nothing where all did, or while tasks wait or run.
void say_what_failed(const lab::Folder& folder, const lab::JobProgress& progress);

/// Prints the tasks' results and the next command to standard error.
void say_what_became(const lab::Folder& folder, const lab::Plan& plan,
                     const lab::JobProgress& progress);

}  // namespace warpmeter::cli
