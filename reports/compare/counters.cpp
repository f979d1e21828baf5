// SPDX-License-Identifier: MIT
// Counters of code that executes the same are the same: each is compared for equality. Where
// launches were repeated, their spread tells how far a counter moves by itself. Only the numbers of
// counters that differ get names, and only the metrics over them are derived: a database may hold a
// million that do not differ.
#include "reports/compare/counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/statistics.h"
#include "reports/metrics.h"
#include "schema/catalogue.h"
#include "schema/figures.h"

namespace warpmeter::reports {
namespace {

/// Fewer launches than these a side cannot show that a counter which moves by itself has moved.
constexpr std::size_t launches_of_a_spread = 5;

/// The values of one counter or metric of one side; sort() follows the last add().
struct Values {
  std::vector<double> sorted;
  schema::Grade grade = schema::Grade::measured;  ///< the weakest
  std::set<std::string, std::less<>> estimates;   ///< which blocks were run for estimates

  void add(double value, schema::Grade of_grade, std::string_view reason) {
    sorted.push_back(value);
    grade = std::max(grade, of_grade);
    const std::string_view estimate = schema::estimate_of(reason);
    if (!estimate.empty()) estimates.emplace(estimate);
  }
  void sort() { std::sort(sorted.begin(), sorted.end()); }
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
    if (!counter->sum.empty()) {
      return std::all_of(counter->sum.begin(), counter->sum.end(),
                         [](const schema::Term& part) { return repeats(part.name); });
    }
    return counter->perfworks.empty() || repeats_by_name(counter->perfworks);
  }
  const std::set<std::string> inputs = inputs_of(metric);
  if (inputs.empty()) return repeats_by_name(metric);
  return std::all_of(inputs.begin(), inputs.end(), repeats);
}

bool is_model(schema::Grade grade) { return grade != schema::Grade::measured; }

/// True if each value of one side is one of the other's. As many launches that differ in how often
/// they have each value are not the same.
bool has_same_values(const Values& base, const Values& contender) {
  if (base.sorted.size() == contender.sorted.size()) return base.sorted == contender.sorted;
  const auto distinct = [](std::vector<double> values) {
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  };
  return distinct(base.sorted) == distinct(contender.sorted);
}

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
  if (base.estimates != contender.estimates) {
    pair.change = Change::unclear;
    const auto coverage = [](const Values& side) {
      return side.estimates.empty() ? "counted in all blocks"
                                    : fmt::format("{}", fmt::join(side.estimates, ", "));
    };
    pair.note = fmt::format("{} and {}: they need not agree", coverage(base), coverage(contender));
    return;
  }
  const bool apart = base.sorted.back() < contender.sorted.front() ||
                     contender.sorted.back() < base.sorted.front();
  const bool by_model = is_model(base.grade) && is_model(contender.grade);
  // Exact counts of launches with unlike arguments differ among themselves, and do not move.
  const bool moves = !by_model || approximate || has_same_values(base, contender);
  if (!both_flat && !apart && moves) {
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
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  pair.unit = info != nullptr ? info->unit : metric_column(metric, Kind::quotient).unit;
  pair.base = median_of_sorted(base.sorted);
  pair.contender = median_of_sorted(contender.sorted);
  pair.base_spread = base.spread();
  pair.contender_spread = contender.spread();
  pair.base_grade = to_string(base.grade);
  pair.contender_grade = to_string(contender.grade);
  judge(pair, base, contender);
  return pair;
}

using ByCounter = std::map<std::int32_t, std::vector<double>>;  // values of a side, sorted
using ByName = std::map<std::string, Values, std::less<>>;
using Names = std::set<std::string, std::less<>>;

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
  for (const Reading& reading : group.readings) values[reading.counter].push_back(reading.value);
  for (auto& [counter, of_counter] : values) std::sort(of_counter.begin(), of_counter.end());
  return values;
}

