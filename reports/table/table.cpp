// SPDX-License-Identifier: MIT
#include "reports/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "reports/table/exact_rows.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr std::array<std::string_view, 5> names = {"markdown", "table", "csv", "json", "html"};

std::string number_text(Kind kind, double number) {
  switch (kind) {
    case Kind::count:
    case Kind::quotient:
      return readable_number(number, Zeros::trim);
    case Kind::reading:
      return readable_number(number, Zeros::keep);
    case Kind::text:
    case Kind::code:
    case Kind::verdict:
    case Kind::exact:
      break;
  }
  return exact_number(number);
}

std::string body_of(const Column& column, const Cell& cell) {
  if (const auto* missing = std::get_if<Missing>(&cell.value)) return missing->word;
  if (const auto* text = std::get_if<std::string>(&cell.value)) return printable(*text);
  if (const auto* real = std::get_if<double>(&cell.value)) return number_text(column.kind, *real);
  const auto whole = std::get<std::int64_t>(cell.value);
  const bool grouped =
      column.kind == Kind::count || column.kind == Kind::reading || column.kind == Kind::quotient;
  return grouped ? grouped_number(whole) : std::to_string(whole);
}

std::string tail_of(const Column& column, const Cell& cell) {
  std::string tail;
  if (cell.error) tail = " ± " + number_text(column.kind, *cell.error);
  if (cell.range) {
    const std::string low = number_text(column.kind, cell.range->low);
    const std::string high = number_text(column.kind, cell.range->high);
    if (low != high) tail += " (" + low + "–" + high + ")";
  }
  return cell.mark.empty() ? tail : tail + " " + cell.mark;
}

Cell cell_from(const schema::Value& value) {
  return std::visit(
      [](const auto& held) -> Cell {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return Missing{};
        } else {
          return held;
        }
      },
      value);
}

bool is_number(const schema::Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool holds_numbers_only(const schema::Rows& rows, std::size_t column) {
  bool any = false;
  for (const auto& row : rows.rows) {
    if (std::holds_alternative<std::monostate>(row[column])) continue;
    if (!is_number(row[column])) return false;
    any = true;
  }
  return any;
}

}  // namespace

std::span<const std::string_view> format_names() { return names; }

std::optional<Format> parse_format(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Format>(found - names.begin());
}

Column Column::text(std::string name, std::string heading, Kind kind) {
  return {std::move(name), std::move(heading), "", kind, Align::left};
}

Column Column::number(std::string name, std::string heading, std::string unit, Kind kind) {
  return {std::move(name), std::move(heading), std::move(unit), kind, Align::right};
}

Table table_from(const schema::Rows& rows) {
  Table table;
  std::vector<std::string> names = distinct_names(rows.columns);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Align align = holds_numbers_only(rows, i) ? Align::right : Align::left;
    table.columns.push_back({std::move(names[i]), "", "", Kind::exact, align});
  }
  for (const auto& row : rows.rows) {
    auto& cells = table.rows.emplace_back();
    cells.reserve(row.size());
    for (const schema::Value& value : row) cells.push_back(cell_from(value));
  }
  return table;
}

std::string render(const Table& table, Format format, std::size_t width) {
  switch (format) {
    case Format::csv:
      return render_csv(table);
    case Format::json:
      return render_json(table);
    case Format::table:
      return render_to_fit(table, width);
    case Format::html:
      return render_html(table);
    case Format::markdown:
      break;
  }
  return render_markdown(table);
}

std::string heading_of(const Column& column) {
  const std::string heading = printable(column.heading.empty() ? column.name : column.heading);
  return column.unit.empty() ? heading : heading + " (" + printable(column.unit) + ")";
}

CellText cell_text(const Column& column, const Cell& cell) {
  return {body_of(column, cell), tail_of(column, cell)};
}

std::vector<std::string> cell_texts(const Table& table, std::size_t column) {
  const Column& shape = table.columns[column];
  std::vector<std::string> texts, tails;
  std::size_t widest = 0;
  for (const auto& row : table.rows) {
    texts.push_back(body_of(shape, row[column]));
    tails.push_back(tail_of(shape, row[column]));
    widest = std::max(widest, display_width(tails.back()));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i] += tails[i];
    if (shape.align == Align::right) texts[i].append(widest - display_width(tails[i]), ' ');
  }
  return texts;
}

}  // namespace warpmeter::reports
