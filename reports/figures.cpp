#include "reports/figures.h"

#include <algorithm>

#include "reports/change_points.h"

namespace warpmeter::reports {

void RunFigures::add(const schema::Figure& figure) {
  auto column = columns_.find(figure.metric);
  if (column == columns_.end()) {
    column = columns_.emplace(std::string(figure.metric), Readings()).first;
  }
  column->second.push_back({figure.launch_id, figure.value.value_or(0),
                            figure.value ? figure.grade : schema::Grade::unavailable,
                            number_of(figure.reason)});
}

std::uint32_t RunFigures::number_of(std::string_view reason) {
  const auto found = numbers_.find(reason);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(reasons_.size());
  reasons_.emplace_back(reason);
  numbers_.emplace(reason, number);
  return number;
}

Figure RunFigures::of(const std::vector<std::int64_t>& launches, std::string_view metric) const {
  Figure together;
  const auto column = columns_.find(metric);
  if (column == columns_.end()) return together;
  std::vector<double> values;
  auto weakest = schema::Grade::measured;
  auto reading = column->second.begin();
  for (const std::int64_t launch : launches) {
    reading = std::lower_bound(reading, column->second.end(), launch,
                               [](const Reading& r, std::int64_t id) { return r.launch < id; });
    if (reading == column->second.end()) break;
    if (reading->launch != launch) continue;
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

std::vector<std::string> RunFigures::metrics() const {
  std::vector<std::string> names;
  for (const auto& [name, readings] : columns_) names.push_back(name);
  return names;
}

std::vector<RunFigures::Gap> RunFigures::gaps() const {
  std::vector<Gap> gaps;
  for (const auto& [metric, readings] : columns_) {
    std::map<std::uint32_t, std::size_t> places;
    for (const Reading& reading : readings) {
      if (reading.grade != schema::Grade::unavailable) continue;
      const auto [place, is_new] = places.try_emplace(reading.reason, gaps.size());
      if (is_new) gaps.push_back({metric, reasons_[reading.reason], {}});
      gaps[place->second].launches.push_back(reading.launch);
    }
  }
  return gaps;
}

}  // namespace warpmeter::reports
