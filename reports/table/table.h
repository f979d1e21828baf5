// SPDX-License-Identifier: MIT
// One table model for everything that is printed: the comparison tables of a report, the answer of
// `query`, the lists of `list`. A table holds values; how they look is the renderer's business, so
// that markdown, terminal text, CSV and JSON of one table cannot disagree.
//
// For people (markdown, table) numbers are rounded by their column's kind and marked; for programs
// (csv, json) they are exact and carry neither mark nor unit.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

enum class Format { markdown, table, csv, json, html };

/// The formats' names, in the order of Format.
std::span<const std::string_view> format_names();
std::optional<Format> parse_format(std::string_view name);

enum class Align { left, right };

/// How people see a column's values.
enum class Kind {
  text,      ///< as it is
  code,      ///< source text: a code span in markdown
  verdict,   ///< "holds", "broken: why": a badge in HTML, as it is elsewhere
  exact,     ///< a number with all its digits and no separators: ids, a user's query
  count,     ///< whole numbers in full, with thousands separators: 1,048,576
  reading,   ///< three significant digits, zeros kept: 9.20
  quotient,  ///< three significant digits, zeros trimmed: 1.2
};

struct Column {
  std::string name;     ///< key in CSV and JSON
  std::string heading;  ///< for people; `name` when empty
  std::string unit;     ///< its place is after the heading in parentheses; may be empty
  Kind kind = Kind::text;
  Align align = Align::left;

  static Column text(std::string name, std::string heading = "", Kind kind = Kind::text);
  static Column number(std::string name, std::string heading, std::string unit, Kind kind);
};

/// No value: for people an en dash or the word, an empty field in CSV, null in JSON.
struct Missing {
  std::string reason;      ///< not printed in the cell: reports gather reasons
  std::string word = "–";  ///< "failed"
};

struct Range {
  double low = 0, high = 0;
};

/// A value of its column. Mark, range and error are for people only.
struct Cell {
  std::variant<Missing, std::int64_t, double, std::string> value;
  std::string mark;             ///< follows the number: "ᵖ"
  std::optional<Range> range;   ///< the extremes that `value` is the median of: 9.2 (9.1–9.4)
  std::optional<double> error;  ///< the bound on the error of an estimate: 9.2 ± 0.1

  Cell() = default;
  Cell(Missing missing) : value(std::move(missing)) {}
  Cell(std::int64_t number) : value(number) {}
  Cell(double number) : value(number) {}
  Cell(std::string text) : value(std::move(text)) {}
  Cell(const char* text) : value(std::string(text)) {}

  bool missing() const { return std::holds_alternative<Missing>(value); }
};

/// Every row has as many cells as there are columns.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string caption = "";  ///< the title of the table, where the heading above does not say it
};

/// The rows of any query, every number exact. A column is right-aligned when all its values are
/// numbers. Later ones of equal column names get a number: "n", "n_2".
Table table_from(const schema::Rows& rows);

/// The table with a final line end. `width`: columns of the terminal that Format::table wraps long
/// text for; 0 wraps nothing.
std::string render(const Table& table, Format format, std::size_t width = 0);

/// Fields quoted as RFC 4180 says, a heading line of the column names; lines end in LF, as the
/// other tools of a shell expect. An empty text is "", a missing value is nothing. Text that a
/// spreadsheet would run as a formula (it begins with = + - @ or a tab) gets an apostrophe before
/// it; numbers never do.
std::string render_csv(const Table& table);
/// Its two parts, for a table that comes in pieces.
std::string csv_heading(const Table& table);
std::string csv_rows(const Table& table);

/// An array of objects, one a row and line, keyed by column name in the table's order.
std::string render_json(const Table& table);

/// A GitHub table that also lines up as text. Nothing in a cell can end it or act as markup.
std::string render_markdown(const Table& table);

/// A page of its own with the one table. Throws Error{usage} when the program was built without it.
std::string render_html(const Table& table);

/// Columns two spaces apart under stacked headings; see render for `width`.
std::string render_text(const Table& table, std::size_t width = 0);

/// The same for tables of many columns. Where a terminal is too narrow for whole names, columns
/// without a value are left out and named below; where it is still too narrow, each row is a list.
std::string render_to_fit(const Table& table, std::size_t width);

/// The same where the table would be wider than `width` columns: cut into several, below one
/// another, each with the first column.
std::string render_text_in_pieces(const Table& table, std::size_t width);

/// A heading with its unit: "time (µs)".
std::string heading_of(const Column& column);

/// A cell for people: the value, and what follows it, " (9.1–9.4) ᵖ".
struct CellText {
  std::string body, tail;
};
CellText cell_text(const Column& column, const Cell& cell);

/// A column's cells for people, not yet escaped for markdown: numbers as the kind says, "–" where
/// missing. Where some numbers carry a range or a mark, the others get as many spaces behind them.
std::vector<std::string> cell_texts(const Table& table, std::size_t column);

/// Plain text as markdown that shows exactly this text.
std::string escaped_markdown(std::string_view text);

}  // namespace warpmeter::reports
