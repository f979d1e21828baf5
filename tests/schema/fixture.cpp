// SPDX-License-Identifier: MIT
#include "tests/schema/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <set>

#include "schema/embedded.h"
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
