// SPDX-License-Identifier: MIT
#include "tests/schema/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <set>

#include "schema/embedded.h"
#include "schema/grade.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

std::set<std::string> names_of(sqlite3* db, const std::string& type) {
  Statement statement(db,
                      "SELECT name FROM sqlite_schema WHERE type = ? AND name NOT GLOB 'sqlite_*'");
  statement.bind(1, type);
  std::set<std::string> names;
  while (statement.step()) names.insert(statement.text(0));
  return names;
}

/// The first version with the grade `sampled`, which moved the numbers of those behind it.
constexpr std::size_t first_with_sampled = 18;

/// Makes t_value as the older version has it, whose CHECK names the numbers of grades.
void number_grades_as_before(sqlite3* db, sqlite3* old) {
  Statement definition(old, "SELECT sql FROM sqlite_schema WHERE name = 't_value'");
  ASSERT_TRUE(definition.step());
  execute(db, "ALTER TABLE t_value RENAME TO t_value_now");
  execute(db, definition.text(0));
  const int sampled = static_cast<int>(Grade::sampled);
  execute(db, fmt::format("INSERT INTO t_value (launch_id, counter_id, value, grade, reason_id) "
                          "SELECT launch_id, counter_id, value, "
                          "grade - (grade > {}), reason_id FROM t_value_now; "
                          "DROP TABLE t_value_now",
                          sampled));
  for (const std::string& table : names_of(db, "table")) {
    if (table != "t_line" && table != "t_finding") continue;
    execute(db, fmt::format("UPDATE {} SET grade = grade - 1 WHERE grade > {}", table, sampled));
  }
}

}  // namespace

void make_older(const std::string& path, std::size_t version) {
  const Handle db = open_plain(path), old = open_plain(":memory:");
  for (const embedded::File& file : embedded::migrations().first(version)) {
    execute(old.get(), file.text);
  }
  for (const char* type : {"view", "index", "table"}) {
    const std::set<std::string> kept = names_of(old.get(), type);
    for (const std::string& name : names_of(db.get(), type)) {
      if (!kept.contains(name)) execute(db.get(), fmt::format("DROP {} {}", type, name));
    }
  }
  for (const TableShape& was : tables_of(old.get())) {
    for (const TableShape& table : tables_of(db.get())) {
      if (table.name != was.name) continue;
      for (const std::string& column : table.columns) {
        if (was.has(column)) continue;
        execute(db.get(), fmt::format("ALTER TABLE {} DROP COLUMN {}", table.name, column));
      }
    }
  }
  if (version < first_with_sampled) number_grades_as_before(db.get(), old.get());
  execute(db.get(), fmt::format("PRAGMA user_version = {}", version));
}

int start_child(const std::function<int()>& body) {
  const int process = fork();
  if (process != 0) return process;
  int status = 100;
  try {
    status = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  _exit(status);
}

int wait_for(int process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int status_of_child(const std::function<int()>& body) { return wait_for(start_child(body)); }

}  // namespace warpmeter::schema
