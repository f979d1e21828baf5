// SPDX-License-Identifier: MIT
// Rows in PostgreSQL's binary COPY format, to a server and from it: numbers are their bytes, so
// that every double arrives as it was. A value is a 64-bit integer, a double or a text; there are
// no other columns. For this folder only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/server/connection.h"
#include "schema/sqlite.h"

namespace warpmeter::schema::server {

/// The type of a column, as PRAGMA table_info says it.
enum class Kind { integer, real, text };
std::vector<Kind> kinds_of(sqlite3* db, const std::string& table,
                           const std::vector<std::string>& columns);

/// Rows into one table; what was put arrives with finish(). It needs as much memory as one chunk.
class RowsThere {
 public:
  RowsThere(Connection& server, const std::string& table, const std::vector<std::string>& columns);

  void begin_row();  ///< then each of its columns
  void put(std::int64_t value);
  void put(double value);
  void put(std::string_view text);
  void put_null();
  /// A column of a row here, as it is.
  void put(const Statement& row, int column, Kind kind);
  void finish();

 private:
  void append(std::uint64_t bits, int bytes);

  Connection& server_;
  std::int16_t columns_;
  std::string chunk_;
};

/// The rows of `select` on the server into a statement with a parameter for each column, one after
/// the other; `on_row` sees the integers of each (0 for others). Their number.
std::int64_t rows_here(Connection& server, const std::string& select, std::span<const Kind> kinds,
                       Statement& insert,
                       const std::function<void(std::span<const std::int64_t>)>& on_row);

}  // namespace warpmeter::schema::server
