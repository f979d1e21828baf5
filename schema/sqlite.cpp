// SPDX-License-Identifier: MIT
#include "schema/sqlite.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>

namespace warpmeter::schema {
namespace {

/// SQLite forgets why a write failed when it has cleaned up after it; a quota and a limit on the
/// size of files then look like a broken disk.
bool is_failed_write(int extended_code) {
  switch (extended_code) {
    case SQLITE_IOERR_WRITE:
    case SQLITE_IOERR_FSYNC:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMOPEN:
      return true;
    default:
      return false;
  }
}

/// Has the database, or a log beside it, grown to where the system lets no file grow (ulimit -f)?
bool at_limit_of_files(const std::string& path) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  constexpr rlim_t largest_write = 65536;  // a page is no larger
  for (const char* ending : {"", "-wal", "-journal"}) {
    struct stat status {};
    if (stat((path + ending).c_str(), &status) != 0) continue;
    if (static_cast<rlim_t>(status.st_size) + largest_write > limit.rlim_cur) return true;
  }
  return false;
}

std::string explain(sqlite3* db, const std::string& path) {
  const int extended_code = sqlite3_extended_errcode(db), code = extended_code & 0xff;
  const int system = sqlite3_system_errno(db);
  const bool no_space = system == ENOSPC || system == EDQUOT;
  const bool is_write = is_failed_write(extended_code) || code == SQLITE_FULL;
  if (system == EFBIG || (is_write && at_limit_of_files(path))) {
    return fmt::format(
        "{} would be larger than files may be here (ulimit -f): raise that limit and run the "
        "command again; what it held before is kept",
        path);
  }
  if (code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && no_space)) {
    return fmt::format(
        "there is no space left to write {}: free some and run the command again; "
        "what it held before is kept",
        path);
  }
  if (is_failed_write(extended_code)) {
    return fmt::format(
        "{} could not be written ({}), perhaps because its disk or your quota is "
        "full: free some space and run the command again; what it held before is "
        "kept",
        path, sqlite3_errmsg(db));
  }
  switch (code) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return fmt::format(
          "{} cannot be written: change its permissions and those of its folder, or "
          "name another file with --db",
          path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "{} stayed locked by another program: close that program and run the "
          "command again",
          path);
    case SQLITE_NOTADB:
      return fmt::format("{} is not a database: name another file with --db", path);
    case SQLITE_CORRUPT:
      return damaged(path, sqlite3_errmsg(db)).what();
    case SQLITE_CANTOPEN:
      return fmt::format(
          "{} cannot be opened ({}): change its permissions and those of its folder, "
          "or name another file with --db",
          path, system != 0 ? std::strerror(system) : sqlite3_errmsg(db));
    case SQLITE_ERROR:  // our own statement is right: a number or a table is not
    case SQLITE_MISMATCH:
      return fmt::format(
          "{} was changed by something else than warpmeter ({}): use a copy that was not", path,
          sqlite3_errmsg(db));
    case SQLITE_TOOBIG:
      return fmt::format(
          "{} holds a value of more than {} MiB, or the statement makes one: warpmeter reads none "
          "that long; select less, with substr() for example",
          path, longest_text >> 20);
    default:
      return fmt::format(
          "{} could not be read or written ({}): check the disk that holds it, then "
          "run the command again",
          path, sqlite3_errmsg(db));
  }
}

std::string path_of(sqlite3* db) {
  const char* path = sqlite3_db_filename(db, "main");
  return path != nullptr ? path : "the database";
}

}  // namespace

Handle no_handle() {
  return {nullptr, [](sqlite3* db) { sqlite3_close_v2(db); }};
}

Error file_error(sqlite3* db, const std::string& path) {
  return {ExitCode::file, explain(db, path)};
}

void throw_file_error(sqlite3* db) { throw file_error(db, path_of(db)); }

