// SPDX-License-Identifier: MIT
// The tables of a run, read from the database itself: what belongs to a launch has a launch_id,
// what belongs to the run a run_id, what launches share an explanation_id.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/sqlite.h"

namespace warpmeter::schema {

struct TableShape {
  std::string name;
  std::vector<std::string> columns;
  bool has(std::string_view column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }
};

/// All of ours, by their names. Rows of t_alike follow from the others, and are left out.
std::vector<TableShape> tables_of(sqlite3* db);

/// The tables of a run in an order in which rows can be added: t_launch before what belongs to it.
struct Shapes {
  explicit Shapes(sqlite3* db) {
    for (TableShape& table : tables_of(db)) {
      if (table.name == "t_run") {
        run = std::move(table);
      } else if (table.name == "t_launch") {
        of_run.insert(of_run.begin(), std::move(table));
      } else if (table.has("launch_id")) {
        of_launch.push_back(std::move(table));
      } else if (table.name == "t_explanation") {
        explanation = std::move(table);
      } else if (table.has("explanation_id")) {
        of_explanation.push_back(std::move(table));
      } else if (table.has("run_id")) {
        of_run.push_back(std::move(table));
      } else if (table.name == "t_device") {
        device = std::move(table);
      }
    }
  }
  TableShape run, device, explanation;
  std::vector<TableShape> of_run, of_launch, of_explanation;
};

/// The target of a column's reference: its name says so. Numbers differ from database to database.
enum class Reference { none, run, launch, device, counter, reason, explanation };
Reference reference_of(std::string_view column);

/// The columns but one.
std::vector<std::string> without(const std::vector<std::string>& columns, std::string_view one);

/// "INSERT INTO t (a, b) VALUES (?, ?)", of the columns "a, b".
std::string insertion(std::string_view table, std::string_view columns);
std::string insertion(std::string_view table, const std::vector<std::string>& columns);

}  // namespace warpmeter::schema
