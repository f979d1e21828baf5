// SPDX-License-Identifier: MIT
// The verdicts of `check` as SARIF. A broken gate is an error, one that cannot be judged is a
// warning. Gates that hold have no result: readers of SARIF would show one as a problem.
#pragma once

#include "reports/gates/check.h"
#include "reports/sarif.h"

namespace warpmeter::reports {

/// A rule for each metric that was checked. A result is at the costliest line, else at the
/// kernel's, else in the database, since GitHub refuses a result that is nowhere.
SarifLog sarif_of(const Check& check);

}  // namespace warpmeter::reports
