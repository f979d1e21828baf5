// SPDX-License-Identifier: MIT
// Runs of a server in a temporary SQLite database with the server's own numbers: from there they
// are merged or compared as those of any other database. For this folder only.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "schema/server/connection.h"
#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema::server {

class RunsHere {
 public:
  /// Makes the database at `path`.
  RunsHere(Connection& server, const std::string& path);

  /// Adds one run; how many rows it has, without those of explanations, which runs share.
  std::int64_t take(std::int64_t run_there);
  sqlite3* database() const { return db_.get(); }

 private:
  std::int64_t copy(const TableShape& table, const std::string& condition);
  void take_named(const TableShape& table, const char* key, std::set<std::int64_t>& wanted,
                  std::set<std::int64_t>& taken);

  Connection& server_;
  Handle db_;
  Shapes shapes_;
  std::set<std::int64_t> wanted_[7], taken_[7];  ///< by Reference
};

}  // namespace warpmeter::schema::server
