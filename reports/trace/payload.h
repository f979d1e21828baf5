// SPDX-License-Identifier: MIT
// The activities of a timeline as html/timeline.js reads them: compressed, in base64.
//
// Inside is a JSON text with its length before it: begin_ns, end_ns, the rows (group, name, lines)
// and the names with their kinds. Then, for each line of each row: how many activities it has,
// their starts, each as the distance from the one before it, their durations, the numbers of their
// names. All numbers are varints (seven bits a byte, the low ones first). A line holds what does
// not overlap: a lane and a depth.
#pragma once

#include <string>

#include "reports/trace/timeline.h"

namespace warpmeter::reports {

std::string timeline_payload(const Trace& trace, const Timeline& timeline);

}  // namespace warpmeter::reports
