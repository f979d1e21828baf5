// The life of the file: opened, recognised, brought to this program's version, and rid of runs
// whose process died. For this folder only.
#pragma once

#include <string>

#include "schema/sqlite.h"

namespace warpmeter::schema {

/// "WPMR" in SQLite's header: the file is warpmeter's and not another application's.
constexpr std::int64_t application_id = 0x57504D52;

/// Creates the file when it is missing or empty, migrates it, marks interrupted runs.
Handle open_for_writing(const std::string& path);

struct ReadHandles {
  Handle keeper;  ///< empty where the file cannot be written; close it last
  Handle db;      ///< read-only
};

/// Migrates and marks interrupted runs where the file can be written. Never creates a file.
ReadHandles open_for_reading(const std::string& path);

}  // namespace warpmeter::schema
