// SPDX-License-Identifier: MIT
#include "schema/upkeep/maintenance.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>

#include "base/temporary.h"
#include "base/with_noun.h"
#include "schema/database.h"
#include "schema/rows/explanations.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {
namespace {

std::int64_t pages(sqlite3* db, const char* which) {
  return integer_of(db, fmt::format("PRAGMA {}", which)) * integer_of(db, "PRAGMA page_size");
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// A file that goes away again unless it is renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& beside) : path_(beside + ".XXXXXX") {
    const SignalsHeld held;
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) {
      throw Error(ExitCode::file, fmt::format("cannot write {}: {}; choose another file", beside,
                                              std::strerror(errno)));
    }
    fchmod(descriptor, usual_mode());
    close(descriptor);
    for (const char* ending : endings) doomed_.emplace_back(path_ + ending);
  }
  ~TemporaryFile() {
    for (const char* ending : endings) unlink((path_ + ending).c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void rename_to(const std::string& name) const {
    if (std::rename(path_.c_str(), name.c_str()) != 0) {
      throw Error(ExitCode::file, fmt::format("cannot write {}: {}; choose another file", name,
                                              std::strerror(errno)));
    }
  }

 private:
  static constexpr std::array<const char*, 4> endings = {"", "-journal", "-wal", "-shm"};
  std::string path_;
  std::list<Doomed> doomed_;
};

void refuse_running(sqlite3* db, std::span<const std::int64_t> run_ids) {
  Statement statement(db,
                      "SELECT process_id, process_host FROM t_run "
                      "WHERE run_id = ? AND outcome = 'running'");
  for (const std::int64_t id : run_ids) {
    statement.bind(1, id);
    if (!statement.step()) continue;
    throw Error(ExitCode::usage,
                fmt::format("run {} is still being measured (by process {} on {}): wait for it, or "
                            "end it first",
                            id, statement.integer(0), statement.text(1)));
  }
}

Examined integrity(sqlite3* db) {
  constexpr int most = 100;
  const std::vector<std::string> faults = faults_of(db, "integrity_check", most);
  if (faults.empty()) {
    return {"integrity", true,
            fmt::format("{} bytes, every page and index is sound", pages(db, "page_count")), ""};
  }
  return {"integrity", false,
          fmt::format("{}{} faults; the first: {}", faults.size() >= most ? "at least " : "",
                      faults.size(), faults.front()),
          "restore a copy, or save what can be read with: sqlite3 FILE .recover"};
}

Examined references(sqlite3* db) {
  const std::int64_t lost = integer_of(db, "SELECT count(*) FROM pragma_foreign_key_check");
  const std::int64_t nameless = integer_of(
      db,
      "SELECT count(*) FROM t_value v WHERE NOT EXISTS (SELECT 1 FROM t_counter c WHERE "
      "c.counter_id = v.counter_id) OR (v.reason_id IS NOT NULL AND NOT EXISTS (SELECT 1 "
      "FROM t_reason r WHERE r.reason_id = v.reason_id))");
  if (lost + nameless == 0) return {"references", true, "every row belongs to something", ""};
  return {"references", false,
          fmt::format("{} to something that is not there",
                      with_noun(lost + nameless, "row belongs", "rows belong")),
          "somebody changed the tables by hand: restore a copy"};
}

Examined runs(sqlite3* db) {
  const auto count = [&](const char* outcome) {
    return integer_of(db, fmt::format("SELECT count(*) FROM t_run WHERE outcome = '{}'", outcome));
  };
  return {
      "runs", true,
      fmt::format("{} done, {} failed, {} interrupted, {} running; {}", count("done"),
                  count("failed"), count("interrupted"), count("running"),
                  with_noun(integer_of(db, "SELECT count(*) FROM t_launch"), "launch", "launches")),
      ""};
}

Examined space(sqlite3* db) {
  return {"space", true,
          fmt::format("{} bytes are free inside (warpmeter runs vacuum gives them back)",
                      pages(db, "freelist_count")),
          ""};
}

}  // namespace

