// SPDX-License-Identifier: MIT
#include "reports/compare/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "reports/disturbances.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

struct DeviceOfRun {
  std::int64_t ordinal = 0;
  std::string name, backend, uuid, driver, title;
  std::optional<double> sm_clock_mhz;
  std::set<std::string> throttled, disturbed;
};

/// True unless NVML names a reason that is none for a slower clock than the device has.
bool holds_back(std::string_view reason) {
  constexpr std::array<std::string_view, 4> harmless = {"idle", "application clocks setting",
                                                        "sync boost", "display clock setting"};
  return !reason.empty() && std::find(harmless.begin(), harmless.end(), reason) == harmless.end();
}

std::set<std::string> slowing_reasons(std::string_view joined) {
  std::set<std::string> reasons;
  while (!joined.empty()) {
    const std::size_t comma = joined.find(", ");
    const std::string_view reason = joined.substr(0, comma);
    if (holds_back(reason)) reasons.emplace(reason);
    joined.remove_prefix(comma == std::string_view::npos ? joined.size() : comma + 2);
  }
  return reasons;
}

std::map<std::int64_t, DeviceOfRun> read_devices(const schema::Reader& reader, std::int64_t run) {
  std::map<std::int64_t, DeviceOfRun> devices;
  const schema::Rows rows = reader.query(sql::devices, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    DeviceOfRun& device = devices[row.integer("device_id").value_or(0)];
    device.ordinal = row.integer("ordinal").value_or(0);
    device.uuid = row.text("uuid");
    device.driver = row.text("driver");
    device.title = row.text("title");
    device.name = row.text("name");
    device.backend = row.text("backend");
  }
  const schema::Rows states = reader.query(sql::device_states, run_parameter(run));
  for (const Row& row : each_row(states)) {
    DeviceOfRun& device = devices[row.integer("device_id").value_or(0)];
    // Before the first kernel the clock may still be that of an idle device.
    if (const auto clock = row.number("sm_clock_mhz")) {
      device.sm_clock_mhz = std::max(device.sm_clock_mhz.value_or(0), *clock);
    }
    device.throttled.merge(slowing_reasons(row.text("throttle_reasons")));
  }
  for (const Disturbance& one : disturbances_of(reader, run)) {
    if (one.is_felt && one.kind != "throttled") devices[one.device_id].disturbed.insert(one.brief);
  }
  return devices;
}

using GroupKey = std::tuple<std::string, std::string, std::optional<std::int64_t>, std::string,
                            std::string, std::string, std::string, std::int64_t>;

class GroupList {
 public:
  /// The reference lives until the next call.
  LaunchGroup& of(const LaunchGroup& like) {
    const auto [place, is_new] =
        known_.try_emplace({like.family, like.variant, like.size, like.grid, like.block,
                            like.device, like.backend, like.ordinal},
                           groups_.size());
    if (is_new) groups_.push_back(like);
    return groups_[place->second];
  }
  std::vector<LaunchGroup> take() { return std::move(groups_); }

 private:
  std::vector<LaunchGroup> groups_;
  std::map<GroupKey, std::size_t> known_;
};

/// The device of a group goes by its name: two cards of one name are compared with each other, and
/// titles differ from database to database.
LaunchGroup like(const schema::LaunchKind& kind, const DeviceOfRun& device, bool by_card) {
  LaunchGroup like;
  like.family = kind.family;
  like.variant = kind.variant;
  like.size = kind.size;
  like.grid = kind.grid;
  like.block = kind.block;
  like.device = by_card ? device.title : device.name;
  like.title = device.title;
  like.backend = device.backend;
  like.ordinal = device.ordinal;
  return like;
}

