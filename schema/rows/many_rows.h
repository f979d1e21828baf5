// SPDX-License-Identifier: MIT
// Rows of one table, many by a statement. For each statement SQLite opens the table and its indexes
// and looks for the place of the row: that takes longer than a short row itself.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {

/// Collects rows, and writes them by statements of 64, of 8 and of one.
template <class... Columns>
class ManyRows {
 public:
  using Row = std::tuple<Columns...>;

  /// `columns`: "a, b".
  ManyRows(sqlite3* db, const char* table, const char* columns)
      : db_(db), insertion_(insertion(table, columns)) {}

  /// The row is written by flush() at the latest. Its texts, if it has any, have to live till then.
  void add(const Row& row) {
    rows_.push_back(row);
    if (rows_.size() == most_together) flush();
  }

  void flush() {
    std::span<const Row> rest(rows_);
    write<most_together>(rest, many_);
    write<std::size_t{8}>(rest, some_);
    write<std::size_t{1}>(rest, one_);
    rows_.clear();
  }

  /// Drops what is not written, after a failure.
  void forget() { rows_.clear(); }

 private:
  static constexpr std::size_t most_together = 64;

  /// Writes `count` rows by a statement, as long as there are as many.
  template <std::size_t count>
  void write(std::span<const Row>& rest, std::optional<Statement>& statement) {
    for (; rest.size() >= count; rest = rest.subspan(count)) {
      if (!statement) statement.emplace(db_, text_of(count));
      int index = 0;
      for (const Row& row : rest.first(count)) {
        std::apply([&](const auto&... column) { (statement->bind(++index, column), ...); }, row);
      }
      while (statement->step()) {
      }
    }
  }

  std::string text_of(std::size_t count) const {
    std::string marks = "(?";
    for (std::size_t i = 1; i < sizeof...(Columns); ++i) marks += ", ?";
    marks += ')';
    std::string text = insertion_;
    for (std::size_t i = 1; i < count; ++i) text += ", " + marks;
    return text;
  }

  sqlite3* db_;
  std::string insertion_;
  std::optional<Statement> many_, some_, one_;
  std::vector<Row> rows_;
};

}  // namespace warpmeter::schema
