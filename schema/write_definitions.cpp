// SPDX-License-Identifier: MIT
// Writes the tables and indexes that the migrations make, as SQLite keeps them: rows of
// { name, { type, text } }. Every command compares its file with them, and to make them anew would
// take a tenth of the time of a short one.
#include <sqlite3.h>

#include <cstdio>
#include <string>

#include "schema/embedded.h"

namespace {

std::string text_of(sqlite3_stmt* row, int column) {
  return reinterpret_cast<const char*>(sqlite3_column_text(row, column));
}

}  // namespace

int main() {
  sqlite3* db = nullptr;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 1;
  for (const warpmeter::schema::embedded::File& file : warpmeter::schema::embedded::migrations()) {
    if (sqlite3_exec(db, std::string(file.text).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      std::fprintf(stderr, "%s: %s\n", std::string(file.name).c_str(), sqlite3_errmsg(db));
      return 1;
    }
  }
  sqlite3_stmt* rows = nullptr;
  const char* sql = "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
  if (sqlite3_prepare_v2(db, sql, -1, &rows, nullptr) != SQLITE_OK) return 1;
  while (sqlite3_step(rows) == SQLITE_ROW) {
    std::printf("{\"%s\", {\"%s\", R\"sql(%s)sql\"}},\n", text_of(rows, 0).c_str(),
                text_of(rows, 1).c_str(), text_of(rows, 2).c_str());
  }
  sqlite3_finalize(rows);
  sqlite3_close(db);
  return 0;
}
