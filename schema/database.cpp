// SPDX-License-Identifier: MIT
#include "schema/database.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "base/escapes.h"
#include "schema/alike/alike.h"
#include "schema/catalogue.h"
#include "schema/embedded.h"
#include "schema/interrupted.h"
#include "schema/new_file/new_file.h"
#include "schema/own_objects.h"
#include "schema/records.h"
#include "schema/rows/explanations.h"
#include "schema/view_sql.h"

namespace warpmeter::schema {
namespace {

constexpr int write_patience_ms = 60'000;  // another writer's transactions take milliseconds
constexpr int read_patience_ms = 5'000;    // a reader's housekeeping can wait for the next one

std::int64_t newest_version() { return static_cast<std::int64_t>(embedded::migrations().size()); }

const std::string& fingerprint() {
  static const std::string known = fingerprint_of(Dialect::sqlite);
  return known;
}

/// SQLite gives names like ":memory:" a meaning; a file may have any name.
std::string file_name(const std::string& path) {
  return path.front() == ':' || path.starts_with("file:") ? "./" + path : path;
}

/// Refuses a wrong path before SQLite sees it. True when there is a file.
bool check_path(const std::string& path) {
  if (path.empty()) {
    throw Error(ExitCode::file, "the name of the database is empty: name a file with --db");
  }
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      throw Error(ExitCode::file,
                  fmt::format("{} is a directory: name a file in it with --db", path));
    }
    if (!S_ISREG(status.st_mode)) {
      throw Error(ExitCode::file,
                  fmt::format("{} is not a regular file: name another one with --db", path));
    }
    return true;
  }
  if (errno != ENOENT) {
    throw Error(ExitCode::file, fmt::format("{} cannot be opened ({}): name another file with --db",
                                            path, std::strerror(errno)));
  }
  return false;
}

Handle open(const std::string& name, const std::string& path, int flags, int patience_ms) {
  sqlite3* db = nullptr;
  // A connection belongs to one thread, so that SQLite need not lock at every column.
  flags |= SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  Handle handle = no_handle();
  handle.reset(db);
  if (code != SQLITE_OK) throw file_error(db, path);
  sqlite3_busy_timeout(db, patience_ms);
  distrust(db);
  return handle;
}

enum class Content { empty, ours };

/// Throws for another application's database and for one of a newer warpmeter.
Content recognise(sqlite3* db, const std::string& path) {
  const std::int64_t id = integer_of(db, "PRAGMA application_id");
  const std::int64_t version = integer_of(db, "PRAGMA user_version");
  if (id == 0 && version == 0 && integer_of(db, "SELECT count(*) FROM sqlite_schema") == 0) {
    return Content::empty;
  }
  if (id != application_id || version < 0) {
    throw Error(
        ExitCode::file,
        fmt::format("{} is the database of another program: name another file with --db", path));
  }
  if (version > newest_version()) {
    throw Error(ExitCode::file,
                fmt::format("{} was written by a newer warpmeter (version {} of the tables, this "
                            "one knows {}): update warpmeter, or name another file with --db",
                            path, version, newest_version()));
  }
  return Content::ours;
}

/// Does the file say that its views are those of this program?
bool says_current(sqlite3* db) {
  if (integer_of(db, "PRAGMA user_version") != newest_version()) return false;
  Statement statement(db, "SELECT value FROM t_meta WHERE name = 'fingerprint'");
  return statement.step() && statement.text(0) == fingerprint();
}

bool is_current(sqlite3* db) { return says_current(db) && has_all_views(db); }

