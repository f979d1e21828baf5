// SPDX-License-Identifier: MIT
// A timeline as a picture that stands still, for markdown: a row each, a pixel as strong as it is
// busy. Its size depends on the rows and pixels, not on the activities.
#pragma once

#include <string>

#include "reports/trace/timeline.h"

namespace warpmeter::reports::sections {

std::string timeline_svg(const Trace& trace, const Timeline& timeline, const std::string& title,
                         const std::string& description);

}  // namespace warpmeter::reports::sections
