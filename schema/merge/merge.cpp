// SPDX-License-Identifier: MIT
// The tables themselves say what a run is made of: those with a launch_id belong to its launches,
// those with a run_id to the run. A column's name says what it refers to, and is translated:
// launches move by one distance a run, so that their order stays; devices, counters, reasons and
// explanations are found by their content, or added. A new table of a run needs nothing here. Peaks
// belong to devices: the later measurement stays.
#include "schema/merge/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/temporary.h"
#include "schema/alike/alike.h"
#include "schema/database.h"
#include "schema/merge/conflict.h"
#include "schema/nvprof_file/import.h"
#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

/// Numbers of rows that are the same thing in both databases when their content is the same.
class Numbers {
 public:
  /// Rows are alike when `identity` is; `columns` are what a new row gets.
  Numbers(sqlite3* from, sqlite3* to, const std::string& table, const std::string& key,
          const std::vector<std::string>& identity, const std::vector<std::string>& columns)
      : to_(to),
        read_(from,
              fmt::format("SELECT {} FROM {} WHERE {} = ?", fmt::join(columns, ", "), table, key)),
        find_(to, fmt::format("SELECT {} FROM {} WHERE {} IS ?", key, table,
                              fmt::join(identity, " IS ? AND "))),
        insert_(to, insertion(table, columns)),
        table_(table),
        identity_(static_cast<int>(identity.size())),
        columns_(static_cast<int>(columns.size())) {}

  /// `on_new` is told of a row that had to be added.
  std::int64_t translated(std::int64_t number, const std::function<void()>& on_new = {}) {
    const auto known = known_.find(number);
    if (known != known_.end()) return known->second;
    read_.bind(1, number);
    if (!read_.step()) {
      throw Error(ExitCode::file, fmt::format("a row refers to number {} of {}, which is not there",
                                              number, table_));
    }
    // The identity is the first of the columns.
    for (int i = 0; i < identity_; ++i) find_.bind(i + 1, read_, i);
    std::int64_t result = 0;
    if (find_.step()) {
      result = find_.integer(0);
      find_.reset();
    } else {
      for (int i = 0; i < columns_; ++i) insert_.bind(i + 1, read_, i);
      insert_.step();
      result = sqlite3_last_insert_rowid(to_);
      if (on_new) on_new();
    }
    read_.reset();
    known_.emplace(number, result);
    return result;
  }

  /// After a rollback, which takes new rows away again.
  void forget() { known_.clear(); }

 private:
  sqlite3* to_;
  Statement read_, find_, insert_;
  std::string table_;
  int identity_, columns_;
  std::unordered_map<std::int64_t, std::int64_t> known_;
};

struct SourceRun {
  std::int64_t id = 0;
  std::string uuid, outcome, label;
};

std::vector<SourceRun> runs_of(sqlite3* db) {
  Statement statement(db, "SELECT run_id, uuid, outcome, label FROM t_run ORDER BY run_id");
  std::vector<SourceRun> runs;
  while (statement.step()) {
    runs.push_back({statement.integer(0), statement.text(1), statement.text(2), statement.text(3)});
  }
  return runs;
}

/// Copies runs of one source into the target.
class Copier {
 public:
  Copier(sqlite3* from, sqlite3* to, const Shapes& shapes)
      : from_(from),
        to_(to),
        shapes_(shapes),
        counters_(from, to, "t_counter", "counter_id", {"name"}, {"name", "unit"}),
        reasons_(from, to, "t_reason", "reason_id", {"text"}, {"text"}),
        explanations_(from, to, "t_explanation", "explanation_id", {"digest"},
                      without(shapes.explanation.columns, "explanation_id")),
        devices_(from, to, "t_device", "device_id", without(shapes.device.columns, "device_id"),
                 without(shapes.device.columns, "device_id")) {}

  /// The id of the run that was copied last, in the target.
  std::int64_t run_id() const { return run_id_; }

  /// The peaks of all devices, where the target has none or older ones.
  void copy_peaks() {
    Statement read(
        from_, "SELECT device_id, name, unit, value, sm_clock_mhz, reason, measured FROM t_peak");
    Statement write(
        to_,
        "INSERT INTO t_peak (device_id, name, unit, value, sm_clock_mhz, reason, measured) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET value = ?4, "
        "sm_clock_mhz = ?5, reason = ?6, measured = ?7 WHERE measured < ?7");
    Transaction transaction(to_);
    while (read.step()) {
      write.bind(1, devices_.translated(read.integer(0)));
      for (int column = 1; column < read.columns(); ++column) write.bind(column + 1, read, column);
      write.step();
    }
    transaction.commit();
  }