void add_device(const DeviceOfRun& device, LaunchGroup& group) {
  if (!device.uuid.empty()) group.uuids.insert(device.uuid);
  if (!device.driver.empty()) group.drivers.insert(device.driver);
  group.throttled.insert(device.throttled.begin(), device.throttled.end());
  group.disturbed.insert(device.disturbed.begin(), device.disturbed.end());
  if (device.sm_clock_mhz) {
    group.sm_clock_mhz = std::max(group.sm_clock_mhz.value_or(0), *device.sm_clock_mhz);
  }
}

/// The launches of a program are not planned.
bool is_of_program(const schema::Reader& reader, std::int64_t run) {
  const schema::Rows rows =
      reader.query("SELECT planned_launches FROM runs WHERE run_id = :run", run_parameter(run));
  return !rows.rows.empty() && !Row(rows, 0).integer("planned_launches");
}

void add_launches(const schema::Reader& reader, std::int64_t run, bool by_card,
                  const std::shared_ptr<const schema::LaunchKinds>& kinds, GroupList& list) {
  std::map<std::int64_t, DeviceOfRun> devices = read_devices(reader, run);
  const bool of_program = is_of_program(reader, run);
  for (std::size_t i = 0; i < kinds->all.size(); ++i) {
    const schema::LaunchKind& kind = kinds->all[i];
    const DeviceOfRun& device = devices[kind.device_id];
    LaunchGroup& group = list.of(like(kind, device, by_card));
    group.runs.insert(run);
    add_device(device, group);
    if (kind.failed) {
      if (group.failures == 0) group.failure = kind.reason;
      group.failures += kind.launches;
      continue;
    }
    group.is_of_program = of_program;
    group.launches += kind.launches;
    KindsOfRun& own = group.kinds[run];
    own.of_run = kinds;
    own.places.push_back(i);
    if (!kind.cache.empty()) {
      group.caches.insert(kind.cache);
      group.timed_runs.insert(run);
    }
  }
}

/// The group that each kind of a run is of; nullptr for kinds of none.
std::vector<LaunchGroup*> groups_of_kinds(std::span<LaunchGroup*> groups, std::int64_t run,
                                          std::shared_ptr<const schema::LaunchKinds>& kinds) {
  std::vector<LaunchGroup*> by_kind;
  for (LaunchGroup* group : groups) {
    const auto found = group->kinds.find(run);
    if (found == group->kinds.end()) continue;
    kinds = found->second.of_run;
    by_kind.resize(kinds->all.size());
    for (const std::size_t place : found->second.places) by_kind[place] = group;
  }
  return by_kind;
}

void add_samples(const schema::Reader& reader, std::int64_t run, std::span<LaunchGroup*> groups) {
  std::shared_ptr<const schema::LaunchKinds> kinds;
  const std::vector<LaunchGroup*> by_kind = groups_of_kinds(groups, run, kinds);
  if (std::all_of(groups.begin(), groups.end(),
                  [](const LaunchGroup* group) { return group->caches.empty(); })) {
    return;
  }
  reader.each(sql::compared_samples, run_parameter(run), [&](std::span<const schema::Value> row) {
    const auto* id = std::get_if<std::int64_t>(&row[0]);
    const auto* duration_ns = std::get_if<double>(&row[1]);
    const auto launch = id != nullptr && kinds ? kinds->find(*id) : std::nullopt;
    if (!launch || duration_ns == nullptr) return;
    if (LaunchGroup* group = by_kind[kinds->places[*launch]]) {
      group->samples.sorted_ns.push_back(*duration_ns);
    }
  });
}

/// Where the figures of one shape go in a group.
using FigurePlaces = std::vector<GroupFigure*>;

FigurePlaces places_of(const schema::FigureShape& shape, LaunchGroup& group) {
  FigurePlaces places;
  for (const schema::FigureKind& figure : shape.figures) {
    if (!figure.has_value() || figure.metric == schema::relative_confidence) {
      if (!figure.has_value()) group.missing.try_emplace(figure.metric, figure.reason);
      places.push_back(nullptr);
      continue;
    }
    GroupFigure& place =
        figure.counter_id != 0 ? group.counters[figure.counter_id] : group.derived[figure.metric];
    place.metric = figure.metric;
    place.grade = std::max(place.grade, figure.grade);
    if (place.reason.empty()) place.reason = figure.reason;
    const std::string_view estimate = schema::estimate_of(figure.reason);
    if (!estimate.empty()) place.estimates.emplace(estimate);
    places.push_back(&place);
  }
  return places;
}

