// SPDX-License-Identifier: MIT
#include "reports/figures.h"

#include <algorithm>

#include "base/statistics.h"
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

}  // namespace

RunFigures::Readings& RunFigures::column_of(std::string_view metric) {
  if (next_ == order_.size() || order_[next_]->first != metric) {
    const auto column = columns_.try_emplace(std::string(metric)).first;
    const auto known = std::find(order_.begin(), order_.end(), column);
    next_ = static_cast<std::size_t>(known - order_.begin());
    if (known == order_.end()) order_.push_back(column);
  }
  Readings& readings = order_[next_]->second;
  next_ = (next_ + 1) % order_.size();
  return readings;
}

void RunFigures::add(const schema::Figure& figure) {
  column_of(figure.metric)
      .push_back({figure.launch_id, figure.value.value_or(0),
                  figure.value ? figure.grade : schema::Grade::unavailable,
                  number_of(figure.reason)});
}

std::uint32_t RunFigures::number_of(std::string_view reason) {
  if (reason.empty()) return 0;
  const auto found = numbers_.find(reason);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(reasons_.size());
  reasons_.emplace_back(reason);
  numbers_.emplace(reason, number);
  return number;
}

const RunFigures::Reading* RunFigures::find(const Readings& readings, std::int64_t launch) {
  // Where every launch has the metric, its place is its distance from the first.
  const auto guess = static_cast<std::size_t>(launch - readings.front().launch);
  if (guess < readings.size() && readings[guess].launch == launch) return &readings[guess];
  const auto found =
      std::lower_bound(readings.begin(), readings.end(), launch,
                       [](const Reading& r, std::int64_t id) { return r.launch < id; });
  return found != readings.end() && found->launch == launch ? &*found : nullptr;
}

Figure RunFigures::of(const std::vector<std::int64_t>& launches, std::string_view metric) const {
  if (metric == all_transactions) return transactions_of(launches);
  Figure together;
  const auto column = columns_.find(metric);
  if (column == columns_.end()) return together;
  std::vector<double> values;
  auto weakest = schema::Grade::measured;
  for (const std::int64_t launch : launches) {
    const Reading* reading = find(column->second, launch);
    if (reading == nullptr) continue;
    if (reading->grade == schema::Grade::unavailable) {
      if (together.reason.empty()) together.reason = reasons_[reading->reason];
      continue;
    }
    weakest = std::max(weakest, reading->grade);
    values.push_back(reading->value);
  }
  if (values.empty()) return together;
  together.grade = schema::to_string(weakest);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (*low != *high) together.range = Range{*low, *high};
  together.value = median(values);
  return together;
}

std::optional<double> RunFigures::value(std::int64_t launch, std::string_view metric) const {
  return of({launch}, metric).value;
}

Figure RunFigures::transactions_of(const std::vector<std::int64_t>& launches) const {
  Figure sum;
  auto weakest = schema::Grade::measured;
  double value = 0;
  Range range;
  for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
    if (!is_transactions(counter)) continue;
    const Figure figure = of(launches, counter.name);
    if (!figure.value) {
      if (is_of_matrices(counter)) continue;
      return {{}, {}, to_string(schema::Grade::unavailable), figure.reason};
    }
    value += *figure.value;
    range.low += figure.range ? figure.range->low : *figure.value;
    range.high += figure.range ? figure.range->high : *figure.value;
    weakest = std::max(weakest, schema::grade_named(figure.grade));
  }
  sum.value = value;
  if (range.low != range.high) sum.range = range;
  sum.grade = schema::to_string(weakest);
  return sum;
}

std::vector<std::string> RunFigures::metrics() const {
  std::vector<std::string> names;
  for (const auto& [name, readings] : columns_) names.push_back(name);
  return names;
}

template <class Is>
std::vector<RunFigures::Gap> RunFigures::gathered(Is&& is) const {
  std::vector<Gap> all;
  for (const auto& [metric, readings] : columns_) {
    std::map<std::uint32_t, std::size_t> places;
    for (const Reading& reading : readings) {
      if (!is(reading)) continue;
      const auto [place, is_new] = places.try_emplace(reading.reason, all.size());
      if (is_new) all.push_back({metric, reasons_[reading.reason], {}});
      all[place->second].launches.push_back(reading.launch);
    }
  }
  return all;
}

std::vector<RunFigures::Gap> RunFigures::gaps() const {
  return gathered([](const Reading& r) { return r.grade == schema::Grade::unavailable; });
}

std::vector<RunFigures::Gap> RunFigures::doubts() const {
  return gathered(
      [](const Reading& r) { return r.grade != schema::Grade::unavailable && r.reason != 0; });
}

}  // namespace warpmeter::reports
