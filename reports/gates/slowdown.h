// SPDX-License-Identifier: MIT
// The gate of `check --baseline`: no launch is slower than in the baseline by more than a limit.
#pragma once

#include "reports/gates/check.h"

namespace warpmeter::reports {

/// Adds a finding for each launch that the baseline has too, and remarks on those it has not.
void add_slowdowns(const schema::Reader& reader, const CheckRequest& request, Check& check);

}  // namespace warpmeter::reports
