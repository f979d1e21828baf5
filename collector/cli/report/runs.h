// SPDX-License-Identifier: MIT
// The runs of a database as a table, for `runs` and `list runs`.
#pragma once

#include <string>

#include "reports/table/table.h"

namespace warpmeter::cli {

reports::Table runs_table(const std::string& database, bool is_for_terminal);

}  // namespace warpmeter::cli