  struct Copied {
    std::int64_t launches = 0, rows = 0;
  };

  Copied copy(const SourceRun& run) {
    try {
      Transaction transaction(to_);
      run_id_ = copy_run(run.id);
      const std::int64_t last = integer_of(to_, "SELECT coalesce(max(launch_id), 0) FROM t_launch");
      distance_ = last + 1 - first_launch(from_, run.id);
      Copied copied{0, 1};  // the run's own row
      for (const TableShape& table : shapes_.of_run) {
        const std::int64_t rows = copy_rows(table, "run_id = ?", {run.id});
        if (table.name == "t_launch") copied.launches = rows;
        copied.rows += rows;
      }
      new_explanations_.clear();
      for (const TableShape& table : shapes_.of_launch) {
        copied.rows += copy_rows(
            table, "launch_id IN (SELECT launch_id FROM t_launch WHERE run_id = ?)", {run.id});
      }
      for (const TableShape& table : shapes_.of_explanation) {
        copy_rows(table, "explanation_id = ?", new_explanations_);
      }
      transaction.commit();
      return copied;
    } catch (...) {
      counters_.forget();
      reasons_.forget();
      explanations_.forget();
      devices_.forget();
      throw;
    }
  }

 private:
  std::int64_t translated(Reference reference, std::int64_t number) {
    switch (reference) {
      case Reference::run:
        return run_id_;
      case Reference::launch:
        return number + distance_;
      case Reference::device:
        return devices_.translated(number);
      case Reference::counter:
        return counters_.translated(number);
      case Reference::reason:
        return reasons_.translated(number);
      case Reference::explanation:
        return explanations_.translated(number, [&] { new_explanations_.push_back(number); });
      case Reference::none:
        break;
    }
    return number;
  }

  std::int64_t copy_run(std::int64_t id) {
    const std::vector<std::string> columns = without(shapes_.run.columns, "run_id");
    Statement read(from_,
                   fmt::format("SELECT {} FROM t_run WHERE run_id = ?", fmt::join(columns, ", ")));
    Statement write(to_, insertion("t_run", columns));
    read.bind(1, id);
    read.step();
    for (int i = 0; i < read.columns(); ++i) write.bind(i + 1, read, i);
    write.step();
    return sqlite3_last_insert_rowid(to_);
  }

  /// The rows for which the condition holds, with each of the numbers in its place.
  std::int64_t copy_rows(const TableShape& table, const char* condition,
                         const std::vector<std::int64_t>& numbers) {
    Statement read(from_, fmt::format("SELECT {} FROM {} WHERE {}", fmt::join(table.columns, ", "),
                                      table.name, condition));
    Statement write(to_, insertion(table.name, table.columns));
    std::vector<Reference> references;
    for (const std::string& column : table.columns) references.push_back(reference_of(column));
    std::int64_t rows = 0;
    for (const std::int64_t number : numbers) {
      read.bind(1, number);
      for (; read.step(); ++rows) {
        copy_row(read, write, references);
      }
    }
    return rows;
  }

  void copy_row(const Statement& read, Statement& write, const std::vector<Reference>& references) {
    int index = 0;
    for (const Reference reference : references) {
      const int column = index++;
      if (reference == Reference::none || read.is_null(column)) {
        write.bind(index, read, column);
      } else {
        write.bind(index, translated(reference, read.integer(column)));
      }
    }
    write.step();
  }

  sqlite3 *from_, *to_;
  const Shapes& shapes_;
  Numbers counters_, reasons_, explanations_, devices_;
  std::vector<std::int64_t>
      new_explanations_;  ///< the new explanations of the source, that the target lacked
  std::int64_t run_id_ = 0, distance_ = 0;
};

/// The number of a run in the target; nothing when it is not there.
std::optional<std::int64_t> find_uuid(sqlite3* db, const std::string& uuid) {
  Statement statement(db, "SELECT run_id FROM t_run WHERE uuid = ?");
  statement.bind(1, uuid);
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}

/// Every reference is translated, so looking each up again would only take time. The cache holds
/// the pages that rows of a run go to.
void prepare_for_copies(sqlite3* target) {
  execute(target, "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -65536");
}

class Merger {
 public:
  Merger(const std::string& target, const MergeOptions& options, std::size_t total)
      : options_(options),
        target_name_(target),
        target_(open_for_writing(target)),
        shapes_(target_.get()),
        total_(total) {
    prepare_for_copies(target_.get());
  }

