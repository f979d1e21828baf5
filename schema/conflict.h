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

/// What differs between a run here (`a`) and there (`b`); empty when nothing does.
std::string conflict_between(const Shapes& shapes, sqlite3* a, std::int64_t run_a, sqlite3* b,
                             std::int64_t run_b);

}  // namespace warpmeter::schema
