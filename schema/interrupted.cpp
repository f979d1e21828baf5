// SPDX-License-Identifier: MIT
#include "schema/interrupted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "schema/process.h"

namespace warpmeter::schema {
namespace {

struct DeadRun {
  std::int64_t id = 0;
  std::string reason;
};

std::vector<DeadRun> dead_runs(sqlite3* db) {
  Statement statement(db,
                      "SELECT run_id, process_host, boot_id, process_namespace, process_id, "
                      "process_start, julianday('now') - julianday(started) > 1 "
                      "FROM t_run WHERE outcome = 'running'");
  std::vector<DeadRun> dead;
  while (statement.step()) {
    const ProcessIdentity process = {statement.text(1), statement.text(2), statement.text(3),
                                     statement.integer(4), statement.integer(5)};
    const bool is_old = statement.integer(6) != 0;
    const Liveness state = liveness(process);
    if (state == Liveness::alive || (state == Liveness::unknown && !is_old)) continue;
    dead.push_back({statement.integer(0), fmt::format("its process ({} on {}) ended without a word",
                                                      process.id, process.host)});
  }
  return dead;
}

/// A temporary view of the same name, which SQLite finds before the one in the file.
void shadow(sqlite3* db, const std::string& name) {
  std::vector<std::string> columns;
  Statement statement(db, fmt::format("SELECT * FROM main.{} LIMIT 0", name));
  for (int i = 0; i < statement.columns(); ++i) {
    const std::string column = statement.column_name(i);
    if (column == "outcome") {
      columns.emplace_back("iif(dead.run_id IS NULL, outcome, 'interrupted') AS outcome");
    } else if (column == "reason") {
      columns.emplace_back("coalesce(dead.reason, r.reason) AS reason");
    } else {
      columns.push_back("r." + column);
    }
  }
  execute(db, fmt::format("CREATE TEMP VIEW {0} AS SELECT {1} FROM main.{0} r "
                          "LEFT JOIN temp.dead_run dead ON dead.run_id = r.run_id",
                          name, fmt::join(columns, ", ")));
}

}  // namespace

void mark_interrupted(sqlite3* db) {
  const std::vector<DeadRun> dead = dead_runs(db);
  if (dead.empty()) return;
  Transaction transaction(db);
  Statement statement(db,
                      "UPDATE t_run SET outcome = 'interrupted', reason = ? "
                      "WHERE run_id = ? AND outcome = 'running'");
  for (const DeadRun& run : dead) statement.execute(run.reason, run.id);
  transaction.commit();
}

void show_interrupted(sqlite3* db) {
  const std::vector<DeadRun> dead = dead_runs(db);
  if (dead.empty()) return;
  execute(db,
          "PRAGMA temp_store = MEMORY;"
          "CREATE TEMP TABLE dead_run (run_id INTEGER PRIMARY KEY, reason TEXT)");
  Statement remember(db, "INSERT INTO temp.dead_run (run_id, reason) VALUES (?, ?)");
  for (const DeadRun& run : dead) remember.execute(run.id, run.reason);
  shadow(db, "t_run");
  shadow(db, "runs");
}

}  // namespace warpmeter::schema
