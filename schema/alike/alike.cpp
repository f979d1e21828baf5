// SPDX-License-Identifier: MIT
// All tables of launches are read side by side, in the order of the launches. The key of a launch
// holds what is stored of it; launches with one key are alike. Most of a key repeats in all
// launches of a kernel: it is numbered first, so that the keys of a million launches fit into
// memory.
#include "schema/alike/alike.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "schema/table_shapes.h"

namespace warpmeter::schema {
namespace {

struct Range {
  std::int64_t first = 0, last = 0;
};

/// The rows of a query whose first column is the launch, in the order of the launches. Rows of
/// launches that nobody asks for are passed over.
class RowsByLaunch {
 public:
  RowsByLaunch(sqlite3* db, const std::string& sql, Range launches) : statement_(db, sql) {
    statement_.bind(1, launches.first);
    statement_.bind(2, launches.last);
    step();
  }

  /// Calls `on_row` for each row of a launch. Launches ascend from call to call.
  template <class OnRow>
  void of(std::int64_t launch, OnRow&& on_row) {
    while (has_row_ && launch_ < launch) step();
    for (; has_row_ && launch_ == launch; step()) on_row(statement_);
  }

 private:
  void step() {
    has_row_ = statement_.step();
    if (has_row_) launch_ = statement_.integer(0);
  }

  Statement statement_;
  bool has_row_ = false;
  std::int64_t launch_ = 0;
};

/// Reads the launches of a run: their own columns, counters, cache state and explanation.
class LaunchKeys {
 public:
  LaunchKeys(sqlite3* db, Range launches)
      : launches_(db, sql("t_launch", columns_of_launch(db)), launches),
        timings_(db, sql("t_timing", "cache"), launches),
        explained_(db, sql("t_explained", "explanation_id"), launches),
        values_(db, sql("t_value", "value, counter_id, grade, reason_id") + ", counter_id",
                launches) {}

  /// Equal for launches that are alike.
  const std::string& of(std::int64_t launch) {
    shared_.clear();
    own_.clear();
    for (RowsByLaunch* rows : {&launches_, &timings_, &explained_}) {
      rows->of(launch, [&](const Statement& row) { append(row, 1, shared_); });
      shared_ += '\n';
    }
    values_.of(launch, [&](const Statement& row) {
      append(row, 2, shared_);
      row.append(1, own_);
    });
    const std::uint32_t number = shared_parts_.number_of(shared_);
    own_.append(reinterpret_cast<const char*>(&number), sizeof number);
    return own_;
  }

 private:
  static std::string sql(std::string_view table, std::string_view columns) {
    return fmt::format(
        "SELECT launch_id, {} FROM {} WHERE launch_id BETWEEN ?1 AND ?2 ORDER BY launch_id",
        columns, table);
  }

  static std::string columns_of_launch(sqlite3* db) {
    return fmt::format(
        "{}", fmt::join(without(without(Shapes(db).of_run.front().columns, "launch_id"), "run_id"),
                        ", "));
  }

  static void append(const Statement& row, int column, std::string& key) {
    for (; column < row.columns(); ++column) row.append(column, key);
  }

  RowsByLaunch launches_, timings_, explained_, values_;
  std::string shared_, own_;
  Numbering shared_parts_;
};

/// Empty where too few launches are alike.
std::vector<AlikePart> find_alike(sqlite3* db, std::int64_t run_id) {
  Statement read(db,
                 "SELECT count(*), min(launch_id), max(launch_id) FROM t_launch WHERE run_id = ?");
  read.bind(1, run_id);
  if (!read.step()) return {};
  const std::int64_t launches = read.integer(0);
  if (launches < least_launches_alike) return {};
  LaunchKeys keys(db, {read.integer(1), read.integer(2)});
  read.reset();
  Statement ids(db, "SELECT launch_id FROM t_launch WHERE run_id = ? ORDER BY launch_id");
  ids.bind(1, run_id);
  AlikeParts alike;
  while (ids.step()) {
    const std::int64_t id = ids.integer(0);
    alike.add(id, keys.of(id));
    if (static_cast<std::int64_t>(alike.rows()) * least_alike_of_kind > launches) return {};
  }
  return alike.parts();
}

bool is_kept(sqlite3* db, std::int64_t run_id) {
  Statement read(db, "SELECT 1 FROM t_alike WHERE run_id = ?");
  read.bind(1, run_id);
  return read.step();
}

}  // namespace

void keep_alike(sqlite3* db, std::int64_t run_id) {
  keep_alike(db, run_id, find_alike(db, run_id));
}

void keep_alike(sqlite3* db, std::int64_t run_id, std::span<const AlikePart> parts) {
  if (parts.empty() && !is_kept(db, run_id)) return;
  Transaction transaction(db);
  Statement(db, "DELETE FROM t_alike WHERE run_id = ?").execute(run_id);
  Statement write(db, insertion("t_alike", "run_id, first_launch_id, kinds"));
  for (const AlikePart& part : parts) {
    const auto* bytes = reinterpret_cast<const char*>(part.kinds.data());
    write.execute(run_id, part.first_launch,
                  Blob{{bytes, part.kinds.size() * sizeof part.kinds.front()}});
  }
  transaction.commit();
}

void keep_alike_of_all_runs(sqlite3* db) {
  std::vector<std::int64_t> runs;
  Statement read(db,
                 "SELECT run_id FROM t_run r WHERE outcome <> 'running' AND EXISTS (SELECT 1 FROM "
                 "t_launch l WHERE l.run_id = r.run_id LIMIT 1 OFFSET ?)");
  read.bind(1, least_launches_alike - 1);
  while (read.step()) runs.push_back(read.integer(0));
  for (const std::int64_t run : runs) keep_alike(db, run);
}

}  // namespace warpmeter::schema
