#include "schema/conflict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

namespace warpmeter::schema {
namespace {

/// A column as its content, so that two databases can be compared.
std::string content_of(const Shapes& shapes, const std::string& column) {
  if (column == "launch_id") return "launch_id - ?2";
  if (column == "counter_id") {
    return "(SELECT name FROM t_counter c WHERE c.counter_id = x.counter_id)";
  }
  if (column == "reason_id") return "(SELECT text FROM t_reason r WHERE r.reason_id = x.reason_id)";
  if (column == "explanation_id") {
    return "(SELECT e.digest FROM t_explanation e WHERE e.explanation_id = x.explanation_id)";
  }
  if (column == "device_id") {
    std::string text;
    for (const std::string& part : without(shapes.device.columns, "device_id")) {
      text += (text.empty() ? "quote(d." : " || ',' || quote(d.") + part + ")";
    }
    return fmt::format("(SELECT {} FROM t_device d WHERE d.device_id = x.device_id)", text);
  }
  return "x." + column;
}

/// A statement that reads a run's rows of one table as content, in an order that depends on nothing
/// else. ?1 is the run, ?2 its first launch.
std::string content_sql(const Shapes& shapes, const TableShape& table) {
  std::vector<std::string> columns, order;
  for (const std::string& column : table.columns) {
    // Labels are names that people give and change: they are not what was measured.
    if (column == "run_id" || (table.name == "t_run" && column == "label")) continue;
    columns.push_back(fmt::format("{} AS {}", content_of(shapes, column), column));
    order.push_back(std::to_string(columns.size()));
  }
  const char* condition = table.has("run_id") ? "x.run_id = ?1"
                                              : "x.launch_id IN (SELECT launch_id FROM t_launch "
                                                "WHERE run_id = ?1)";
  // ?2 is named in every statement, so that it can be bound in every one.
  return fmt::format("SELECT {} FROM {} x WHERE {} AND ?2 IS NOT NULL ORDER BY {}",
                     fmt::join(columns, ", "), table.name, condition, fmt::join(order, ", "));
}

/// Where the two rows first differ: the column's place.
std::optional<int> difference(const Statement& a, const Statement& b) {
  for (int i = 0; i < a.columns(); ++i) {
    if (a.value(i) != b.value(i)) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string conflict_between(const Shapes& shapes, sqlite3* a, std::int64_t run_a, sqlite3* b,
                             std::int64_t run_b) {
  std::vector<const TableShape*> tables = {&shapes.run};
  for (const TableShape& table : shapes.of_run) tables.push_back(&table);
  for (const TableShape& table : shapes.of_launch) tables.push_back(&table);
  const std::int64_t first_a = first_launch(a, run_a), first_b = first_launch(b, run_b);
  for (const TableShape* table : tables) {
    const std::string sql = content_sql(shapes, *table);
    Statement here(a, sql), there(b, sql);
    here.bind(1, run_a);
    here.bind(2, first_a);
    there.bind(1, run_b);
    there.bind(2, first_b);
    while (true) {
      const bool more_here = here.step(), more_there = there.step();
      if (!more_here && !more_there) break;
      if (more_here != more_there) {
        return fmt::format("it has {} rows in {} there", more_there ? "more" : "fewer",
                           table->name);
      }
      if (const auto column = difference(here, there)) {
        return fmt::format("{} of {} is {} here and {} there", here.column_name(*column),
                           table->name, here.is_null(*column) ? "nothing" : here.text(*column),
                           there.is_null(*column) ? "nothing" : there.text(*column));
      }
    }
  }
  return "";
}

std::int64_t first_launch(sqlite3* db, std::int64_t run_id) {
  Statement statement(db, "SELECT min(launch_id) FROM t_launch WHERE run_id = ?");
  statement.bind(1, run_id);
  return statement.step() ? statement.integer(0) : 0;
}

}  // namespace warpmeter::schema
