// SPDX-License-Identifier: MIT
// Which launches of a run are alike (t_alike, schema/migrations/0015_alike.sql): whoever ends a run
// of very many launches says it, so that readers read one launch of each kind. Nothing is stored
// for runs that are read quickly without it. Readers then read launch by launch, and find the same.
//
// Where the counts of a kernel depend on its data, hardly two of its launches are alike. They are
// of one kind then, which says that their counts differ: of each launch a reader reads only these.
//
// Only runs that have ended have rows. A change of their launches takes the rows away first.
#pragma once

#include <cstdint>
#include <span>

#include "schema/alike/written.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {

/// A run with fewer launches is read launch by launch.
inline constexpr std::int64_t least_launches_alike = 10'000;
/// Launches a kind: with fewer, a reader gains too little.
inline constexpr std::int64_t least_alike_of_kind = 16;

/// Set in the number of a kind whose launches differ in the values of their counters alone.
inline constexpr std::uint32_t values_differ_bit = std::uint32_t{1} << 31;

/// Finds the launches of a run that are alike, and stores them in one transaction in place of what
/// is there. Reads the whole run: some seconds for a million launches. No transaction is open.
void keep_alike(sqlite3* db, std::int64_t run_id);

/// The same, where somebody has found them.
void keep_alike(sqlite3* db, std::int64_t run_id, std::span<const AlikePart> parts);

/// The same for each run that has ended.
void keep_alike_of_all_runs(sqlite3* db);

}  // namespace warpmeter::schema
