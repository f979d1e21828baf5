// SPDX-License-Identifier: MIT
// Is a run the same in two databases? Each column is compared as its content: numbers differ from
// database to database. For this folder only.
#pragma once

#include <cstdint>
#include <string>

#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {

/// The number of its first launch; 0 without launches. The others follow it.
std::int64_t first_launch(sqlite3* db, std::int64_t run_id);

/// A run where it is kept; `name` is of the database, for people.
struct RunAt {
  sqlite3* db = nullptr;
  std::int64_t run = 0;
  std::string name;
};

/// The first difference between a run in two databases, in people's words: "gld_sectors of
/// transpose/tiled at 1,024 is 5 in lab.db and 4 in mine.db". Empty when nothing does.
std::string conflict_between(const Shapes& shapes, const RunAt& a, const RunAt& b);

}  // namespace warpmeter::schema
