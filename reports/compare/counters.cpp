// SPDX-License-Identifier: MIT
// Counters of code that executes the same are the same: each is compared for equality. Where
// launches were repeated, their spread tells how far a counter moves by itself. A metric is
// compared where a counter under it differs.
#include "reports/compare/counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/with_noun.h"
#include "reports/metrics.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"
#include "schema/figures/figures.h"

namespace warpmeter::reports {
namespace {

/// Fewer launches than these a side cannot show that a counter which moves by itself has moved.
constexpr std::size_t launches_of_a_spread = 5;

std::optional<Range> spread_of(const Distribution& values) {
  if (values.front() == values.back()) return std::nullopt;
  return Range{values.front(), values.back()};
}

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
bool has_same_values(const Distribution& base, const Distribution& contender) {
  if (base.size() == contender.size()) return base == contender;
  return base.distinct() == contender.distinct();
}

void judge(CounterPair& pair, const GroupFigure& base, const GroupFigure& contender) {
  if (base.values == contender.values) return;
  const auto flat = [](const GroupFigure& side) {
    return side.values.front() == side.values.back();
  };
  const bool both_flat = flat(base) && flat(contender);
  // Repeated unequally often, or quotients that differ by a rounding.
  const double left = base.values.front(), right = contender.values.front();
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
    const auto coverage = [](const GroupFigure& side) {
      return side.estimates.empty() ? "counted in all blocks"
                                    : fmt::format("{}", fmt::join(side.estimates, ", "));
    };
    pair.note = fmt::format("{} and {}: they need not agree", coverage(base), coverage(contender));
    return;
  }
  const double least_difference = base.error + contender.error;
  if (std::abs(base.values.median() - contender.values.median()) < least_difference) {
    pair.change = Change::unclear;
    pair.note = fmt::format("estimated to ± {} and to ± {}: count all blocks to know",
                            readable_number(base.error, Zeros::trim),
                            readable_number(contender.error, Zeros::trim));
    return;
  }
  const bool apart = base.values.back() < contender.values.front() ||
                     contender.values.back() < base.values.front();
  const bool by_model = is_model(base.grade) && is_model(contender.grade);
  // Exact counts of launches with unlike arguments differ among themselves, and do not move.
  const bool moves = !by_model || approximate || has_same_values(base.values, contender.values);
  if (!both_flat && !apart && moves) {
    pair.change = Change::within_spread;
  } else if (by_model || (both_flat && repeats(pair.metric)) ||
             std::min(base.values.size(), contender.values.size()) >= launches_of_a_spread) {
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

CounterPair pair_of(const PairName& name, const std::string& metric, const GroupFigure& base,
                    const GroupFigure& contender) {
  CounterPair pair;
  pair.name = name;
  pair.metric = metric;
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  pair.unit = info != nullptr ? info->unit : metric_column(metric, Kind::quotient).unit;
  pair.base = base.values.median();
  pair.contender = contender.values.median();
  pair.base_spread = spread_of(base.values);
  pair.contender_spread = spread_of(contender.values);
  pair.base_grade = to_string(base.grade);
  pair.contender_grade = to_string(contender.grade);
  judge(pair, base, contender);
  return pair;
}

using Counters = std::map<std::int64_t, GroupFigure>;  // by number
using Names = std::set<std::string, std::less<>>;

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

class CounterComparison {
 public:
  void add(const GroupPair& sides) {
    const Counters &base = sides.base->counters, &contender = sides.contender->counters;
    std::vector<std::string> only_base, only_contender;
    Unequal unequal{&sides, {}};
    for (const auto& [number, counter] : base) {
      const auto other = contender.find(number);
      if (other == contender.end()) {
        leave_or_derive(counter.metric, contender, unequal, only_base);
        continue;
      }
      ++changes_.compared;
      if (!(counter.values == other->second.values)) unequal.counters.push_back(counter.metric);
    }
    for (const auto& [number, counter] : contender) {
      if (!base.contains(number)) leave_or_derive(counter.metric, base, unequal, only_contender);
    }
    leave("base", only_base);
    leave("contender", only_contender);
    if (!unequal.counters.empty()) unequal_.push_back(std::move(unequal));
  }

  CounterChanges finish() {
    if (!unequal_.empty()) judge_unequal();
    for (const auto& [what, launches] : left_) {
      changes_.leftovers.push_back(
          {fmt::format("{} ({})", what.second, with_noun(launches, "pair")),
           fmt::format("counted in the {} only", what.first), false});
    }
    return std::move(changes_);
  }

 private:
  /// A pair with the names of the counters whose values differ.
  struct Unequal {
    const GroupPair* sides = nullptr;
    std::vector<std::string> counters;
  };

  /// nvprof's files have metrics themselves, and runs of today the counters that they derive from.
  void leave_or_derive(const std::string& name, const Counters& others, Unequal& unequal,
                       std::vector<std::string>& left) {
    const std::set<std::string> inputs = inputs_of(name);
    std::set<std::string> there;
    if (!inputs.empty()) {
      for (const auto& [number, other] : others) there.insert(other.metric);
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
    Names changed;
    std::vector<const GroupPair*> changed_pairs;
    for (const Unequal& unequal : unequal_) {
      bool is_changed = false;
      for (const std::string& counter : unequal.counters) {
        if (!judge_one(*unequal.sides, counter)) continue;
        changed.insert(counter);
        is_changed = true;
      }
      if (is_changed) changed_pairs.push_back(unequal.sides);
    }
    const Names metrics = metrics_over(changed);
    for (const GroupPair* sides : changed_pairs) {
      for (const std::string& metric : metrics) judge_one(*sides, metric);
    }
  }

  /// Appends the difference. False without one, and for a counter that moves by itself: a metric
  /// over it would only repeat that.
  bool judge_one(const GroupPair& sides, const std::string& name) {
    const GroupFigure* base = sides.base->find(name);
    const GroupFigure* contender = sides.contender->find(name);
    if (base == nullptr || contender == nullptr) return false;
    CounterPair pair = pair_of(sides.name, name, *base, *contender);
    if (pair.change == Change::same) return false;
    const bool moves_by_itself =
        pair.change == Change::unclear && pair.base_grade == pair.contender_grade;
    changes_.pairs.push_back(std::move(pair));
    return !moves_by_itself;
  }

  CounterChanges changes_;
  std::vector<Unequal> unequal_;
  std::map<std::pair<std::string, std::string>, std::size_t> left_;  ///< (side, counters) → pairs
};

}  // namespace

CounterChanges compare_counters(const std::vector<GroupPair>& pairs) {
  CounterComparison comparison;
  for (const GroupPair& sides : pairs) comparison.add(sides);
  return comparison.finish();
}

std::string_view to_string(Change change) {
  constexpr std::string_view names[] = {"same", "changed", "within spread", "unclear"};
  return names[static_cast<int>(change)];
}

}  // namespace warpmeter::reports