void read_counters_of(const schema::Reader& reader, std::int64_t run,
                      std::span<LaunchGroup*> groups) {
  std::shared_ptr<const schema::LaunchKinds> kinds;
  const std::vector<LaunchGroup*> by_kind = groups_of_kinds(groups, run, kinds);
  if (!kinds) return;
  std::vector<std::map<const schema::FigureShape*, FigurePlaces>> places(kinds->all.size());
  schema::each_launch(reader, *kinds, [&](const schema::LaunchFigures& launch) {
    const std::uint32_t kind = kinds->places[launch.launch];
    if (by_kind[kind] == nullptr) return;
    const auto [own, is_new] = places[kind].try_emplace(launch.shape);
    if (is_new) own->second = places_of(*launch.shape, *by_kind[kind]);
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      if (own->second[i] != nullptr) own->second[i]->values.add(launch.values[i], launch.times);
    }
  });
  schema::each_error(reader, run, [&](std::int64_t id, std::string_view metric, double error) {
    const auto launch = kinds->find(id);
    LaunchGroup* group = launch ? by_kind[kinds->places[*launch]] : nullptr;
    if (group == nullptr) return;
    const auto widen = [&](GroupFigure& figure) { figure.error = std::max(figure.error, error); };
    for (auto& [number, counter] : group->counters) {
      if (counter.metric == metric) widen(counter);
    }
    const auto derived = group->derived.find(metric);
    if (derived != group->derived.end()) widen(derived->second);
  });
}

}  // namespace

std::string LaunchGroup::name() const {
  const std::string at = size ? " at " + grouped_number(*size) : "";
  return fmt::format("{}/{}{}", family, variant, at);
}

const GroupFigure* LaunchGroup::find(std::string_view metric) const {
  for (const auto& [number, counter] : counters) {
    if (counter.metric == metric) return &counter;
  }
  const auto found = derived.find(metric);
  return found == derived.end() ? nullptr : &found->second;
}

std::vector<LaunchGroup> read_groups(const schema::Reader& reader,
                                     std::span<const std::int64_t> runs, bool by_card,
                                     const schema::KindsByRun& known) {
  GroupList list;
  for (const std::int64_t run : runs) {
    const auto found = known.find(run);
    const auto kinds =
        found != known.end()
            ? found->second
            : std::make_shared<const schema::LaunchKinds>(schema::read_kinds(reader, run));
    add_launches(reader, run, by_card, kinds, list);
  }
  std::vector<LaunchGroup> groups = list.take();
  std::vector<LaunchGroup*> all;
  for (LaunchGroup& group : groups) all.push_back(&group);
  for (const std::int64_t run : runs) add_samples(reader, run, all);
  for (LaunchGroup& group : groups) {
    std::sort(group.samples.sorted_ns.begin(), group.samples.sorted_ns.end());
    group.samples.sessions = std::max<std::size_t>(1, group.timed_runs.size());
  }
  return groups;
}

void read_counters(const schema::Reader& reader, std::span<LaunchGroup*> groups) {
  std::set<std::int64_t> runs;
  for (const LaunchGroup* group : groups) runs.insert(group->runs.begin(), group->runs.end());
  for (const std::int64_t run : runs) read_counters_of(reader, run, groups);
  for (LaunchGroup* group : groups) {
    for (auto& [number, counter] : group->counters) counter.values.sort();
    for (auto& [name, metric] : group->derived) metric.values.sort();
  }
}

}  // namespace warpmeter::reports