Statement::Statement(sqlite3_stmt* statement) : statement_(statement, sqlite3_finalize) {}

Statement::Statement(sqlite3* db, std::string_view sql) : statement_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* statement = nullptr;
  const int size = static_cast<int>(sql.size());
  if (sqlite3_prepare_v3(db, sql.data(), size, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    throw_file_error(db);
  }
  statement_.reset(statement);
}

bool Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      reset();
      return false;
    default: {
      // A reset forgets the system's error code: say what happened first.
      const Error error = file_error(sqlite3_db_handle(statement_.get()),
                                     path_of(sqlite3_db_handle(statement_.get())));
      reset();
      throw error;
    }
  }
}

int Statement::step_code() { return sqlite3_step(statement_.get()); }

void Statement::reset() { sqlite3_reset(statement_.get()); }

void Statement::bind(int index, const Statement& other, int column) {
  sqlite3_bind_value(statement_.get(), index, sqlite3_column_value(other.statement_.get(), column));
}

void Statement::bind(int index, std::nullptr_t) { sqlite3_bind_null(statement_.get(), index); }

void Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::bind(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL: an empty text is not one.
  sqlite3_bind_text64(statement_.get(), index, value.empty() ? "" : value.data(), value.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind(int index, Blob value) {
  sqlite3_bind_blob64(statement_.get(), index, value.bytes.empty() ? "" : value.bytes.data(),
                      value.bytes.size(), SQLITE_STATIC);
}

void Statement::bind(const Parameters& parameters) {
  const auto given = [&](std::string_view name) {
    for (const auto& [known, value] : parameters) {
      if (known == name) return true;
    }
    return false;
  };
  for (int i = 1; i <= sqlite3_bind_parameter_count(statement_.get()); ++i) {
    const char* name = sqlite3_bind_parameter_name(statement_.get(), i);
    if (name == nullptr) {
      throw Error(ExitCode::usage, "a parameter has no name: write :name instead of ?");
    }
    if (!given(name)) {
      throw Error(ExitCode::usage, fmt::format("the parameter {} has no value", name));
    }
  }
  for (const auto& [name, value] : parameters) {
    const int index = sqlite3_bind_parameter_index(statement_.get(), name.c_str());
    if (index == 0) {
      throw Error(ExitCode::usage, fmt::format("the statement has no parameter {}", name));
    }
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      bind(index, *integer);
    } else if (const auto* number = std::get_if<double>(&value)) {
      bind(index, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      bind(index, *text);
    } else {
      bind(index, nullptr);
    }
  }
}

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name != nullptr ? name : "";
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::number(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

Value Statement::value(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return integer(column);
    case SQLITE_FLOAT:
      return number(column);
    case SQLITE_NULL:
      return std::monostate{};
    default:
      return text(column);
  }
}

void Statement::read(int column, Value& value) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      value = integer(column);
      return;
    case SQLITE_FLOAT:
      value = number(column);
      return;
    case SQLITE_NULL:
      value = std::monostate{};
      return;
    default:
      break;
  }
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  auto* held = std::get_if<std::string>(&value);
  if (held == nullptr) held = &value.emplace<std::string>();
  if (text != nullptr) {
    held->assign(reinterpret_cast<const char*>(text), size);
  } else {
    held->clear();
  }
}

void Statement::append(int column, std::string& bytes) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  bytes += static_cast<char>(type);
  const auto add = [&](auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  if (type == SQLITE_INTEGER) add(integer(column));
  if (type == SQLITE_FLOAT) add(number(column));
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return;
  const void* held = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  add(size);
  bytes.append(static_cast<const char*>(held), static_cast<std::size_t>(size));
}

