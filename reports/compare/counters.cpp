// Counters of code that executes the same are the same: each is compared for equality. Where
// launches were repeated, their spread tells how far a counter moves by itself. Only the numbers of
// counters that differ get names, and only the metrics over them are derived: a database may hold a
// million that do not differ.
#include "reports/compare/counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/statistics.h"
#include "reports/metrics.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

/// Fewer launches than these a side cannot show that a counter which moves by itself has moved.
constexpr std::size_t launches_of_a_spread = 5;

/// The values of one counter or metric of one side.
struct Values {
  std::vector<double> sorted;
  schema::Grade grade = schema::Grade::measured;  ///< the weakest

  void add(double value, schema::Grade of_grade) {
    sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), value), value);
    grade = std::max(grade, of_grade);
  }
  std::optional<Range> spread() const {
    if (sorted.front() == sorted.back()) return std::nullopt;
    return Range{sorted.front(), sorted.back()};
  }
};

/// Counters that count what was executed, and so repeat to the last count.
bool repeats_by_name(std::string_view perfworks) {
  for (const std::string_view beginning :
       {"smsp__sass_", "sm__sass_", "smsp__inst_executed", "smsp__thread_inst_executed"}) {
    if (perfworks.starts_with(beginning)) {
      return perfworks.find(".per_") == std::string_view::npos &&
             perfworks.find("sustained") == std::string_view::npos;
    }
  }
  return false;
}

bool repeats(const std::string& metric) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  if (const schema::CounterInfo* counter = catalogue.find_counter(metric)) {
    return counter->perfworks.empty() || repeats_by_name(counter->perfworks);
  }
  const std::set<std::string> inputs = inputs_of(metric);
  if (inputs.empty()) return repeats_by_name(metric);
  return std::all_of(inputs.begin(), inputs.end(), repeats);
}

bool is_model(schema::Grade grade) { return grade != schema::Grade::measured; }

void judge(CounterPair& pair, const Values& base, const Values& contender) {
  if (base.sorted == contender.sorted) return;
  const auto flat = [](const Values& side) { return side.sorted.front() == side.sorted.back(); };
  const bool both_flat = flat(base) && flat(contender);
  // Repeated unequally often, or quotients that differ by a rounding.
  const double left = base.sorted.front(), right = contender.sorted.front();
  if (both_flat && std::abs(left - right) <= 1e-12 * std::abs(left)) return;
  const bool approximate = std::max(base.grade, contender.grade) >= schema::Grade::modelled;
  if (base.grade != contender.grade && approximate) {
    pair.change = Change::unclear;
    pair.note = fmt::format("counted as {} and as {}: they need not agree", pair.base_grade,
                            pair.contender_grade);
    return;
  }
  const bool apart = base.sorted.back() < contender.sorted.front() ||
                     contender.sorted.back() < base.sorted.front();
  const bool by_model = is_model(base.grade) && is_model(contender.grade);
  if (!both_flat && !apart) {
    pair.change = Change::within_spread;
  } else if (by_model || (both_flat && repeats(pair.metric)) ||
             std::min(base.sorted.size(), contender.sorted.size()) >= launches_of_a_spread) {
    pair.change = Change::changed;
  } else {
    pair.change = Change::unclear;
    pair.note =
        repeats(pair.metric)
            ? "too few launches to know its spread: repeat them (run --repeat 5)"
            : "it moves from run to run by itself: repeat the launches (run --repeat 5) to know "
              "its spread";
  }
}

CounterPair pair_of(const PairName& name, const std::string& metric, const Values& base,
                    const Values& contender) {
  CounterPair pair;
  pair.name = name;
  pair.metric = metric;
  pair.unit = metric_column(metric, Kind::quotient).unit;
  pair.base = median_of_sorted(base.sorted);
  pair.contender = median_of_sorted(contender.sorted);
  pair.base_spread = base.spread();
  pair.contender_spread = contender.spread();
  pair.base_grade = to_string(base.grade);
  pair.contender_grade = to_string(contender.grade);
  judge(pair, base, contender);
  return pair;
}

using ByCounter = std::map<std::int32_t, Values>;

/// The common case, without a map: every launch has the counts of its partner.
bool all_equal(const LaunchGroup& base, const LaunchGroup& contender) {
  return std::equal(base.readings.begin(), base.readings.end(), contender.readings.begin(),
                    contender.readings.end(), [](const Reading& a, const Reading& b) {
                      return a.counter == b.counter && a.value == b.value;
                    });
}

std::size_t counters_of(const LaunchGroup& group) {
  if (group.launches.size() == 1) return group.readings.size();
  std::set<std::int32_t> counters;
  for (const Reading& reading : group.readings) counters.insert(reading.counter);
  return counters.size();
}

ByCounter by_counter(const LaunchGroup& group) {
  ByCounter values;
  for (const Reading& reading : group.readings) {
    values[reading.counter].add(reading.value, reading.grade);
  }
  return values;
}

class CounterComparison {
 public:
  explicit CounterComparison(const schema::Reader& reader) : reader_(reader) {}

  void add_equal(const CountedPair& sides) { changes_.compared += counters_of(*sides.base); }

