// SPDX-License-Identifier: MIT
#include "schema/server/runs_here.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "schema/database.h"
#include "schema/server/copy_rows.h"
#include "schema/server/server_schema.h"

namespace warpmeter::schema::server {

RunsHere::RunsHere(Connection& server, const std::string& path)
    : server_(server), db_(open_for_writing(path)), shapes_(db_.get()) {
  // Named rows come with the server's numbers, after the rows that name them. Nobody else reads the
  // file before it is complete.
  execute(db_.get(),
          "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
          "DELETE FROM t_term; DELETE FROM t_metric; DELETE FROM t_counter");
}

std::int64_t RunsHere::take(std::int64_t run_there) {
  // One month's part of each table: the planner sees it in the numbers.
  const std::int64_t month = run_there / 1'000'000'000;
  const std::string of_run = fmt::format("run_id = {}", run_there);
  const std::string in_month =
      fmt::format("launch_id >= {}0000000000 AND launch_id < {}0000000000", month, month + 1);
  execute(db_.get(), "BEGIN");
  std::int64_t rows = copy(shapes_.run, of_run);
  for (const TableShape& table : shapes_.of_run) {
    rows += copy(table, table.has("launch_id") ? of_run + " AND " + in_month : of_run);
  }
  Statement range(db_.get(),
                  "SELECT min(launch_id), max(launch_id) FROM t_launch WHERE run_id = ?");
  range.bind(1, run_there);
  range.step();
  const bool has_launches = !range.is_null(0);
  const std::string of_launch =
      fmt::format("launch_id BETWEEN {} AND {}", range.integer(0), range.integer(1));
  range.reset();
  for (const TableShape& table : shapes_.of_launch) {
    if (has_launches) rows += copy(table, of_launch);
  }
  const auto wanted = [&](Reference reference) -> std::set<std::int64_t>& {
    return wanted_[static_cast<int>(reference)];
  };
  std::set<std::int64_t> explanations;
  for (const std::int64_t number : wanted(Reference::explanation)) {
    if (!taken_[static_cast<int>(Reference::explanation)].contains(number)) {
      explanations.insert(number);
    }
  }
  if (!explanations.empty()) {
    const std::string of_explanation =
        fmt::format("explanation_id IN ({})", fmt::join(explanations, ", "));
    for (const TableShape& table : shapes_.of_explanation) copy(table, of_explanation);
  }
  const std::pair<Reference, const char*> named[] = {{Reference::device, "device_id"},
                                                     {Reference::counter, "counter_id"},
                                                     {Reference::reason, "reason_id"},
                                                     {Reference::explanation, "explanation_id"}};
  for (const TableShape& table : tables_of(db_.get())) {
    for (const auto& [reference, key] : named) {
      if (table.name != "t_" + std::string(key).substr(0, std::string_view(key).size() - 3))
        continue;
      take_named(table, key, wanted(reference), taken_[static_cast<int>(reference)]);
    }
  }
  execute(db_.get(), "COMMIT");
  return rows;
}

/// Rows of a run, and what they name.
std::int64_t RunsHere::copy(const TableShape& table, const std::string& condition) {
  Statement insert(db_.get(), insertion(table.name, table.columns));
  std::vector<Reference> references;
  for (const std::string& column : table.columns) references.push_back(reference_of(column));
  return rows_here(server_,
                   fmt::format("SELECT {} FROM warpmeter.{} WHERE {}",
                               fmt::join(table.columns, ", "), table.name, condition),
                   kinds_of(db_.get(), table.name, table.columns), insert,
                   [&](std::span<const std::int64_t> integers) {
                     for (std::size_t i = 0; i < integers.size(); ++i) {
                       if (references[i] == Reference::none || integers[i] == 0) continue;
                       if (references[i] == Reference::launch) continue;
                       wanted_[static_cast<int>(references[i])].insert(integers[i]);
                     }
                   });
}

void RunsHere::take_named(const TableShape& table, const char* key, std::set<std::int64_t>& wanted,
                          std::set<std::int64_t>& taken) {
  std::vector<std::int64_t> missing;
  for (const std::int64_t number : wanted) {
    if (taken.insert(number).second) missing.push_back(number);
  }
  wanted.clear();
  if (missing.empty()) return;
  Statement insert(db_.get(), insertion(table.name, table.columns));
  rows_here(server_,
            fmt::format("SELECT {} FROM warpmeter.{} WHERE {} IN ({})",
                        fmt::join(table.columns, ", "), table.name, key, fmt::join(missing, ", ")),
            kinds_of(db_.get(), table.name, table.columns), insert,
            [](std::span<const std::int64_t>) {});
}

}  // namespace warpmeter::schema::server
