// SPDX-License-Identifier: MIT
// The open questions of a finished run: which launches were verified, and against what; what was
// not run; which metrics have no value.
#pragma once

#include <cstdint>

#include "collector/cli/request/run_request.h"
#include "collector/run/selection.h"

namespace warpmeter::cli {

/// "verified: 12 of 12 launches against the CPU reference"
void say_verified(const RunRequest& request, const run::Choice& choice, std::int64_t run_id);

/// Says which metrics stayed without a value; throws Error{nothing} when all did.
void check_answers(const RunRequest& request, std::int64_t run_id);

}  // namespace warpmeter::cli
