// SPDX-License-Identifier: MIT
// Measures a plan into the database, with what a person sees of it meanwhile. A kernel that breaks
// the device's context, or hangs, leaves the rest of the run to a fresh process: this one is
// replaced by the same command, which takes the run over.
#pragma once

#include "base/output.h"
#include "collector/cli/progress.h"
#include "collector/cli/request/run_request.h"
#include "collector/cli/run/plan.h"
#include "collector/run/session.h"

namespace warpmeter::cli {

/// Does not return where a fresh process has to go on.
run::Summary measure_into(const RunRequest& request, const run::Choice& choice,
                          run::Options options, const Backends& backends, ProgressBar& bar,
                          Output& output);

}  // namespace warpmeter::cli
