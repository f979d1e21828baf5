// SPDX-License-Identifier: MIT
#include <string>

#include "reports/table/exact_rows.h"
#include "reports/table/table.h"

namespace warpmeter::reports {
namespace {

schema::Value csv_value_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return *whole;
  if (const auto* real = std::get_if<double>(&cell.value)) return *real;
  return std::monostate{};
}

}  // namespace

std::string csv_heading(const Table& table) {
  std::vector<schema::Value> names;
  for (const Column& column : table.columns) names.emplace_back(column.name);
  std::string csv;
  append_csv_row(csv, names);
  return csv;
}

std::string csv_rows(const Table& table) {
  std::string csv;
  std::vector<schema::Value> values;
  for (const auto& row : table.rows) {
    values.clear();
    for (const Cell& cell : row) values.push_back(csv_value_of(cell));
    append_csv_row(csv, values);
  }
  return csv;
}

std::string render_csv(const Table& table) { return csv_heading(table) + csv_rows(table); }

}  // namespace warpmeter::reports