void execute(sqlite3* db, std::string_view sql) {
  if (sqlite3_exec(db, std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw_file_error(db);
  }
}

std::int64_t integer_of(sqlite3* db, std::string_view sql) {
  Statement statement(db, sql);
  return statement.step() ? statement.integer(0) : 0;
}

Error damaged(const std::string& path, const std::string& fault) {
  return {ExitCode::file,
          fmt::format("{} is damaged ({}): restore a copy, or save what can be read with: "
                      "sqlite3 {} .recover",
                      path, fault, path)};
}

namespace {

/// All that a PRAGMA of checks says, or did before somebody interrupted it.
std::vector<std::string> faults_of(sqlite3* db, Statement& statement) {
  std::vector<std::string> faults;
  while (true) {
    const int code = statement.step_code();
    if (code == SQLITE_DONE || (code & 0xff) == SQLITE_INTERRUPT) return faults;
    if (code != SQLITE_ROW) throw_file_error(db);
    std::string text = statement.text(0);
    if (text == "ok") continue;
    // SQLite puts some on several lines.
    std::replace(text.begin(), text.end(), '\n', ' ');
    faults.push_back(std::move(text));
  }
}

}  // namespace

std::vector<std::string> faults_of(sqlite3* db, const std::string& check, int most) {
  Statement statement(db, fmt::format("PRAGMA {}({})", check, most));
  return faults_of(db, statement);
}

/// The look at all tables' pages is one instruction of SQLite's (3.40): within it no progress
/// handler is asked, so that a Deadline ends nothing, but an interrupt is obeyed. The statement is
/// there before the clock runs: to make it reads the schema, which must not be interrupted.
std::vector<std::string> faults_within(sqlite3* db, std::chrono::milliseconds time) {
  Statement statement(db, "PRAGMA quick_check(1)");
  const std::jthread alarm([=](const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any end;
    std::unique_lock lock(mutex);
    end.wait_for(lock, ended, time, [] { return false; });
    if (!ended.stop_requested()) sqlite3_interrupt(db);
  });
  return faults_of(db, statement);
}

void copy_database(sqlite3* from, sqlite3* to) {
  // Within a read transaction nobody's writing makes the copy begin again.
  execute(from, "BEGIN");
  integer_of(from, "SELECT count(*) FROM sqlite_schema");
  sqlite3_backup* backup = sqlite3_backup_init(to, "main", from, "main");
  if (backup == nullptr) throw_file_error(to);
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  execute(from, "COMMIT");
  if (code == SQLITE_DONE) return;
  const char* target = sqlite3_db_filename(to, "main");
  throw file_error(to, target != nullptr && *target != 0 ? target : path_of(from));
}

Deadline::Deadline(sqlite3* db, std::optional<std::chrono::duration<double>> time,
                   std::function<bool()> cancelled)
    : db_(db), time_(time), cancelled_(std::move(cancelled)) {
  constexpr int instructions = 10'000;  // about 100 µs
  if (time_ || cancelled_) sqlite3_progress_handler(db_, instructions, ask, this);
}

Deadline::~Deadline() { sqlite3_progress_handler(db_, 0, nullptr, nullptr); }

int Deadline::ask(void* deadline) {
  auto& self = *static_cast<Deadline*>(deadline);
  self.passed_ = self.time_ && std::chrono::steady_clock::now() - self.begin_ > *self.time_;
  return self.passed_ || (self.cancelled_ && self.cancelled_()) ? 1 : 0;
}

PreparedOnce::InUse PreparedOnce::get(std::string_view sql) {
  auto known = statements_.find(sql);
  if (known == statements_.end()) known = statements_.try_emplace(std::string(sql), db_, sql).first;
  return InUse(&known->second);
}

Transaction::Transaction(sqlite3* db) {
  if (sqlite3_get_autocommit(db) == 0) return;
  db_ = db;
  execute(db_, "BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  // After some failures (a full disk) SQLite has rolled back by itself.
  if (db_ != nullptr && sqlite3_get_autocommit(db_) == 0) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  if (db_ == nullptr) return;
  execute(db_, "COMMIT");
  db_ = nullptr;
}

}  // namespace warpmeter::schema
