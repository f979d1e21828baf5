// SPDX-License-Identifier: MIT
// All tables of launches are read side by side, in the order of the launches. The form of a launch
// is all that is stored of it but the values of its counters, and repeats in all launches of a
// kernel. Launches of one form with the same values are alike. Where that makes too many kinds, the
// forms that have most of them become one kind each.
#include "schema/alike/alike.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <unordered_map>
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
        counters_(db, sql("t_value", "value, counter_id, grade, reason_id") + ", counter_id",
                  launches),
        intervals_(db, sql("t_interval", "metric, low, high") + ", metric", launches) {}

  /// Goes to a launch. Launches ascend.
  void read(std::int64_t launch) {
    form_.clear();
    values_.clear();
    for (RowsByLaunch* rows : {&launches_, &timings_, &explained_}) {
      rows->of(launch, [&](const Statement& row) { append(row, 1, form_); });
      form_ += '\n';
    }
    counters_.of(launch, [&](const Statement& row) {
      append(row, 2, form_);
      row.append(1, values_);
    });
    intervals_.of(launch, [&](const Statement& row) { append(row, 1, form_); });
  }

  /// The number of its form.
  std::uint32_t form() { return forms_.number_of(form_); }
  /// The values of its counters.
  const std::string& values() const { return values_; }

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

  RowsByLaunch launches_, timings_, explained_, counters_, intervals_;
  std::string form_, values_;
  Numbering forms_;
};

/// Numbers the kinds of launches.
class Kinds {
 public:
  std::uint32_t number_of(std::uint32_t form, const std::string& values) {
    if (form == forms_.size()) forms_.emplace_back();
    if (forms_[form].differs) return forms_[form].first;
    const auto next = static_cast<std::uint32_t>(joined_.size());
    const auto [place, is_new] = forms_[form].by_values.try_emplace(values, next);
    const std::uint32_t number = place->second;
    if (!is_new) return number;
    joined_.push_back(number);
    differs_.push_back(false);
    if (forms_[form].by_values.size() == 1) forms_[form].first = number;
    ++count_;
    return number;
  }

  std::size_t count() const { return count_; }
  /// The kind of launches with a number: that of its form where its values are told one by one.
  std::uint32_t joined(std::uint32_t number) const { return joined_[number]; }
  bool differs(std::uint32_t number) const { return differs_[number]; }

  /// Makes one kind of each form that has as many as the mean and more.
  void join_largest() {
    const std::size_t mean = count_ / forms_.size();
    for (Form& form : forms_) {
      if (form.by_values.size() < std::max(mean, std::size_t{2})) continue;
      for (const auto& [values, number] : form.by_values) joined_[number] = form.first;
      differs_[form.first] = form.differs = true;
      count_ -= form.by_values.size() - 1;
      form.by_values = {};
    }
  }

 private:
  struct Form {
    std::unordered_map<std::string, std::uint32_t> by_values;
    std::uint32_t first = 0;  ///< the number of its first kind
    bool differs = false;
  };

  std::size_t count_ = 0;
  std::vector<Form> forms_;
  std::vector<std::uint32_t> joined_;  ///< by number
  std::vector<bool> differs_;          ///< by number: the kind of a form
};

/// Gives the kinds their final numbers, from 0 in the order of their first launches.
void number_in_order(const Kinds& kinds, std::vector<AlikePart>& parts) {
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (AlikePart& part : parts) {
    for (std::uint32_t& kind : part.kinds) {
      const std::uint32_t joined = kinds.joined(kind);
      const auto next = static_cast<std::uint32_t>(numbers.size());
      kind = numbers.try_emplace(joined, next).first->second;
      if (kinds.differs(joined)) kind |= values_differ_bit;
    }
  }
}

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
  const auto most = static_cast<std::size_t>(launches / least_alike_of_kind);
  Kinds kinds;
  std::vector<AlikePart> parts;
  while (ids.step()) {
    const std::int64_t id = ids.integer(0);
    keys.read(id);
    append_kind(parts, id, kinds.number_of(keys.form(), keys.values()));
    if (kinds.count() + parts.size() > most) kinds.join_largest();
    if (kinds.count() + parts.size() > most) return {};
  }
  number_in_order(kinds, parts);
  return parts;
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
