// SPDX-License-Identifier: MIT
// Are the tables, indexes and views in a file those that warpmeter makes? A database from somebody
// else may hold triggers that remove rows, views that show other figures or never end, tables that
// compute. For this folder only.
#pragma once

#include <functional>
#include <string>

#include "schema/sqlite.h"

namespace warpmeter::schema {

/// SQLite's names do not mind their case.
std::string lower_case(std::string text);

/// Makes a connection trust nothing that the file says: no triggers, no functions with effects in
/// its views and tables, no writing to its schema, no extensions, limits on what a statement needs.
void distrust(sqlite3* db);

/// Throws Error{file} with what is not as warpmeter makes it, and what to do. Tables and views
/// under other names are their owner's business, also their triggers, which do not fire here. Our
/// views matter where the file says that this program made them: `says_current` is asked once the
/// tables are known to be as they should. Others are replaced before anything reads them. Returns
/// true if the views are ours too, whatever the file says.
bool refuse_changed_objects(sqlite3* db, const std::string& path,
                            const std::function<bool(sqlite3*)>& says_current);

/// Are all of this program's views there?
bool has_all_views(sqlite3* db);

}  // namespace warpmeter::schema
