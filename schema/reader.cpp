// SPDX-License-Identifier: MIT
// Reading. The file is opened read-only, `query_only` is on, and a statement of a person's is
// watched (watch.h), so that one that would write says so before it starts.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <new>

#include "base/utf8.h"
#include "schema/database.h"
#include "schema/own_objects.h"
#include "schema/sqlite.h"
#include "schema/store.h"
#include "schema/watch.h"

namespace warpmeter::schema {
namespace {

/// "near "FORM": syntax error, at line 1, column 10".
Error sql_error(sqlite3* db, std::string_view sql) {
  std::string message = fmt::format("SQL error: {}", sqlite3_errmsg(db));
  const int offset = sqlite3_error_offset(db);
  if (offset >= 0 && static_cast<std::size_t>(offset) <= sql.size()) {
    const std::string_view before = sql.substr(0, static_cast<std::size_t>(offset));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    message +=
        fmt::format(", at line {}, column {}", line, 1 + characters(before.substr(line_start)));
  }
  return {ExitCode::usage, message};
}

/// The pragmas that are tables declare themselves, which looks like writing.
Error refused(const Watch& watch, std::string_view sql) {
  constexpr std::string_view table = "pragma_";
  const std::size_t at = lower_case(std::string(sql)).find(table);
  if (at == std::string_view::npos || !watch.refuses_writing()) {
    return {ExitCode::usage, watch.refusal()};
  }
  const auto end =
      std::find_if_not(sql.begin() + static_cast<std::ptrdiff_t>(at), sql.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const std::string_view name(sql.begin() + static_cast<std::ptrdiff_t>(at), end);
  return {ExitCode::usage,
          fmt::format("the table {} is not on the list of those that queries may read: write "
                      "PRAGMA {} as a query of its own, or read a view (warpmeter list views)",
                      name, name.substr(table.size()))};
}

/// The one statement in `sql`.
Statement prepare_one(sqlite3* db, std::string_view sql, const Watch& watch) {
  sqlite3_stmt* prepared = nullptr;
  const char* tail = nullptr;
  const auto size = [](std::string_view text) { return static_cast<int>(text.size()); };
  if (sqlite3_prepare_v2(db, sql.data(), size(sql), &prepared, &tail) != SQLITE_OK) {
    if (!watch.refusal().empty()) throw refused(watch, sql);
    throw sql_error(db, sql);
  }
  if (prepared == nullptr) throw Error(ExitCode::usage, "there is no SQL statement in the query");
  Statement statement(prepared);
  const std::string_view rest = sql.substr(static_cast<std::size_t>(tail - sql.data()));
  sqlite3_stmt* second = nullptr;
  const bool good = sqlite3_prepare_v2(db, rest.data(), size(rest), &second, nullptr) == SQLITE_OK;
  const Statement owner(second);
  if (!good || second != nullptr) {
    throw Error(
        ExitCode::usage,
        "a query is one statement, and something follows its semicolon: leave that away, or "
        "run it as a query of its own");
  }
  if (sqlite3_stmt_readonly(prepared) == 0) {
    throw Error(ExitCode::usage, "read-only: query cannot change the database; write SELECT …");
  }
  return statement;
}

/// While it lives, SQLite takes no more memory than a user's statement may need.
class MemoryLimit {
 public:
  MemoryLimit() : before_(sqlite3_hard_heap_limit64(most)) {}
  ~MemoryLimit() { sqlite3_hard_heap_limit64(before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  /// Throws the sentence where this limit is what SQLite lacked.
  static void refuse() {
    const std::unique_ptr<void, void (*)(void*)> room(
        std::malloc(static_cast<std::size_t>(most - sqlite3_memory_used())), std::free);
    if (!room) throw std::bad_alloc();  // the machine has less
    throw Error(ExitCode::nothing,
                "the query was stopped at 1 GiB of memory, which is all that one may need: ask "
                "for less");
  }

 private:
  static constexpr sqlite3_int64 most = sqlite3_int64{1} << 30;
  sqlite3_int64 before_;
};

void check_text(std::string_view sql) {
  if (sql.size() > longest_statement) {
    throw Error(ExitCode::usage,
                fmt::format("a query has at most {} bytes, and this one has more: put what it "
                            "lists into fewer words",
                            longest_statement));
  }
  const std::size_t zero = sql.find('\0');
  if (zero == std::string_view::npos) return;
  throw Error(ExitCode::usage, fmt::format("a query is text, and byte {} of this one is NUL: give "
                                           "it as UTF-8",
                                           zero + 1));
}

/// Long texts are sources and code, of which there are few. A long name, which would be in each of
/// a million rows, was written by somebody else. `sum`: the bytes of those so far.
void check_long_texts(const std::vector<Value>& row, std::size_t& sum) {
  constexpr std::size_t long_text = std::size_t{64} << 10;
  for (const Value& value : row) {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > long_text) sum += text->size();
  }
  if (sum <= std::size_t{longest_text}) return;
  throw Error(ExitCode::file,
              fmt::format("the database holds texts that are too long for a table, together more "
                          "than {} MiB: use a copy that nobody but warpmeter has changed",
                          longest_text >> 20));
}

}  // namespace

bool is_keyword_of_sql(std::string_view word) {
  return sqlite3_keyword_check(word.data(), static_cast<int>(word.size())) != 0;
}

Reader::Reader(const std::string& path) : keeper_(no_handle()), db_(no_handle()) {
  ReadHandles handles = open_for_reading(path);
  keeper_ = std::move(handles.keeper);
  db_ = std::move(handles.db);
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;

Rows Reader::query(std::string_view sql, const Parameters& parameters) const {
  Statement statement(db_.get(), sql);
  statement.bind(parameters);
  Rows rows;
  std::size_t long_bytes = 0;
  for (int i = 0; i < statement.columns(); ++i) rows.columns.push_back(statement.column_name(i));
  while (statement.step()) {
    std::vector<Value>& row = rows.rows.emplace_back();
    row.reserve(rows.columns.size());
    for (int i = 0; i < statement.columns(); ++i) row.push_back(statement.value(i));
    check_long_texts(row, long_bytes);
  }
  return rows;
}

void Reader::each(std::string_view sql, const Parameters& parameters,
                  const std::function<void(std::span<const Value> row)>& on_row) const {
  Statement statement(db_.get(), sql);
  statement.bind(parameters);
  std::vector<Value> row(static_cast<std::size_t>(statement.columns()));
  while (statement.step()) {
    int column = 0;
    for (Value& value : row) statement.read(column++, value);
    on_row(row);
  }
}

void Reader::query_user(
    std::string_view sql, const Parameters& parameters,
    const std::function<void(const std::vector<std::string>& columns)>& on_columns,
    const std::function<bool(const std::vector<Value>& row)>& on_row,
    const QueryLimits& limits) const {
  check_text(sql);
  const MemoryLimit memory;
  const Watch watch(db_.get());
  const Deadline deadline(db_.get(), limits.time, limits.cancelled);
  Statement statement = prepare_one(db_.get(), sql, watch);
  statement.bind(parameters);
  std::vector<std::string> columns;
  for (int i = 0; i < statement.columns(); ++i) columns.push_back(statement.column_name(i));
  on_columns(columns);
  std::vector<Value> row(columns.size());
  while (true) {
    const int code = statement.step_code();
    if (code == SQLITE_DONE) return;
    if ((code & 0xff) == SQLITE_INTERRUPT) {
      if (!deadline.passed()) return;
      throw Error(ExitCode::nothing,
                  fmt::format("the query was stopped after {} s (--timeout): allow it more, or ask "
                              "for less",
                              limits.time->count()));
    }
    if (code != SQLITE_ROW) {
      if (!watch.refusal().empty()) throw refused(watch, sql);
      // A value that does not fit (an overflow, broken JSON) is the statement's fault, not the
      // file's.
      if ((code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_MISMATCH) {
        throw sql_error(db_.get(), sql);
      }
      if ((code & 0xff) == SQLITE_NOMEM) MemoryLimit::refuse();
      throw_file_error(db_.get());
    }
    int column = 0;
    for (Value& value : row) statement.read(column++, value);
    if (!on_row(row)) return;
  }
}

}  // namespace warpmeter::schema
