// SPDX-License-Identifier: MIT
// Runs whose process died without a word. They are marked where the file can be written, and only
// shown so where it cannot. For this folder only.
#pragma once

#include "schema/sqlite.h"

namespace warpmeter::schema {

/// Writes the outcome 'interrupted' and its reason. Should a process live after all, it still ends
/// its run.
void mark_interrupted(sqlite3* db);

/// For a connection that only reads: temporary views in front of t_run and runs show such runs as
/// interrupted. Call it before `query_only` is switched on.
void show_interrupted(sqlite3* db);

}  // namespace warpmeter::schema