Names metrics_over(const Names& counters) {
  Names metrics;
  for (const schema::MetricInfo& metric : schema::Catalogue::get().metrics()) {
    const std::set<std::string> inputs = inputs_of(metric.name);
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const std::string& input) { return counters.contains(input); })) {
      metrics.insert(metric.name);
    }
  }
  return metrics;
}

/// The wanted counters and metrics of the pairs' launches, with grades. The view `results` would
/// derive each metric of each launch by lookups; a pass over each run derives them all.
class FiguresOfGroups {
 public:
  FiguresOfGroups(const schema::Reader& reader, const std::vector<const CountedPair*>& pairs,
                  const Names& wanted) {
    /// `known`: the wanted figures by the address of their name, which is stable within one pass;
    /// null for figures that nobody wants.
    struct Side {
      ByName* figures = nullptr;
      std::unordered_map<const char*, Values*> known;
    };
    std::map<const LaunchGroup*, Side> by_group;
    std::unordered_map<std::int64_t, Side*> by_launch;
    std::vector<std::int64_t> launches;
    std::set<std::int64_t> runs;
    for (const CountedPair* sides : pairs) {
      for (const LaunchGroup* side : {sides->base, sides->contender}) {
        runs.insert(side->runs.begin(), side->runs.end());
        Side& state = by_group[side];
        state.figures = &values_[side];
        for (const std::int64_t launch : side->launches) {
          if (by_launch.try_emplace(launch, &state).second) launches.push_back(launch);
        }
      }
    }
    const auto keep = [&](const schema::Figure& figure) {
      if (!figure.value) return;
      Side& side = *by_launch.at(figure.launch_id);
      const auto [place, is_new] = side.known.try_emplace(figure.metric.data(), nullptr);
      if (is_new) {
        const auto name = wanted.find(figure.metric);
        if (name != wanted.end()) place->second = &(*side.figures)[*name];
      }
      if (place->second != nullptr) place->second->add(*figure.value, figure.grade, figure.reason);
    };
    for (const std::int64_t run : runs) {
      for (auto& [group, side] : by_group) side.known.clear();
      schema::each_figure(reader, run, keep, launches);
    }
    for (auto& [side, figures] : values_) {
      for (auto& [name, of_name] : figures) of_name.sort();
    }
  }

  /// nullptr where no launch of the group has it.
  const Values* find(const LaunchGroup& group, const std::string& name) const {
    const ByName& figures = values_.at(&group);
    const auto found = figures.find(name);
    return found == figures.end() ? nullptr : &found->second;
  }

 private:
  std::map<const LaunchGroup*, ByName> values_;
};

class CounterComparison {
 public:
  explicit CounterComparison(const schema::Reader& reader) : reader_(reader) {}

  void add_equal(const CountedPair& sides) { changes_.compared += counters_of(*sides.base); }

  void add_unequal(const CountedPair& sides) {
    const ByCounter base = by_counter(*sides.base), contender = by_counter(*sides.contender);
    std::vector<std::string> only_base, only_contender;
    Unequal unequal{&sides, {}};
    for (const auto& [counter, values] : base) {
      const auto other = contender.find(counter);
      if (other == contender.end()) {
        leave_or_derive(counter, *sides.base, contender, *sides.contender, unequal, only_base);
        continue;
      }
      ++changes_.compared;
      if (values != other->second) unequal.counters.push_back(name_of(counter, *sides.base));
    }
    for (const auto& [counter, values] : contender) {
      if (base.contains(counter)) continue;
      leave_or_derive(counter, *sides.contender, base, *sides.base, unequal, only_contender);
    }
    leave("base", only_base);
    leave("contender", only_contender);
    if (!unequal.counters.empty()) unequal_.push_back(std::move(unequal));
  }

  CounterChanges finish() {
    if (!unequal_.empty()) judge_unequal();
    for (const auto& [what, launches] : left_) {
      changes_.leftovers.push_back(
          {fmt::format("{} ({})", what.second,
                       launches == 1 ? "1 pair" : fmt::format("{} pairs", launches)),
           fmt::format("counted in the {} only", what.first), false});
    }
    return std::move(changes_);
  }