/// All of a file's definitions, with the version that they say they are of.
std::string definitions_of(sqlite3* db) {
  std::string all = fmt::format("{}", integer_of(db, "PRAGMA user_version"));
  Statement statement(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema");
  while (statement.step()) {
    for (int column = 0; column < statement.columns(); ++column) statement.append(column, all);
  }
  return all;
}

/// The definitions that this process has inspected and found to be its own: a command opens its
/// database several times.
class Inspected {
 public:
  bool has(const std::string& definitions) {
    const std::lock_guard lock(mutex_);
    return all_.contains(definitions);
  }
  void add(const std::string& definitions) {
    const std::lock_guard lock(mutex_);
    all_.insert(definitions);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> all_;
};

/// As recognise; throws too for one whose tables, or views that it says are ours, are not as
/// warpmeter makes them. t_meta is one of these tables, so it is believed after them.
Content recognise_and_inspect(sqlite3* db, const std::string& path) {
  const Content content = recognise(db, path);
  if (content == Content::empty) return content;
  static Inspected inspected;
  const std::string definitions = definitions_of(db);
  if (inspected.has(definitions)) return content;
  if (refuse_changed_objects(db, path, says_current)) inspected.add(definitions);
  return content;
}

/// The look is at one moment: another process may be bringing the file up to date.
Content look_at(sqlite3* db, const std::string& path) {
  execute(db, "BEGIN");
  const Content content = recognise_and_inspect(db, path);
  execute(db, "COMMIT");
  return content;
}

/// Names come from the file.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

void replace_views(sqlite3* db) {
  Statement known(db, "SELECT name FROM t_view");
  std::vector<std::string> names;
  while (known.step()) names.push_back(known.text(0));
  execute(db, "DELETE FROM t_view");
  Statement remember(db, "INSERT INTO t_view (name) VALUES (?)");
  for (const auto files : {embedded::private_views(), embedded::public_views()}) {
    for (const embedded::File& file : files) {
      names.emplace_back(file.name);
      remember.execute(file.name);
    }
  }
  for (const std::string& name : names) {
    execute(db, fmt::format("DROP VIEW IF EXISTS {}", quoted(name)));
  }
  for (const auto files : {embedded::private_views(), embedded::public_views()}) {
    for (const embedded::File& file : files) execute(db, view_sql(file.text));
  }
}

void replace_grades(sqlite3* db) {
  execute(db, "DELETE FROM t_grade");
  Statement grade(db, "INSERT INTO t_grade (grade, name) VALUES (?, ?)");
  for (const GradeInfo& info : grades) grade.execute(info.grade, info.name);
}

/// The metrics' definitions as rows; counters keep their numbers.
void replace_metrics(sqlite3* db) {
  const Catalogue& catalogue = Catalogue::get();
  execute(db, "DELETE FROM t_term; DELETE FROM t_metric");
  Statement counter(db,
                    "INSERT INTO t_counter (name, unit) VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET unit = excluded.unit");
  for (const CounterInfo& info : catalogue.counters()) counter.execute(info.name, info.unit);
  Statement metric(db,
                   "INSERT INTO t_metric (name, unit, scale, numerator_terms, denominator_terms, "
                   "anchor_id, undefined) VALUES (?, ?, ?, ?, ?, "
                   "(SELECT counter_id FROM t_counter WHERE name = ?), ?)");
  Statement term(db,
                 "INSERT INTO t_term (metric_id, is_denominator, counter_id, factor) SELECT ?, ?, "
                 "counter_id, ? FROM t_counter WHERE name = ?");
  for (const MetricInfo& info : catalogue.metrics()) {
    const std::string anchor = info.has_counters() ? info.numerator.front().name : "";
    metric.execute(info.name, info.unit, info.scale, info.numerator.size(), info.denominator.size(),
                   anchor, info.undefined);
    if (!info.has_counters()) continue;
    const std::int64_t id = sqlite3_last_insert_rowid(db);
    for (const Term& t : info.numerator) term.execute(id, 0, t.factor, t.name);
    for (const Term& t : info.denominator) term.execute(id, 1, t.factor, t.name);
  }
}

/// Brings the tables, the views and the catalogue's rows to this program's version.
void migrate(sqlite3* db, const std::string& path) {
  Transaction transaction(db);
  // Another process may have done it while this one waited.
  recognise_and_inspect(db, path);
  const std::int64_t version = integer_of(db, "PRAGMA user_version");
  const auto migrations = embedded::migrations();
  for (auto i = static_cast<std::size_t>(version); i < migrations.size(); ++i) {
    execute(db, migrations[i].text);
  }
  if (version == newest_version() && is_current(db)) return;
  execute(db, fmt::format("PRAGMA application_id = {}", application_id));
  execute(db, fmt::format("PRAGMA user_version = {}", newest_version()));
  replace_grades(db);
  replace_finding_kinds(db);
  replace_metrics(db);
  replace_views(db);
  Statement(db, "INSERT OR REPLACE INTO t_meta (name, value) VALUES ('fingerprint', ?)")
      .execute(fingerprint());
  transaction.commit();
}

/// The same of a file that stays. One of an older version then says which launches are alike.
void migrate_file(sqlite3* db, const std::string& path) {
  const std::int64_t version = integer_of(db, "PRAGMA user_version");
  migrate(db, path);
  if (version < newest_version()) keep_alike_of_all_runs(db);
}

/// Readers do not wait for writers, nor writers for readers. Changing the mode needs the file alone
/// for a moment, and SQLite does not wait for that by itself.
void use_write_ahead_log(sqlite3* db) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(write_patience_ms);
  while (sqlite3_exec(db, "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr) != SQLITE_OK) {
    const int code = sqlite3_errcode(db) & 0xff;
    const bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    if (!busy || std::chrono::steady_clock::now() > deadline) throw_file_error(db);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// A connection that keeps the file for reading up to date, or nothing where it cannot be written.
Handle keep(const std::string& path) {
  if (access(path.c_str(), W_OK) != 0) return no_handle();
  if (access(folder_of(path).c_str(), W_OK) != 0) return no_handle();
  try {
    Handle db = open(file_name(path), path, SQLITE_OPEN_READWRITE, read_patience_ms);
    if (sqlite3_db_readonly(db.get(), "main") != 0) return no_handle();
    if (look_at(db.get(), path) == Content::empty) return no_handle();
    execute(db.get(), "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL");
    if (!is_current(db.get())) migrate_file(db.get(), path);
    mark_interrupted(db.get());
    return db;
  } catch (const Error&) {
    // The command is no upkeep: whether the file can be read is found out next.
    return no_handle();
  }
}

/// A private copy in a temporary file, which SQLite removes.
Handle up_to_date_copy(sqlite3* db, const std::string& path) {
  Handle copy = open("", path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, write_patience_ms);
  copy_database(db, copy.get());
  migrate(copy.get(), path);
  return copy;
}

/// Nothing is added to a damaged file. Every command waits for this, so that it sees some 1 MB of
/// the file: `doctor` looks at the rest.
void refuse_damaged(sqlite3* db, const std::string& path) {
  const std::vector<std::string> faults = faults_within(db, std::chrono::milliseconds(10));
  if (!faults.empty()) throw damaged(path, faults.front());
}

std::string immutable_uri(const std::string& path) {
  const std::string full = std::filesystem::absolute(path).string();
  return "file:" + percent_encoded_but(full, "/.-_") + "?immutable=1";
}

/// A read-only connection that has read something. In a folder that cannot be written SQLite cannot
/// make the index of the write-ahead log; without a log there is no need for one. Nor is there for
/// somebody else's file that nobody has open: the log and index that SQLite would make beside it
/// would stay, and belong to the wrong person.
Handle open_read_only(const std::string& path) {
  std::error_code unknown;
  const bool has_log = std::filesystem::exists(path + "-wal", unknown) || unknown;
  if (access(path.c_str(), W_OK) != 0 && !has_log) {
    return open(immutable_uri(path), path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                write_patience_ms);
  }
  Handle db = open(file_name(path), path, SQLITE_OPEN_READONLY, write_patience_ms);
  if (sqlite3_exec(db.get(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) ==
      SQLITE_OK) {
    return db;
  }
  const int code = sqlite3_errcode(db.get()) & 0xff;
  if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw file_error(db.get(), path);
  std::error_code ignored;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", ignored);
  if (!ignored && log_bytes > 0) {
    throw Error(ExitCode::file,
                fmt::format("{} was not closed and its folder cannot be written, so that the log "
                            "beside it cannot be read: copy both to a folder that can be written",
                            path));
  }
  return open(immutable_uri(path), path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, write_patience_ms);
}

}  // namespace

void make_current(sqlite3* db) { migrate(db, ":memory:"); }

std::string fingerprint_of(Dialect dialect, std::string_view more) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  add(embedded::catalogue);
  for (const auto files : {embedded::private_views(), embedded::public_views()}) {
    for (const embedded::File& file : files) add(view_sql(file.text, dialect));
  }
  for (const FindingKind& kind : finding_kinds) {
    add(kind.name);
    add(kind.looked_for);
  }
  add(more);
  return fmt::format("{:016x}", hash);
}

Handle open_for_writing(const std::string& path) {
  if (!check_path(path)) {
    refuse_place(path);
    put_new_file(path);
  }
  Handle db =
      open(file_name(path), path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, write_patience_ms);
  if (sqlite3_db_readonly(db.get(), "main") != 0) {
    throw Error(ExitCode::file, fmt::format("{} cannot be written: change its permissions, or name "
                                            "another file with --db",
                                            path));
  }
  const Content content = look_at(db.get(), path);
  // Findings and remedies have up to 2,000 bytes, with their pictures. Without rowids, what is more
  // than a quarter of a page goes to one of its own: on SQLite's usual 4,096 bytes those of 10,000
  // launches took 2.5 times the room, and a fifth more time to read. Only a new file obeys.
  if (content == Content::empty) execute(db.get(), "PRAGMA page_size = 8192");
  use_write_ahead_log(db.get());
  // With the log, a killed program loses nothing that it committed; power failure may cost the last
  // commits, never the file.
  execute(db.get(), "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL");
  if (content == Content::ours) refuse_damaged(db.get(), path);
  if (content == Content::empty || !is_current(db.get())) migrate_file(db.get(), path);
  mark_interrupted(db.get());
  return db;
}

ReadHandles open_for_reading(const std::string& path) {
  if (!check_path(path)) {
    throw Error(ExitCode::file, fmt::format("there is no database {}: make one with `warpmeter "
                                            "run` or `warpmeter profile -m @default ./app`, or "
                                            "name another file with --db",
                                            path));
  }
  ReadHandles handles{keep(path), open_read_only(path)};
  sqlite3* db = handles.db.get();
  if (look_at(db, path) == Content::empty) {
    throw Error(ExitCode::file, fmt::format("{} is empty: fill it with `warpmeter run` or "
                                            "`warpmeter profile -m @default ./app`, or name "
                                            "another file with --db",
                                            path));
  }
  const std::int64_t version = integer_of(db, "PRAGMA user_version");
  if (version < newest_version()) {
    throw Error(ExitCode::file,
                fmt::format("{} was written by an older warpmeter (version {} of the tables, this "
                            "one reads {}) and cannot be brought up to date, for it cannot be "
                            "written: copy it to a folder that can be written",
                            path, version, newest_version()));
  }
  if (!is_current(db)) {
    // The views are of another build, or somebody's: nothing of theirs is read.
    handles.db = up_to_date_copy(db, path);
    db = handles.db.get();
  }
  if (!handles.keeper) show_interrupted(db);
  execute(db, "PRAGMA query_only = ON");
  return handles;
}

Handle open_foreign(const std::string& path) {
  if (!check_path(path)) {
    throw Error(ExitCode::file, fmt::format("there is no database {}: check its name", path));
  }
  Handle db = open_read_only(path);
  execute(db.get(), "PRAGMA query_only = ON");
  return db;
}

Handle open_untouched(const std::string& path) {
  if (!check_path(path)) {
    throw Error(ExitCode::file, fmt::format("there is no database {}: check its name", path));
  }
  const bool writable =
      access(path.c_str(), W_OK) == 0 && access(folder_of(path).c_str(), W_OK) == 0;
  Handle db = writable ? open(file_name(path), path, SQLITE_OPEN_READWRITE, write_patience_ms)
                       : open_read_only(path);
  // Entries that a killed program left in the log stay there; an empty log goes with its last
  // reader.
  std::error_code none;
  const auto log_bytes = std::filesystem::file_size(path + "-wal", none);
  if (writable && !none && log_bytes > 0) {
    sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  if (look_at(db.get(), path) == Content::empty) {
    throw Error(ExitCode::file, fmt::format("{} is empty: it holds no run", path));
  }
  if (integer_of(db.get(), "PRAGMA user_version") < newest_version()) {
    db = up_to_date_copy(db.get(), path);
  }
  show_interrupted(db.get());
  execute(db.get(), "PRAGMA query_only = ON");
  return db;
}

}  // namespace warpmeter::schema