  void add_unequal(const CountedPair& sides) {
    const ByCounter base = by_counter(*sides.base), contender = by_counter(*sides.contender);
    std::vector<std::string> only_base, only_contender;
    std::set<std::string> changed;
    for (const auto& [counter, values] : base) {
      const auto other = contender.find(counter);
      if (other == contender.end()) {
        only_base.push_back(name_of(counter, *sides.base));
        continue;
      }
      ++changes_.compared;
      if (values.sorted == other->second.sorted) continue;
      const std::string metric = name_of(counter, *sides.base);
      CounterPair pair = pair_of(sides.name, metric, values, other->second);
      if (pair.change == Change::same) continue;
      // What is derived from a counter that moves by itself would only repeat that.
      const bool moves_by_itself =
          pair.change == Change::unclear && pair.base_grade == pair.contender_grade;
      if (!moves_by_itself) changed.insert(metric);
      changes_.pairs.push_back(std::move(pair));
    }
    for (const auto& [counter, values] : contender) {
      if (!base.contains(counter)) only_contender.push_back(name_of(counter, *sides.contender));
    }
    leave("base", only_base);
    leave("contender", only_contender);
    for (const std::string& metric : metrics_over(changed)) wanted_metrics_.insert(metric);
    if (!changed.empty()) differing_.push_back(&sides);
  }

  CounterChanges finish() {
    add_derived();
    for (const auto& [what, launches] : left_) {
      changes_.leftovers.push_back(
          {fmt::format("{} ({})", what.second,
                       launches == 1 ? "1 pair" : fmt::format("{} pairs", launches)),
           fmt::format("counted in the {} only", what.first), false});
    }
    return std::move(changes_);
  }

 private:
  std::string name_of(std::int32_t counter, const LaunchGroup& group) {
    if (!names_.contains(counter)) learn_names(reader_, group, names_);
    return names_[counter];
  }

  void leave(const std::string& side, const std::vector<std::string>& counters) {
    if (counters.empty()) return;
    ++left_[{side, fmt::format("{}", fmt::join(counters, ", "))}];
  }

  static std::vector<std::string> metrics_over(const std::set<std::string>& counters) {
    std::vector<std::string> metrics;
    for (const schema::MetricInfo& metric : schema::Catalogue::get().metrics()) {
      const std::set<std::string> inputs = inputs_of(metric.name);
      if (std::any_of(inputs.begin(), inputs.end(),
                      [&](const std::string& input) { return counters.contains(input); })) {
        metrics.push_back(metric.name);
      }
    }
    return metrics;
  }

  void add_derived() {
    if (wanted_metrics_.empty()) return;
    nlohmann::json launches = nlohmann::json::array();
    for (const CountedPair* sides : differing_) {
      for (const LaunchGroup* side : {sides->base, sides->contender}) {
        for (const std::int64_t launch : side->launches) launches.push_back(launch);
      }
    }
    std::map<std::int64_t, std::map<std::string, std::pair<double, schema::Grade>>> values;
    const schema::Rows rows = reader_.query(
        sql::compared_metrics,
        {{":launches", launches.dump()}, {":metrics", nlohmann::json(wanted_metrics_).dump()}});
    for (const Row& row : each_row(rows)) {
      values[row.integer("launch_id").value_or(0)][row.text("metric")] = {
          row.number("value").value_or(0), schema::grade_named(row.text("grade"))};
    }
    const auto gather = [&](const LaunchGroup& side, const std::string& metric) {
      Values gathered;
      for (const std::int64_t launch : side.launches) {
        const auto found = values[launch].find(metric);
        if (found != values[launch].end()) gathered.add(found->second.first, found->second.second);
      }
      return gathered;
    };
    for (const CountedPair* sides : differing_) {
      for (const std::string& metric : wanted_metrics_) {
        const Values base = gather(*sides->base, metric);
        const Values contender = gather(*sides->contender, metric);
        if (base.sorted.empty() || contender.sorted.empty()) continue;
        CounterPair pair = pair_of(sides->name, metric, base, contender);
        if (pair.change != Change::same) changes_.pairs.push_back(std::move(pair));
      }
    }
  }

  const schema::Reader& reader_;
  std::map<std::int32_t, std::string> names_;
  CounterChanges changes_;
  std::vector<const CountedPair*> differing_;
  std::set<std::string> wanted_metrics_;
  std::map<std::pair<std::string, std::string>, std::size_t> left_;  ///< (side, counters) → pairs
};

}  // namespace

CounterChanges compare_counters(const schema::Reader& reader,
                                const std::vector<CountedPair>& pairs) {
  CounterComparison comparison(reader);
  std::vector<const CountedPair*> unequal;
  std::vector<LaunchGroup*> groups;
  for (const CountedPair& sides : pairs) {
    if (all_equal(*sides.base, *sides.contender)) {
      comparison.add_equal(sides);
    } else {
      unequal.push_back(&sides);
      groups.insert(groups.end(), {sides.base, sides.contender});
    }
  }
  if (!unequal.empty()) read_grades(reader, groups);
  for (const CountedPair* sides : unequal) comparison.add_unequal(*sides);
  return comparison.finish();
}

std::string_view to_string(Change change) {
  constexpr std::string_view names[] = {"same", "changed", "within spread", "unclear"};
  return names[static_cast<int>(change)];
}

}  // namespace warpmeter::reports