void label_run(const std::string& path, std::int64_t run_id, const std::string& label) {
  const Handle db = open_for_writing(path);
  Transaction transaction(db.get());
  check_label_is_free(db.get(), label);
  Statement(db.get(), "UPDATE t_run SET label = nullif(?, '') WHERE run_id = ?")
      .execute(label, run_id);
  transaction.commit();
}

std::size_t remove_runs(const std::string& path, std::span<const std::int64_t> run_ids,
                        const std::function<bool()>& cancelled) {
  const Handle db = open_for_writing(path);
  refuse_running(db.get(), run_ids);
  Statement remove(db.get(), "DELETE FROM t_run WHERE run_id = ?");
  std::size_t removed = 0;
  for (const std::int64_t id : run_ids) {
    if (cancelled && cancelled()) break;
    Transaction transaction(db.get());
    remove.execute(id);
    transaction.commit();
    ++removed;
  }
  // Devices that no run was on any more and that have no peaks, and explanations of no launch.
  remove_unused_explanations(db.get());
  execute(db.get(),
          "DELETE FROM t_device AS d "
          "WHERE NOT EXISTS (SELECT 1 FROM t_run_device r WHERE r.device_id = d.device_id) "
          "AND NOT EXISTS (SELECT 1 FROM t_launch l WHERE l.device_id = d.device_id) "
          "AND NOT EXISTS (SELECT 1 FROM t_device_state s WHERE s.device_id = d.device_id) "
          "AND NOT EXISTS (SELECT 1 FROM t_disturbance s WHERE s.device_id = d.device_id) "
          "AND NOT EXISTS (SELECT 1 FROM t_peak p WHERE p.device_id = d.device_id)");
  return removed;
}

FileSize vacuum(const std::string& path) {
  const Handle db = open_for_writing(path);
  FileSize size;
  size.before = pages(db.get(), "page_count");
  execute(db.get(), "VACUUM");
  size.after = pages(db.get(), "page_count");
  // The log holds the rewritten file now. Where a reader still needs it, the last one to close
  // empties it.
  sqlite3_wal_checkpoint_v2(db.get(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return size;
}

std::int64_t back_up(const std::string& path, const std::string& copy, bool replace) {
  const Handle db = open_untouched(path);
  struct stat status {};
  const bool is_there = lstat(copy.c_str(), &status) == 0;  // also a link that leads nowhere
  if (is_there && (stat(copy.c_str(), &status) != 0 || !S_ISREG(status.st_mode))) {
    throw Error(ExitCode::file, fmt::format("{} is not a regular file: choose another name", copy));
  }
  if (is_there && !replace) {
    throw Error(
        ExitCode::file,
        fmt::format("{} exists already: choose another name, or replace it with --force", copy));
  }
  if (exists(copy + "-wal") || exists(copy + "-journal")) {
    throw Error(ExitCode::file,
                fmt::format("{} is in use, or was not closed: choose another name", copy));
  }
  const TemporaryFile file(copy);
  sqlite3* opened = nullptr;
  Handle target = no_handle();
  const int code = sqlite3_open_v2(file.path().c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  target.reset(opened);
  if (code != SQLITE_OK) throw file_error(opened, copy);
  copy_database(db.get(), target.get());
  const std::int64_t bytes = pages(target.get(), "page_count");
  target.reset();
  file.rename_to(copy);
  return bytes;
}

std::vector<Examined> examine(const std::string& path) {
  const Handle db = open_untouched(path);
  std::vector<Examined> findings = {integrity(db.get())};
  // The next checks read through indexes that may be damaged.
  if (!findings.front().ok) return findings;
  findings.push_back(references(db.get()));
  findings.push_back(runs(db.get()));
  findings.push_back(space(db.get()));
  return findings;
}

}  // namespace warpmeter::schema
