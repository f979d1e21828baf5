// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "schema/catalogue.h"
#include "schema/nvprof_file/ids.h"

namespace warpmeter::schema {
namespace {

/// CUPTI_ACTIVITY_FLAG_METRIC_OVERFLOWED, CUPTI_ACTIVITY_FLAG_METRIC_VALUE_INVALID
constexpr std::int64_t overflowed = 1, invalid = 2;
/// nvprof had 181 metrics and 82 events; a chip's own events and instances come on top.
constexpr std::size_t most_of_a_launch = 4096;

std::string unit_in_catalogue(const std::string& name) {
  const Catalogue& catalogue = Catalogue::get();
  if (const MetricInfo* metric = catalogue.find_metric(name)) return metric->unit;
  if (const CounterInfo* counter = catalogue.find_counter(name)) return counter->unit;
  return "";
}

Counter missing(std::string name, std::string reason) {
  return {std::move(name), std::nullopt, Grade::unavailable, std::move(reason)};
}

/// A metric of the catalogue is derived where all its counters are there: it is not stored beside
/// them.
void leave_out_derived(std::vector<Counter>& counters) {
  std::set<std::string> names;
  for (const Counter& counter : counters) names.insert(counter.name);
  const auto is_derived = [&](const Counter& counter) {
    const MetricInfo* metric = Catalogue::get().find_metric(counter.name);
    if (metric == nullptr || !metric->has_counters()) return false;
    const std::vector<std::string> inputs = metric->counters();
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](const std::string& input) { return names.contains(input); });
  };
  counters.erase(std::remove_if(counters.begin(), counters.end(), is_derived), counters.end());
}

}  // namespace

NvprofValues::NvprofValues(const NvprofSource& source) {
  read_metrics(source, "METRIC", false);
  read_metrics(source, "METRIC_INSTANCE", true);
  read_events(source, "EVENT");
  read_events(source, "EVENT_INSTANCE");
}

void NvprofValues::read_metrics(const NvprofSource& source, const char* table, bool is_instance) {
  if (!source.has(table)) return;
  constexpr std::string_view columns = "id value correlationId flags";
  Statement row(source.db(), source.select(table, columns, 3));
  while (row.step()) {
    Stored stored;
    stored.is_instance = is_instance;
    stored.id = source.number(row, 0, 0, NvprofSource::any);
    const std::string bytes = row.text(1);
    stored.bytes_given = bytes.size();
    if (bytes.size() == sizeof stored.bits) std::memcpy(&stored.bits, bytes.data(), bytes.size());
    stored.flags = source.optional_number(row, 3, 0, NvprofSource::any).value_or(0);
    std::vector<Stored>& of_launch = stored_[source.number(row, 2, 0, NvprofSource::any)];
    const bool is_known = std::any_of(of_launch.begin(), of_launch.end(), [&](const Stored& other) {
      return !other.is_event && other.id == stored.id;
    });
    if (!is_known) of_launch.push_back(stored);
    if (of_launch.size() > most_of_a_launch) throw source.fault("a launch has too many metrics");
  }
}

void NvprofValues::read_events(const NvprofSource& source, const char* table) {
  if (!source.has(table)) return;
  constexpr std::string_view columns = "id value correlationId";
  Statement row(source.db(), source.select(table, columns, 3));
  while (row.step()) {
    Stored stored;
    stored.is_event = true;
    stored.id = source.number(row, 0, 0, NvprofSource::any);
    stored.event = row.number(1);
    std::vector<Stored>& of_launch = stored_[source.number(row, 2, 0, NvprofSource::any)];
    const auto known = std::find_if(of_launch.begin(), of_launch.end(), [&](const Stored& other) {
      return other.is_event && other.id == stored.id;
    });
    if (known != of_launch.end()) {
      known->event += stored.event;
    } else {
      of_launch.push_back(stored);
    }
    if (of_launch.size() > most_of_a_launch) throw source.fault("a launch has too many events");
  }
}

std::vector<Counter> NvprofValues::of(std::int64_t correlation) {
  std::vector<Counter> counters;
  const auto found = stored_.find(correlation);
  if (found == stored_.end()) return counters;
  std::set<std::string> names;
  for (const Stored& stored : found->second) {
    Counter counter = stored.is_event ? event_counter(stored) : metric_counter(stored);
    if (stored.is_event) units_.try_emplace(counter.name, unit_in_catalogue(counter.name));
    // Some metrics and events share a name, and count the same.
    if (names.insert(counter.name).second) counters.push_back(std::move(counter));
  }
  leave_out_derived(counters);
  return counters;
}

Counter NvprofValues::event_counter(const Stored& stored) {
  const std::string name(nvprof_event(stored.id));
  if (name.empty()) {
    return missing(fmt::format("nvprof_event_{}", stored.id),
                   "no chip that CUPTI 11.8 knows has an event of this number");
  }
  if (!(stored.event >= 0 && std::isfinite(stored.event))) {
    return missing(name, "nvprof's file has no count for it");
  }
  return {name, stored.event, Grade::measured, ""};
}

Counter NvprofValues::metric_counter(const Stored& stored) {
  const std::optional<NvprofMetricId> known = nvprof_metric(stored.id);
  if (!known) {
    return missing(fmt::format("nvprof_metric_{}", stored.id),
                   "no chip that CUPTI 11.8 knows has a metric of this number");
  }
  std::string name(known->name);
  if (stored.is_instance) {
    return missing(std::move(name),
                   "nvprof stored it for each multiprocessor (--aggregate-mode off)");
  }
  if (stored.bytes_given != sizeof stored.bits) {
    return missing(std::move(name), "nvprof's file has no number for it");
  }
  if ((stored.flags & invalid) != 0) return missing(std::move(name), "nvprof called it invalid");
  std::string unit = unit_in_catalogue(name), reason;
  double value = 0;
  switch (known->form) {
    case NvprofForm::ratio:
      value = std::bit_cast<double>(stored.bits);
      if (unit == "%") value *= 100;
      break;
    case NvprofForm::percent:
      value = std::bit_cast<double>(stored.bits);
      if (unit.empty()) unit = "%";
      break;
    case NvprofForm::count:
      value = static_cast<double>(stored.bits);
      break;
    case NvprofForm::bytes_per_second:
      value = static_cast<double>(stored.bits);
      if (unit == "bytes/s") break;
      value /= 1e9;
      unit = "GB/s";
      break;
    case NvprofForm::level:
      value = 10 * static_cast<double>(static_cast<std::uint32_t>(stored.bits));
      reason = fmt::format("nvprof gave the level {:.0f} of 10", value / 10);
      unit = "%";
      if (value > 100) return missing(std::move(name), "nvprof's level is none from 0 to 10");
      break;
  }
  if (!std::isfinite(value)) return missing(std::move(name), "nvprof gave no number");
  if ((stored.flags & overflowed) != 0) reason = "a hardware counter overflowed below it";
  units_.try_emplace(name, unit);
  return {std::move(name), value, Grade::measured, std::move(reason)};
}

}  // namespace warpmeter::schema
