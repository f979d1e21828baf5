// SPDX-License-Identifier: MIT
// Rows as they come: an answer of any length in little memory. CSV and JSON are the same text that
// a whole table would be. Text for people is laid out in blocks of thousands of rows, each with its
// headings, for columns cannot be lined up before their rows are known.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/table/exact_rows.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

class RowStream {
 public:
  /// Takes the next piece of text; false when nobody wants more.
  using Sink = std::function<bool(std::string_view text)>;

  /// `width` as for render. Throws Error{usage} later, when a format that is one document (html)
  /// gets more rows than a block has.
  RowStream(Format format, std::size_t width, Sink sink);

  void columns(std::vector<std::string> names);
  /// False when nobody wants more.
  bool row(const std::vector<schema::Value>& values);
  /// The rest, and what closes the whole.
  void finish();
  /// Instead of finish, where the rows ended before their end. The text that is with the reader
  /// already is left so that nobody takes it for the whole: a JSON array without its end, a CSV
  /// whose last field is not closed, a line under a table. Writes nothing where nothing has been
  /// written.
  void break_off();

  static constexpr std::size_t block_rows = 10'000;

 private:
  void write_block();
  void write_text();
  bool is_exact() const { return format_ == Format::csv || format_ == Format::json; }

  Format format_;
  std::size_t width_;
  Sink sink_;
  bool wanted_ = true;
  bool any_written_ = false;
  // For people: a block of rows at a time.
  schema::Rows block_;
  std::size_t blocks_ = 0;
  // For programs: text as soon as there is a good piece of it.
  std::string text_;
  std::optional<JsonRows> json_;
  bool any_row_ = false;
};

}  // namespace warpmeter::reports
