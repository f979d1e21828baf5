// SPDX-License-Identifier: MIT
// nvprof's tables of --source-level-analysis: accesses of source lines, executions of machine
// instructions. For this folder only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "schema/nvprof_file/export.h"
#include "schema/nvprof_file/tables.h"
#include "schema/store.h"

namespace warpmeter::schema {

/// A row of the table KERNEL.
struct NvprofLaunch {
  std::int64_t correlation = 0;
  std::string kernel;  ///< as the machine code has it
};
using NvprofLaunches = std::map<std::int64_t, NvprofLaunch>;  ///< by the launch's number

void write_nvprof_lines(const Reader& reader, const Parameters& run, sqlite3* db,
                        NvprofTexts& texts, const NvprofLaunches& launches,
                        const NvprofSourceLevel& source_level);

}  // namespace warpmeter::schema
