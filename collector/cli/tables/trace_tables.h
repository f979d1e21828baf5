// SPDX-License-Identifier: MIT
// `profile --trace` and `--trace-api`: one row an activity, in the order of time.
#pragma once

#include <functional>
#include <string_view>

#include "collector/cli/tables/profile_tables.h"
#include "reports/table/table.h"
#include "reports/trace/trace.h"

namespace warpmeter::cli {

/// Gives `write` the trace piece by piece: as `table` as nvprof did, with units that scale; in
/// other formats the columns of the view `activities`, in ns and bytes. `write` returns false when
/// nobody wants more.
void write_trace(const reports::Trace& trace, reports::Format format, KernelNameBase base,
                 const std::function<bool(std::string_view)>& write);

}  // namespace warpmeter::cli
