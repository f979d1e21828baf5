// SPDX-License-Identifier: MIT
// The tables and views on a server. Both follow from SQLite's: the migrations are executed in
// memory, and what they make is made there too, so that a migration says a change once; of its own
// the server has numbers and t_comparison, the rows of a view (functions.sql). Tables of a
// run lie in parts by the month in which it began, which its number begins with (functions.sql);
// views and the catalogue's rows are this program's, as in a file. For this folder only.
//
// A migration that changes rows, and does not only add tables and columns, needs a statement for
// the server beside it: none did since there are servers.
#pragma once

#include <string>

#include "schema/server/connection.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema::server {

/// The column by whose value a table lies in parts: "launch_id", "run_id", or "" for those that all
/// runs share.
std::string part_column(const TableShape& table);

/// Is the server ready for this program? Throws Error{file} with what to do when it was never
/// prepared, or is of an older or newer version.
void check_version(Connection& server);

/// Were its views and metrics made by this very program?
bool has_own_views(Connection& server);

/// Prepares an empty server, or brings it to this program's version and views, in one transaction;
/// says what it did in a few words, "" for nothing. Throws Error{file} for a newer one.
std::string migrate(Connection& server);

}  // namespace warpmeter::schema::server
