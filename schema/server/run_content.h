// SPDX-License-Identifier: MIT
// The content of a run, apart from the numbers that its database gave it: read once, it gives a
// digest, by which a run is compared with the same one on a server without reading that, and the
// names that its rows refer to. For this folder only.
//
// The digest is a sum over the rows, so that it does not depend on their order (launches' rows are
// sorted by numbers of counters, which differ), and over those columns of a row that are not NULL,
// so that a column that a later version adds changes no digest. It tells that two runs differ by
// mistake or by somebody's change, and is no proof against one who wants them to look alike.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>

#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema::server {

struct RunContent {
  std::string digest;
  std::int64_t first_launch = 0, last_launch = 0, launches = 0, rows = 0;
  std::set<std::int64_t> devices, counters, reasons, explanations;  ///< that its rows name
};

/// The rows of a run in a table, as a condition; ?1 is the run. Launches mostly have numbers
/// without a gap, which reads faster than one by one.
std::string rows_of_run(const TableShape& table, const RunContent& content);

class ContentReader {
 public:
  ContentReader(sqlite3* db, const Shapes& shapes) : db_(db), shapes_(shapes) {}
  RunContent read(std::int64_t run_id);

 private:
  struct Column;
  void add_rows(const TableShape& table, std::int64_t run_id, RunContent& content);
  std::uint64_t named(Reference reference, std::int64_t number, RunContent& content);
  std::uint64_t hash_of_row(const std::string& sql, std::int64_t number);

  sqlite3* db_;
  const Shapes& shapes_;
  struct Known {
    std::uint64_t hash = 0;
    std::int64_t run = 0;  ///< the last one that named it
  };
  std::unordered_map<std::int64_t, Known> known_[7];  ///< by Reference
  std::int64_t run_ = 0;
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace warpmeter::schema::server
