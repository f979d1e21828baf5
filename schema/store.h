// SPDX-License-Identifier: MIT
// The database. Tables are private; the views in schema/views/ are the product's API.
//
// Every write is a transaction and waits for another writer instead of failing. A launch is
// complete in the database, with all its rows, or not there at all; a run whose process died shows
// as interrupted. All failures are Error{file} (a missing, foreign, newer, read-only or full
// database), except SQL that a user typed, which is Error{usage}.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "schema/activities.h"
#include "schema/process.h"
#include "schema/records.h"

struct sqlite3;

namespace warpmeter::schema {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A query's answer. Each row has as many values as there are columns.
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
};

using Parameters = std::vector<std::pair<std::string, Value>>;  ///< (":name", value)

/// A column of a public view, from the comment block at the head of its .sql file.
struct ColumnInfo {
  std::string name, description;
};
struct ViewInfo {
  std::string name, description;
  std::vector<ColumnInfo> columns;
};
/// The public views, sorted by name.
std::span<const ViewInfo> views();

/// The longest statement that a user can have written.
inline constexpr std::size_t longest_statement = std::size_t{1} << 20;

/// True of a word that SQL has for itself, as VACUUM.
bool is_keyword_of_sql(std::string_view word);

/// The limits of a user's statement, beside the memory that SQLite may take for it.
struct QueryLimits {
  std::optional<std::chrono::duration<double>> time;  ///< Error{nothing} when it has passed
  std::function<bool()> cancelled;                    ///< the rows end there
};

/// A read-only connection. Runs of dead processes are marked interrupted when it opens, where the
/// file can be written.
class Reader {
 public:
  explicit Reader(const std::string& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  /// Runs SQL of the program's own; named parameters are bound.
  Rows query(std::string_view sql, const Parameters& parameters = {}) const;

  /// The same, row by row, for answers too large to keep.
  void each(std::string_view sql, const Parameters& parameters,
            const std::function<void(std::span<const Value> row)>& on_row) const;

  /// Runs one statement that a user wrote, row by row; `on_row` returns false to stop.
  /// Throws Error{usage}: SQLite's message with the place, or that the database is read-only; see
  /// QueryLimits. Error{nothing} too where SQLite needs more than 1 GiB of memory.
  void query_user(std::string_view sql, const Parameters& parameters,
                  const std::function<void(const std::vector<std::string>& columns)>& on_columns,
                  const std::function<bool(const std::vector<Value>& row)>& on_row,
                  const QueryLimits& limits = {}) const;

  /// A run from an id, four or more digits that begin its UUID, a label, `last` or `last~N`
  /// (counted over runs that ended). A label that several runs have means the latest of them.
  /// Throws Error{usage} with the runs there are, also where a label is the beginning of another
  /// run's UUID; Error{nothing} when there is no run at all.
  std::int64_t find_run(std::string_view selector) const;

 private:
  /// The keeper is opened for writing where that is possible, never used for it, and closed last:
  /// it takes the write-ahead log with it, which a read-only connection would leave behind.
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> keeper_;
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> db_;
};

/// A connection that writes. Creates and migrates the database as needed.
class Store {
 public:
  explicit Store(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;

  /// The calls of `writes` as one transaction. An Error of one has to leave `writes`.
  void in_one_transaction(const std::function<void()>& writes);
  /// Throws Error{usage} for a label that names another run already (see find_run).
  std::int64_t begin_run(const Run& run);
  /// Unlike its number, no run has the UUID of a removed one. Empty: there is no such run.
  std::string uuid_of(std::int64_t run_id) const;
  /// Takes over a run that another process began and left before its end; launches of which not
  /// all `repeat` repetitions are there go. Throws Error{file} where that process still lives.
  void continue_run(std::int64_t run_id, int repeat);
  /// Adds a device of the run, or finds it again.
  std::int64_t add_device(std::int64_t run_id, const Device& device);
  /// In place of one of the same phase, with what may have disturbed the device then.
  void add_state(std::int64_t run_id, std::int64_t device_id, const DeviceState& state);
  /// An environment that is stored stays.
  void add_environment(std::int64_t run_id, const Run& run);
  /// One transaction: the launch with its counters, samples, expectations and lines.
  std::int64_t add_launch(std::int64_t run_id, std::int64_t device_id, const Launch& launch);
  /// Stores runs as another process, which began them: that of its parent.
  void write_as(const ProcessIdentity& owner);
  /// Source files of the run: paths and texts. One transaction.
  void add_sources(std::int64_t run_id,
                   std::span<const std::pair<std::string, std::string>> sources);
  /// One transaction.
  void add_codes(std::int64_t run_id, std::span<const CodeText> codes);
  /// Gives the launches of a run whose kernels share a variant's name names that differ (see
  /// distinct_names). One transaction.
  void tell_kernels_apart(std::int64_t run_id);
  void end_run(std::int64_t run_id, RunOutcome outcome, const std::string& reason);

  /// Several launches in one transaction, for bulk writers; their numbers in the same order. Throws
  /// Error{file} when another process has taken the run over.
  std::vector<std::int64_t> add_launches(std::int64_t run_id, std::int64_t device_id,
                                         std::span<const Launch> launches);
  /// Activities of a traced program. One transaction.
  void add_activities(std::int64_t run_id, const ActivityBatch& batch);
  /// One transaction.
  void complete_launches(std::span<const Completion> completions);

 private:
  struct Statements;
  std::unique_ptr<sqlite3, void (*)(sqlite3*)> db_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace warpmeter::schema
