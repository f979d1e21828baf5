// SPDX-License-Identifier: MIT
#include "schema/merge/conflict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
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

/// The noun for the rows of a table.
std::string noun_of(const std::string& table, bool is_plural) {
  constexpr std::tuple<std::string_view, const char*, const char*> words[] = {
      {"t_run", "run", "runs"},
      {"t_launch", "launch", "launches"},
      {"t_value", "value", "values"},
      {"t_timing", "time", "times"},
      {"t_sample", "sample", "samples"},
      {"t_line", "source line", "source lines"},
      {"t_run_device", "device", "devices"},
      {"t_device_state", "state of a device", "states of devices"},
      {"t_explained", "explanation", "explanations"},
      {"t_finding", "finding", "findings"},
      {"t_remedy", "remedy", "remedies"}};
  for (const auto& [name, one, several] : words) {
    if (name == table) return is_plural ? several : one;
  }
  std::string noun = table.substr(table.find('_') + 1);  // the noun of a later version
  std::replace(noun.begin(), noun.end(), '_', ' ');
  return noun + (is_plural ? "s" : "");
}

/// The column with this name in a row of content_sql.
std::optional<int> column_of(const Statement& row, std::string_view name) {
  for (int i = 0; i < row.columns(); ++i) {
    if (row.column_name(i) == name) return i;
  }
  return std::nullopt;
}

/// "transpose/tiled at 1,024"; of its database the launch with this distance from its first.
std::string launch_at(const RunAt& at, std::int64_t distance) {
  Statement row(at.db,
                "SELECT coalesce(family || '/' || variant, kernel), size FROM t_launch "
                "WHERE launch_id = ?1");
  row.bind(1, first_launch(at.db, at.run) + distance);
  const std::string which = fmt::format("launch {}", distance + 1);
  if (!row.step() || row.is_null(0)) return which;
  std::string text = row.text(0);
  if (!row.is_null(1)) text += fmt::format(" at {}", fmt::group_digits(row.integer(1)));
  return fmt::format("{} ({})", text, which);
}

/// The launch that a row belongs to, as the end of a sentence's subject; empty: to none.
std::string of_launch(const RunAt& at, const Statement& row) {
  const std::optional<int> launch = column_of(row, "launch_id");
  if (!launch || row.is_null(*launch)) return "";
  return " of " + launch_at(at, row.integer(*launch));
}

/// The name of a row: "gld_sectors of transpose/tiled at 1,024", "time of …".
std::string subject(const RunAt& at, const std::string& table, const Statement& row) {
  if (table == "t_launch") return launch_at(at, row.integer(*column_of(row, "launch_id")));
  const std::optional<int> counter = column_of(row, "counter_id");
  return (counter && !row.is_null(*counter) ? row.text(*counter) : "a " + noun_of(table, false)) +
         of_launch(at, row);
}

std::string shown(const Statement& row, int column) {
  std::string text = row.is_null(column) ? "nothing" : row.text(column);
  const bool is_whole = std::holds_alternative<double>(row.value(column)) && text.ends_with(".0");
  return is_whole ? text.substr(0, text.size() - 2) : text;
}

/// True if the column tells a table's rows apart, of one launch.
bool is_key(sqlite3* db, const std::string& table, const std::string& column) {
  if (table == "t_run" || table == "t_launch") return false;
  Statement key(db, "SELECT 1 FROM pragma_table_info(?) WHERE name = ? AND pk > 0");
  key.bind(1, table);
  key.bind(2, column);
  return key.step();
}

/// The one that sorts first of two rows is the one that the other side lacks.
bool is_before(const Statement& a, const Statement& b, int column) {
  return a.value(column) < b.value(column);
}

std::string words_of(const TableShape& table, const RunAt& a, const Statement& row_a,
                     const RunAt& b, const Statement& row_b, int column) {
  const std::string name = row_a.column_name(column);
  if (is_key(a.db, table.name, name)) {
    const bool is_in_a = is_before(row_a, row_b, column);
    return fmt::format("{} is in {} and not in {}",
                       is_in_a ? subject(a, table.name, row_a) : subject(b, table.name, row_b),
                       is_in_a ? a.name : b.name, is_in_a ? b.name : a.name);
  }
  std::string what;
  const std::string called = name == "device_id"   ? "the device"
                             : name == "reason_id" ? "the reason"
                                                   : name;
  if (table.name == "t_run") {
    what = "its " + name;
  } else if (table.name == "t_value" && name == "value") {
    what = subject(a, table.name, row_a);
  } else if (table.name == "t_value" || table.name == "t_launch") {
    what = fmt::format("{} of {}", called, subject(a, table.name, row_a));
  } else {
    what = fmt::format("{} of {}{}", called, noun_of(table.name, false), of_launch(a, row_a));
  }
  return fmt::format("{} is {} in {} and {} in {}", what, shown(row_a, column), a.name,
                     shown(row_b, column), b.name);
}

}  // namespace

std::string conflict_between(const Shapes& shapes, const RunAt& a, const RunAt& b) {
  std::vector<const TableShape*> tables = {&shapes.run};
  for (const TableShape& table : shapes.of_run) tables.push_back(&table);
  for (const TableShape& table : shapes.of_launch) tables.push_back(&table);
  const std::int64_t first_a = first_launch(a.db, a.run), first_b = first_launch(b.db, b.run);
  for (const TableShape* table : tables) {
    const std::string sql = content_sql(shapes, *table);
    Statement row_a(a.db, sql), row_b(b.db, sql);
    row_a.bind(1, a.run);
    row_a.bind(2, first_a);
    row_b.bind(1, b.run);
    row_b.bind(2, first_b);
    while (true) {
      const bool more_a = row_a.step(), more_b = row_b.step();
      if (!more_a && !more_b) break;
      if (more_a != more_b) {
        return fmt::format("it has fewer {} in {} than in {}", noun_of(table->name, true),
                           more_a ? b.name : a.name, more_a ? a.name : b.name);
      }
      if (const auto column = difference(row_a, row_b)) {
        return words_of(*table, a, row_a, b, row_b, *column);
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
