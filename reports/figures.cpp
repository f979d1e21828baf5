// SPDX-License-Identifier: MIT
#include "reports/figures.h"

#include <algorithm>
#include <set>

#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

/// Not every chip has these instructions, nor every run their counters.
bool is_of_matrices(const schema::CounterInfo& counter) {
  return counter.name.find("matrix") != std::string::npos ||
         counter.name.find("wgmma") != std::string::npos;
}

/// Counts what shared and global memory moved; caches and local memory have counters of their own.
bool is_transactions(const schema::CounterInfo& counter) {
  const bool is_here = counter.name.starts_with("shared_") || counter.name.starts_with("global_");
  return is_here && (counter.unit == "wavefronts" || counter.unit == "sectors");
}

/// The values of a metric in some launches, and what is said of them.
class FiguresTogether {
 public:
  void add(const LaunchRecord& launch, std::string_view metric) {
    if (const auto place = launch.shape->find(metric)) {
      const schema::FigureKind& kind = launch.shape->figures[*place];
      if (kind.has_value()) {
        add(launch.values[*place], kind.grade);
        const auto error = launch.errors.find(metric);
        if (error != launch.errors.end()) {
          error_ = std::max(error_.value_or(0), error->second);
        }
      } else if (reason_.empty()) {
        reason_ = kind.reason;
      }
    } else if (const auto found = launch.resources.find(metric); found != launch.resources.end()) {
      if (!found->second.values.empty()) add(found->second.values, found->second.weakest);
      if (reason_.empty()) reason_ = found->second.reason;
    }
  }

  Figure figure() {
    Figure figure;
    if (first_ == nullptr) {
      figure.reason = reason_;
      return figure;
    }
    if (!together_.empty()) together_.sort();
    const Distribution& values = together_.empty() ? *first_ : together_;
    figure.reason = reason_;
    figure.grade = schema::to_string(weakest_);
    if (values.front() != values.back()) figure.range = Range{values.front(), values.back()};
    figure.value = values.median();
    figure.error = error_;
    return figure;
  }

 private:
  /// The values of one record are not copied: there may be a million.
  void add(const Distribution& values, schema::Grade grade) {
    weakest_ = std::max(weakest_, grade);
    if (first_ == nullptr) {
      first_ = &values;
      return;
    }
    if (together_.empty()) together_.add(*first_);
    together_.add(values);
  }

  const Distribution* first_ = nullptr;
  Distribution together_;  ///< empty with fewer than two records
  schema::Grade weakest_ = schema::Grade::measured;
  std::string reason_;
  std::optional<double> error_;
};

/// The sum of its parts; without a value where one of them has none.
Figure transactions_of(const LaunchRecords& launches) {
  Figure sum;
  auto weakest = schema::Grade::measured;
  double value = 0;
  Range range;
  std::optional<double> error;  // as if all were wrong in the same direction
  for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
    if (!is_transactions(counter)) continue;
    const Figure figure = figure_of(launches, counter.name);
    if (!figure.value) {
      if (is_of_matrices(counter)) continue;
      return {{}, {}, {}, to_string(schema::Grade::unavailable), figure.reason};
    }
    value += *figure.value;
    range.low += figure.range ? figure.range->low : *figure.value;
    range.high += figure.range ? figure.range->high : *figure.value;
    if (figure.error) error = error.value_or(0) + *figure.error;
    weakest = std::max(weakest, schema::grade_named(figure.grade));
  }
  sum.value = value;
  sum.error = error;
  if (range.low != range.high) sum.range = range;
  sum.grade = schema::to_string(weakest);
  return sum;
}

template <class Is>
std::vector<FigureGap> gathered(const std::vector<LaunchRecord>& launches, Is&& is) {
  std::map<std::string_view, std::vector<FigureGap>> by_metric;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (const schema::FigureKind& figure : launches[i].shape->figures) {
      if (!is(figure)) continue;
      std::vector<FigureGap>& gaps = by_metric[figure.metric];
      const auto known = std::find_if(gaps.begin(), gaps.end(), [&](const FigureGap& gap) {
        return gap.reason == figure.reason;
      });
      if (known == gaps.end()) {
        gaps.push_back({figure.metric, figure.reason, {i}});
      } else if (known->launches.back() != i) {
        known->launches.push_back(i);
      }
    }
  }
  std::vector<FigureGap> all;
  for (auto& [metric, gaps] : by_metric) {
    for (FigureGap& gap : gaps) all.push_back(std::move(gap));
  }
  return all;
}

}  // namespace

bool LaunchRecord::has_value(std::string_view metric) const {
  const auto place = shape->find(metric);
  return place && shape->figures[*place].has_value();
}

std::optional<double> LaunchRecord::sum(std::string_view metric) const {
  if (metric != all_transactions) {
    return has_value(metric) ? std::optional(values[*shape->find(metric)].sum()) : std::nullopt;
  }
  double all = 0;
  for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
    if (!is_transactions(counter)) continue;
    const std::optional<double> part = sum(counter.name);
    if (!part && !is_of_matrices(counter)) return std::nullopt;
    all += part.value_or(0);
  }
  return all;
}

Figure figure_of(const LaunchRecords& launches, std::string_view metric) {
  if (metric == all_transactions) return transactions_of(launches);
  FiguresTogether gathered;
  for (const LaunchRecord* launch : launches) gathered.add(*launch, metric);
  return gathered.figure();
}

std::vector<std::string> metrics_of(const std::vector<LaunchRecord>& launches) {
  std::set<std::string_view> names;
  std::set<const schema::FigureShape*> shapes;
  for (const LaunchRecord& launch : launches) {
    if (shapes.insert(launch.shape).second) {
      for (const schema::FigureKind& figure : launch.shape->figures) names.insert(figure.metric);
    }
    for (const auto& [name, figure] : launch.resources) names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::vector<FigureGap> gaps_of(const std::vector<LaunchRecord>& launches) {
  return gathered(launches, [](const schema::FigureKind& figure) { return !figure.has_value(); });
}

std::vector<FigureGap> doubts_of(const std::vector<LaunchRecord>& launches) {
  return gathered(launches, [](const schema::FigureKind& figure) {
    return figure.has_value() && !figure.reason.empty();
  });
}

}  // namespace warpmeter::reports
