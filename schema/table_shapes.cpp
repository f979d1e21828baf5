// SPDX-License-Identifier: MIT
#include "schema/table_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace warpmeter::schema {

std::vector<TableShape> tables_of(sqlite3* db) {
  Statement statement(db,
                      "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
                      "WHERE m.type = 'table' AND m.name GLOB 't_*' AND m.name <> 't_alike' "
                      "ORDER BY m.name, c.cid");
  std::vector<TableShape> tables;
  while (statement.step()) {
    const std::string name = statement.text(0);
    if (tables.empty() || tables.back().name != name) tables.push_back({name, {}});
    tables.back().columns.push_back(statement.text(1));
  }
  return tables;
}

Reference reference_of(std::string_view column) {
  constexpr std::pair<std::string_view, Reference> names[] = {
      {"run_id", Reference::run},       {"launch_id", Reference::launch},
      {"device_id", Reference::device}, {"counter_id", Reference::counter},
      {"reason_id", Reference::reason}, {"explanation_id", Reference::explanation}};
  for (const auto& [name, reference] : names) {
    if (name == column) return reference;
  }
  return Reference::none;
}

std::vector<std::string> without(const std::vector<std::string>& columns, std::string_view one) {
  std::vector<std::string> rest;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(rest),
               [&](const std::string& column) { return column != one; });
  return rest;
}

std::string insertion(std::string_view table, std::string_view columns) {
  std::string marks = "?";
  for (const char c : columns) marks += c == ',' ? ", ?" : "";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, columns, marks);
}

std::string insertion(std::string_view table, const std::vector<std::string>& columns) {
  return insertion(table, fmt::format("{}", fmt::join(columns, ", ")));
}

}  // namespace warpmeter::schema