  /// `database`: where the runs of the source are.
  void take(const std::string& database, MergedSource& result) {
    const Handle from = open_untouched(database);
    execute(from.get(), "BEGIN");  // all of it at one moment
    Copier copier(from.get(), target_.get(), shapes_);
    copier.copy_peaks();
    for (const SourceRun& run : runs_of(from.get())) {
      if (options_.cancelled && options_.cancelled()) return;
      if (options_.progress) options_.progress(done_, total_, result.path);
      ++done_;
      if (run.outcome == "running") {
        ++result.running;
      } else if (const auto known = find_uuid(target_.get(), run.uuid)) {
        compare(from.get(), run, *known, result);
      } else {
        const Copier::Copied copied = copier.copy(run);
        keep_alike(target_.get(), copier.run_id());
        result.launches += copied.launches;
        result.rows += copied.rows;
        ++result.added;
      }
    }
  }

 private:
  void compare(sqlite3* from, const SourceRun& run, std::int64_t known, MergedSource& result) {
    const std::string conflict = conflict_between(
        shapes_, {target_.get(), known, target_name_},
        {from, run.id, options_.source_name.empty() ? result.path : options_.source_name});
    if (conflict.empty()) {
      ++result.known;
    } else {
      result.conflicts.push_back(fmt::format("run {} ({}): {}", run.id, run.uuid, conflict));
    }
    Statement label(target_.get(), "SELECT coalesce(label, '') FROM t_run WHERE run_id = ?");
    label.bind(1, known);
    if (label.step() && label.text(0) != run.label) {
      result.remarks.push_back(fmt::format("run {} ({}) has the label '{}' there and keeps '{}'",
                                           run.id, run.uuid, run.label, label.text(0)));
    }
  }

  const MergeOptions& options_;
  std::string target_name_;
  Handle target_;
  Shapes shapes_;
  std::size_t done_ = 0, total_ = 0;
};

/// Looks through a source before anything is written; how many runs it has. Throws Error{file}.
std::size_t check_source(const std::string& path) {
  const Handle db = open_untouched(path);
  const std::vector<std::string> faults = faults_of(db.get(), "integrity_check", 1);
  if (!faults.empty()) throw damaged(path, faults.front());
  return runs_of(db.get()).size();
}

/// A database of ours that holds the runs of a source: the source itself, or what was read from a
/// file of nvprof's.
struct Database {
  std::string path;
  std::unique_ptr<TemporaryFolder> folder = {};
};

Database database_of(MergedSource& source, const MergeOptions& options) {
  if (!is_nvprof_file(source.path)) return {source.path};
  Database read{"", std::make_unique<TemporaryFolder>()};
  read.path = (read.folder->path() / "nvprof.db").string();
  source.remarks.push_back(
      import_nvprof_file(source.path, read.path, {options.nvprof_program, options.cancelled}));
  return read;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored);
}

}  // namespace

std::vector<MergedSource> merge(std::span<const std::string> sources, const std::string& target,
                                const MergeOptions& options) {
  std::vector<MergedSource> results;
  std::vector<Database> databases;
  std::size_t runs = 0;
  for (const std::string& path : sources) {
    MergedSource& result = results.emplace_back();
    Database& database = databases.emplace_back();
    result.path = path;
    result.is_target = is_same_file(path, target);
    if (result.is_target) continue;
    try {
      database = database_of(result, options);
      runs += check_source(database.path);
    } catch (const Error& error) {
      if (!options.skip_unreadable) throw;
      result.refused = error.what();
    }
  }
  const auto is_refused = [](const MergedSource& result) { return !result.refused.empty(); };
  if (std::all_of(results.begin(), results.end(), is_refused)) {
    throw Error(ExitCode::file,
                fmt::format("none of the databases could be read: {}", results.front().refused));
  }
  Merger merger(target, options, runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    MergedSource& result = results[i];
    if (result.refused.empty() && !result.is_target) merger.take(databases[i].path, result);
  }
  return results;
}

std::int64_t copy_run(const std::string& source, std::int64_t run, const std::string& target) {
  const Handle from = open_untouched(source);
  const Handle to = open_for_writing(target);
  prepare_for_copies(to.get());
  execute(from.get(), "BEGIN");  // all of it at one moment
  for (const SourceRun& each : runs_of(from.get())) {
    if (each.id != run) continue;
    if (const auto known = find_uuid(to.get(), each.uuid)) return *known;
    const Shapes shapes(to.get());
    Copier copier(from.get(), to.get(), shapes);
    copier.copy_peaks();
    copier.copy(each);
    keep_alike(to.get(), copier.run_id());
    return copier.run_id();
  }
  throw Error(ExitCode::file, fmt::format("there is no run {} in {} any more", run, source));
}

}  // namespace warpmeter::schema
