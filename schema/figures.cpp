// SPDX-License-Identifier: MIT
#include "schema/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/catalogue.h"
#include "schema/view_sql.h"

namespace warpmeter::schema {
namespace {

std::int64_t integer(const Value& value) { return std::get<std::int64_t>(value); }

std::optional<double> number(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::string text(const Value& value) {
  const auto* held = std::get_if<std::string>(&value);
  return held != nullptr ? *held : std::string();
}

struct Counted {
  std::int64_t counter_id = 0;
  std::optional<double> value;
  Grade grade = Grade::unavailable;
  std::optional<std::int64_t> reason_id;
};

struct Operand {
  std::int64_t counter_id = 0;
  double factor = 1;
  bool is_denominator = false;
};

/// A metric's, as t_metric and t_term say (schema/catalogue.h).
struct Formula {
  std::string name, undefined;
  double scale = 1;
  std::vector<Operand> terms;  ///< those of the numerator first
};

class Names {
 public:
  Names(const Reader& reader, std::string_view sql) {
    reader.each(sql, {},
                [&](std::span<const Value> row) { names_[integer(row[0])] = text(row[1]); });
  }
  /// Empty for a name that was written since.
  std::string_view operator[](std::int64_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? std::string_view() : std::string_view(found->second);
  }

 private:
  std::unordered_map<std::int64_t, std::string> names_;
};

std::vector<Formula> read_formulas(const Reader& reader) {
  std::vector<Formula> formulas;
  std::unordered_map<std::int64_t, std::size_t> places;
  reader.each(
      "SELECT metric_id, name, scale, undefined FROM t_metric WHERE anchor_id IS NOT NULL "
      "ORDER BY metric_id",
      {}, [&](std::span<const Value> row) {
        places[integer(row[0])] = formulas.size();
        formulas.push_back({text(row[1]), text(row[3]), *number(row[2]), {}});
      });
  reader.each(
      "SELECT metric_id, counter_id, factor, is_denominator FROM t_term "
      "ORDER BY metric_id, is_denominator, counter_id",
      {}, [&](std::span<const Value> row) {
        const auto place = places.find(integer(row[0]));
        if (place == places.end()) return;
        formulas[place->second].terms.push_back(
            {integer(row[1]), *number(row[2]), integer(row[3]) != 0});
      });
  return formulas;
}

class Pass {
 public:
  Pass(const Reader& reader, std::int64_t run_id,
       const std::function<void(const Figure&)>& on_figure, std::span<const std::int64_t> launches)
      : reader_(reader),
        run_(run_id),
        launches_(launches.empty() ? Value()
                                   : Value(fmt::format("[{}]", fmt::join(launches, ",")))),
        on_figure_(on_figure),
        counters_(reader, "SELECT counter_id, name FROM t_counter"),
        reasons_(reader, "SELECT reason_id, text FROM t_reason"),
        formulas_(read_formulas(reader)) {}

  void run() {
    for (const MetricInfo& metric : Catalogue::get().metrics()) {
      if (metric.is_timed) timed_metrics_.push_back(&metric);
    }
    timed_sql_ = timed_sql(timed_metrics_);
    if (!std::holds_alternative<std::monostate>(launches_)) {
      run_part(INT64_MIN, INT64_MAX);
      return;
    }
    // A part at a time, so that the timings of a million launches need not wait for their counters.
    constexpr std::int64_t part = 20'000;
    for (auto next = launch_from(INT64_MIN); next;) {
      const std::int64_t last = *next > INT64_MAX - part ? INT64_MAX : *next + part;
      run_part(*next, last);
      next = last == INT64_MAX ? std::nullopt : launch_from(last + 1);
    }
  }

 private:
  /// The run's first launch from this number on.
  std::optional<std::int64_t> launch_from(std::int64_t first) const {
    std::optional<std::int64_t> found;
    reader_.each(
        "SELECT launch_id FROM t_launch WHERE run_id = :run AND launch_id >= :first "
        "ORDER BY launch_id LIMIT 1",
        {{":run", run_}, {":first", first}},
        [&](std::span<const Value> row) { found = integer(row[0]); });
    return found;
  }

  void run_part(std::int64_t first, std::int64_t last) {
    chosen_ = {{":run", run_}, {":launches", launches_}, {":first", first}, {":last", last}};
    read_timed();
    reader_.each(
        "SELECT v.launch_id, v.counter_id, v.value, v.grade, v.reason_id "
        "FROM t_launch l JOIN t_value v ON v.launch_id = l.launch_id "
        "WHERE l.run_id = :run AND l.launch_id BETWEEN :first AND :last AND (:launches IS NULL OR "
        "l.launch_id IN (SELECT value FROM json_each(:launches))) "
        "ORDER BY l.launch_id, v.counter_id",
        chosen_, [&](std::span<const Value> row) {
          if (integer(row[0]) != launch_id_) finish_launch();
          launch_id_ = integer(row[0]);
          counted_.push_back({integer(row[1]), number(row[2]), grade_numbered(integer(row[3])),
                              std::holds_alternative<std::int64_t>(row[4])
                                  ? std::optional(integer(row[4]))
                                  : std::nullopt});
        });
    finish_launch();
    hand_on_timed(INT64_MAX);
  }

  /// The timing of a launch. There may be a million, so its reason is one of reasons_untimed_.
  struct Timed {
    std::int64_t launch_id = 0;
    std::optional<double> median_ns;
    std::string_view reason;
    std::vector<std::optional<double>> values;  ///< as timed_metrics_; empty where none has one
  };

  /// The columns are the launch, its median, the reason why it has none, and each metric.
  static std::string timed_sql(std::span<const MetricInfo* const> metrics) {
    std::string columns;
    for (const MetricInfo* metric : metrics) columns += ", {" + metric->name + "}";
    return view_sql("SELECT l.launch_id, t.median_ns, l.timing_reason" + columns +
                    " FROM t_launch l LEFT JOIN t_timing t ON t.launch_id = l.launch_id "
                    "WHERE l.run_id = :run AND l.launch_id BETWEEN :first AND :last "
                    "AND l.outcome = 'done' AND (:launches IS NULL OR l.launch_id IN (SELECT "
                    "value FROM json_each(:launches))) ORDER BY l.launch_id");
  }

  void read_timed() {
    reader_.each(timed_sql_, chosen_, [&](std::span<const Value> row) {
      Timed timed{integer(row[0]), number(row[1]), {}, {}};
      if (const auto* reason = std::get_if<std::string>(&row[2])) {
        const auto known = reasons_untimed_.find(*reason);
        timed.reason =
            known != reasons_untimed_.end() ? *known : *reasons_untimed_.insert(*reason).first;
      }
      for (std::size_t i = 0; timed.median_ns && i < timed_metrics_.size(); ++i) {
        timed.values.push_back(number(row[3 + i]));
      }
      timed_.push_back(std::move(timed));
    });
  }

  /// As v_timed.sql: why a metric has no value.
  static std::string_view reason_of(const Timed& timed, const MetricInfo& metric) {
    if (!timed.median_ns) return timed.reason.empty() ? "it was not timed" : timed.reason;
    if (*timed.median_ns == 0) return metric.undefined;
    return "its useful bytes are not known";
  }

  /// Those of launches up to this one.
  void hand_on_timed(std::int64_t launch_id) {
    while (!timed_.empty() && timed_.front().launch_id <= launch_id) {
      const Timed& timed = timed_.front();
      for (std::size_t i = 0; i < timed_metrics_.size(); ++i) {
        const MetricInfo& metric = *timed_metrics_[i];
        if (i < timed.values.size() && timed.values[i]) {
          on_figure_({timed.launch_id, metric.name, timed.values[i], Grade::measured, {}});
        } else {
          on_figure_(
              {timed.launch_id, metric.name, {}, Grade::unavailable, reason_of(timed, metric)});
        }
      }
      timed_.pop_front();
    }
  }

  void finish_launch() {
    if (counted_.empty()) return;
    hand_on_timed(launch_id_ - 1);
    for (const Counted& counter : counted_) {
      on_figure_({launch_id_, counters_[counter.counter_id], counter.value, counter.grade,
                  counter.reason_id ? reasons_[*counter.reason_id] : std::string_view()});
    }
    if (!has_counters_of_before()) find_derivations();
    for (const Derivation& derivation : derivations_) derive(derivation);
    hand_on_timed(launch_id_);
    counted_.clear();
  }

  /// A metric whose counters were all recorded, with their places in counted_.
  struct Derivation {
    const Formula* formula = nullptr;
    std::vector<std::size_t> places;
  };

  std::optional<std::size_t> find(std::int64_t counter_id) const {
    const auto found =
        std::lower_bound(counted_.begin(), counted_.end(), counter_id,
                         [](const Counted& c, std::int64_t id) { return c.counter_id < id; });
    if (found == counted_.end() || found->counter_id != counter_id) return std::nullopt;
    return static_cast<std::size_t>(found - counted_.begin());
  }

  /// Most launches of a run have the same counters.
  bool has_counters_of_before() const {
    return std::equal(counted_.begin(), counted_.end(), before_.begin(), before_.end(),
                      [](const Counted& c, std::int64_t id) { return c.counter_id == id; });
  }

  void find_derivations() {
    before_.clear();
    for (const Counted& counter : counted_) before_.push_back(counter.counter_id);
    derivations_.clear();
    for (const Formula& formula : formulas_) {
      Derivation derivation{&formula, {}};
      for (const Operand& term : formula.terms) {
        const auto place = find(term.counter_id);
        if (!place) break;
        derivation.places.push_back(*place);
      }
      if (derivation.places.size() == formula.terms.size()) {
        derivations_.push_back(std::move(derivation));
      }
    }
  }

  /// As v_derived.sql: no figure unless every counter was recorded, no value unless each has one.
  void derive(const Derivation& derivation) const {
    const Formula& formula = *derivation.formula;
    Figure figure;
    figure.launch_id = launch_id_;
    figure.metric = formula.name;
    double sums[2] = {0, 0};
    bool has_all = true, has_denominator = false;
    const Counted* telling = nullptr;  // the weakest counter that has a reason
    figure.grade = Grade::measured;
    for (std::size_t i = 0; i < formula.terms.size(); ++i) {
      const Operand& term = formula.terms[i];
      const Counted* counter = &counted_[derivation.places[i]];
      has_denominator = has_denominator || term.is_denominator;
      has_all = has_all && counter->value;
      sums[term.is_denominator ? 1 : 0] += term.factor * counter->value.value_or(0);
      figure.grade = std::max(figure.grade, counter->grade);
      if (counter->reason_id && (telling == nullptr || counter->grade > telling->grade)) {
        telling = counter;
      }
    }
    if (telling != nullptr) figure.reason = reasons_[*telling->reason_id];
    if (has_denominator && sums[1] == 0) {
      if (figure.grade != Grade::unavailable) figure.reason = formula.undefined;
      figure.grade = Grade::unavailable;
    } else if (has_all) {
      figure.value = formula.scale * (sums[0] / (has_denominator ? sums[1] : 1));
    }
    on_figure_(figure);
  }

  const Reader& reader_;
  std::int64_t run_;
  Value launches_;     ///< a JSON array of the chosen ones; null: all
  Parameters chosen_;  ///< those of the part that is read
  std::string timed_sql_;
  const std::function<void(const Figure&)>& on_figure_;
  Names counters_, reasons_;
  std::vector<Formula> formulas_;
  std::vector<const MetricInfo*> timed_metrics_;
  std::set<std::string, std::less<>> reasons_untimed_;
  std::deque<Timed> timed_;  ///< those that were not handed on yet
  std::int64_t launch_id_ = -1;
  std::vector<Counted> counted_;      ///< for this launch, by ascending id
  std::vector<std::int64_t> before_;  ///< the counters of the launch before
  std::vector<Derivation> derivations_;
};

}  // namespace

void each_figure(const Reader& reader, std::int64_t run_id,
                 const std::function<void(const Figure&)>& on_figure,
                 std::span<const std::int64_t> launches) {
  Pass(reader, run_id, on_figure, launches).run();
}

}  // namespace warpmeter::schema
