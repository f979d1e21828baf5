// SPDX-License-Identifier: MIT
// Sentences about the findings of `check`, which its formats share.
#pragma once

#include <string>

#include "reports/gates/check.h"

namespace warpmeter::reports {

/// "3 of 5 checks on run 1 on NVIDIA H200 hold, 2 are broken."
std::string summary_of(const Check& check);

/// "transpose/tiled at 1,024: gst_efficiency >= 90 is broken: it is 25, -65 (-72.2 %)"
std::string sentence_of(const Finding& finding);

}  // namespace warpmeter::reports