 private:
  /// A pair with the names of the counters whose values differ.
  struct Unequal {
    const CountedPair* sides = nullptr;
    std::vector<std::string> counters;
  };

  const std::string& name_of(std::int32_t counter, const LaunchGroup& group) {
    std::string& name = names_[counter];
    if (name.empty()) name = counter_name(reader_, group, counter);
    return name;
  }

  /// nvprof's files have metrics themselves, and runs of today the counters that they derive from.
  void leave_or_derive(std::int32_t counter, const LaunchGroup& group, const ByCounter& others,
                       const LaunchGroup& other_group, Unequal& unequal,
                       std::vector<std::string>& left) {
    const std::string& name = name_of(counter, group);
    const std::set<std::string> inputs = inputs_of(name);
    std::set<std::string> there;
    if (!inputs.empty()) {
      for (const auto& [other, values] : others) there.insert(name_of(other, other_group));
    }
    if (inputs.empty() ||
        !std::includes(there.begin(), there.end(), inputs.begin(), inputs.end())) {
      left.push_back(name);
      return;
    }
    ++changes_.compared;
    unequal.counters.push_back(name);
  }

  void leave(const std::string& side, const std::vector<std::string>& counters) {
    if (counters.empty()) return;
    ++left_[{side, fmt::format("{}", fmt::join(counters, ", "))}];
  }

  void judge_unequal() {
    Names wanted;
    std::vector<const CountedPair*> pairs;
    for (const Unequal& unequal : unequal_) {
      wanted.insert(unequal.counters.begin(), unequal.counters.end());
      pairs.push_back(unequal.sides);
    }
    wanted.merge(metrics_over(wanted));
    const FiguresOfGroups figures(reader_, pairs, wanted);
    Names changed;
    std::vector<const CountedPair*> changed_pairs;
    for (const Unequal& unequal : unequal_) {
      bool is_changed = false;
      for (const std::string& counter : unequal.counters) {
        if (!judge_one(*unequal.sides, counter, figures)) continue;
        changed.insert(counter);
        is_changed = true;
      }
      if (is_changed) changed_pairs.push_back(unequal.sides);
    }
    const Names metrics = metrics_over(changed);
    for (const CountedPair* sides : changed_pairs) {
      for (const std::string& metric : metrics) judge_one(*sides, metric, figures);
    }
  }

  /// Appends the difference. False without one, and for a counter that moves by itself: a metric
  /// over it would only repeat that.
  bool judge_one(const CountedPair& sides, const std::string& name,
                 const FiguresOfGroups& figures) {
    const Values* base = figures.find(*sides.base, name);
    const Values* contender = figures.find(*sides.contender, name);
    if (base == nullptr || contender == nullptr) return false;
    CounterPair pair = pair_of(sides.name, name, *base, *contender);
    if (pair.change == Change::same) return false;
    const bool moves_by_itself =
        pair.change == Change::unclear && pair.base_grade == pair.contender_grade;
    changes_.pairs.push_back(std::move(pair));
    return !moves_by_itself;
  }

  const schema::Reader& reader_;
  std::map<std::int32_t, std::string> names_;
  CounterChanges changes_;
  std::vector<Unequal> unequal_;
  std::map<std::pair<std::string, std::string>, std::size_t> left_;  ///< (side, counters) → pairs
};

}  // namespace

CounterChanges compare_counters(const schema::Reader& reader,
                                const std::vector<CountedPair>& pairs) {
  CounterComparison comparison(reader);
  for (const CountedPair& sides : pairs) {
    if (all_equal(*sides.base, *sides.contender)) {
      comparison.add_equal(sides);
    } else {
      comparison.add_unequal(sides);
    }
  }
  return comparison.finish();
}

std::string_view to_string(Change change) {
  constexpr std::string_view names[] = {"same", "changed", "within spread", "unclear"};
  return names[static_cast<int>(change)];
}

}  // namespace warpmeter::reports
