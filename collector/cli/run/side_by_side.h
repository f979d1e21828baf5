// SPDX-License-Identifier: MIT
// Several GPUs of one host at once (`run -d all`): a process each, for timing and counting belong
// to one process and device, and one run that all of them store their launches in. The parent
// begins and ends the run; a part that dies leaves the launches of the others and its own finished
// ones.
#pragma once

#include <cstdint>
#include <vector>

#include "collector/cli/progress.h"
#include "collector/cli/request/run_request.h"
#include "collector/run/session.h"
#include "schema/records.h"

namespace warpmeter::cli {

/// `devices`: their ordinals; `record` as of a run that one process measures.
run::Summary measure_side_by_side(const RunRequest& request, schema::Run record,
                                  run::Options options, const std::vector<int>& devices,
                                  std::size_t launches_of_a_device, ProgressBar& bar);

/// The run that this process measures a part of; 0: it is no part.
std::int64_t run_of_part();
/// Makes what this part stores pass for its parent's, and has the part end with its parent.
void join_run(schema::Store& store);

}  // namespace warpmeter::cli
