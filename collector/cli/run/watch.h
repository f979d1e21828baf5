// SPDX-License-Identifier: MIT
// `run FILE… --watch`: measured again at every save. Only launches whose code, geometry or
// arguments changed are run; a table that stays in place shows each figure with its change since
// the last save and since the start. Each round is a run of the database.
#pragma once

#include "base/error.h"
#include "collector/cli/backends.h"
#include "collector/cli/request/run_request.h"
#include "collector/run/session.h"

namespace warpmeter::cli {

/// Until Ctrl-C.
ExitCode watch(const RunRequest& request, const run::Options& options, const Backends& backends);

}  // namespace warpmeter::cli
