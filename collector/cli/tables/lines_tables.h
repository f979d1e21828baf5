// SPDX-License-Identifier: MIT
// Tables of the view `lines`: what each source line of a launch costs, the worst first.
#pragma once

#include <cstdint>
#include <string>

#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::cli {

/// `launch_id` 0: all of the run. For people: a place a row; else columns for programs.
reports::Table lines_table(const schema::Reader& reader, std::int64_t run_id,
                           std::int64_t launch_id, bool for_people);

/// The worst launch of a kernel has the most transactions; of several the first.
enum class ShownLaunches { all, worst_of_kernel };

/// --lines: a heading and a table each launch that has lines, for a terminal of this width (0:
/// none); empty when none has.
std::string lines_text(const schema::Reader& reader, std::int64_t run_id, ShownLaunches which,
                       std::size_t width);

}  // namespace warpmeter::cli
