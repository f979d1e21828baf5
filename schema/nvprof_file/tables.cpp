// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "schema/embedded.h"
#include "schema/nvprof_file/lists.h"

namespace warpmeter::schema {
namespace {

struct NvprofTable {
  struct Column {
    std::string_view name;
    bool is_blob = false;
  };
  std::string name;
  std::string_view index;  ///< the column of its index; empty: none
  std::vector<Column> columns;
};

std::vector<NvprofTable> read_tables() {
  std::vector<NvprofTable> tables;
  for (const std::vector<std::string_view>& words : word_lists(embedded::nvprof_tables)) {
    NvprofTable& table = tables.emplace_back();
    const std::string_view head = words.front();
    const std::size_t bracket = std::min(head.find('('), head.size());
    table.name = fmt::format("CUPTI_ACTIVITY_KIND_{}", head.substr(0, bracket));
    if (bracket < head.size()) table.index = head.substr(bracket + 1, head.size() - bracket - 2);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const bool is_blob = words[i].back() == '*';
      table.columns.push_back({words[i].substr(0, words[i].size() - (is_blob ? 1 : 0)), is_blob});
    }
  }
  return tables;
}

const std::vector<NvprofTable>& nvprof_tables() {
  static const std::vector<NvprofTable> tables = read_tables();
  return tables;
}

std::string insertion_into(std::string_view name, const std::vector<std::string_view>& given) {
  const std::string full = fmt::format("CUPTI_ACTIVITY_KIND_{}", name);
  const auto& all = nvprof_tables();
  const auto table = std::find_if(all.begin(), all.end(),
                                  [&](const NvprofTable& one) { return one.name == full; });
  if (table == all.end()) throw std::logic_error(full + " is no table of nvprof's");
  std::string columns, values;
  std::size_t found = 0;
  for (const NvprofTable::Column& column : table->columns) {
    const auto place = std::find(given.begin(), given.end(), column.name);
    found += place != given.end() ? 1 : 0;
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column.name);
    values += values.empty() ? "" : ", ";
    values += place != given.end() ? fmt::format("?{}", place - given.begin() + 1)
                                   : std::string(column.is_blob ? "x'00'" : "0");
  }
  if (found != given.size()) throw std::logic_error(full + " lacks a column");
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", full, columns, values);
}

}  // namespace

void create_nvprof_tables(sqlite3* db) {
  execute(db,
          "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL "
          "UNIQUE); CREATE TABLE Version(version INTEGER)");
  Statement(db, "INSERT INTO Version VALUES (?)").execute(nvprof_version);
  for (const NvprofTable& table : nvprof_tables()) {
    std::string columns;
    for (const NvprofTable::Column& column : table.columns) {
      columns += fmt::format(", {} {} NOT NULL", column.name, column.is_blob ? "BLOB" : "INT");
    }
    // nvprof quotes nothing, and "end" is no word that SQLite minds there.
    execute(db, fmt::format("CREATE TABLE {}(_id_ INTEGER PRIMARY KEY AUTOINCREMENT{})", table.name,
                            columns));
  }
}

void create_nvprof_indexes(sqlite3* db) {
  for (const NvprofTable& table : nvprof_tables()) {
    if (table.index.empty()) continue;
    execute(db, fmt::format("CREATE INDEX INDEX_{0} ON {0}({1})", table.name, table.index));
  }
}

NvprofRows::NvprofRows(sqlite3* db, std::string_view table,
                       const std::vector<std::string_view>& columns)
    : insert_(db, insertion_into(table, columns)) {}

std::int64_t NvprofTexts::number_of(const std::string& text) {
  const auto [place, is_new] = known_.try_emplace(text, static_cast<std::int64_t>(known_.size()));
  if (is_new) insert_.execute(++place->second, text);
  return place->second;
}

}  // namespace warpmeter::schema
