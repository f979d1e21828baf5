// SPDX-License-Identifier: MIT
// The life of the file: opened, recognised, brought to this program's version, and rid of runs
// whose process died. For this folder only.
#pragma once

#include <string>

#include "schema/sqlite.h"
#include "schema/view_sql.h"

namespace warpmeter::schema {

/// "WPMR" in SQLite's header: the file is warpmeter's and not another application's.
constexpr std::int64_t application_id = 0x57504D52;

/// Creates the file when it is missing or empty, migrates it, marks interrupted runs. Refuses one
/// that a short look finds damaged.
Handle open_for_writing(const std::string& path);

struct ReadHandles {
  Handle keeper;  ///< empty where the file cannot be written; close it last
  Handle db;      ///< read-only
};

/// Migrates and marks interrupted runs where the file can be written. Never creates a file.
ReadHandles open_for_reading(const std::string& path);

/// A connection to read from that leaves the file as it is, to the last byte: an older one is
/// migrated in a private copy, and dead runs only show as interrupted.
Handle open_untouched(const std::string& path);

/// A read-only connection to another program's database, of which nothing is trusted; the file
/// stays as it is.
Handle open_foreign(const std::string& path);

/// Makes an empty database what this program's are: its tables, views and catalogue.
void make_current(sqlite3* db);

/// Changes when a view, the catalogue or `more` does (FNV-1a, 64 bits).
std::string fingerprint_of(Dialect dialect, std::string_view more = "");

/// Throws Error{usage} for a label that begins another run's UUID.
void check_label_is_free(sqlite3* db, std::string_view label);

/// The number of a device; adds a missing one. The caller holds a transaction.
std::int64_t number_of_device(PreparedOnce& prepared, const Device& device);

}  // namespace warpmeter::schema
