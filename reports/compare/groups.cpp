// SPDX-License-Identifier: MIT
#include "reports/compare/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>
#include <unordered_map>

#include "reports/disturbances.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

struct DeviceOfRun {
  std::int64_t ordinal = 0;
  std::string uuid, driver, title;
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
  LaunchGroup& of(const LaunchGroup& like) {
    const auto [place, is_new] =
        known_.try_emplace({like.family, like.variant, like.size, like.grid, like.block,
                            like.device, like.backend, like.ordinal},
                           groups_.size());
    if (is_new) groups_.push_back(like);
    return groups_[place->second];
  }
  /// Adds the launches of one row to the group.
  void place(const std::vector<std::int64_t>& launches, LaunchGroup& group) {
    const auto index = static_cast<std::size_t>(&group - groups_.data());
    for (const std::int64_t launch : launches) by_launch_[launch] = index;
    group.launches.insert(group.launches.end(), launches.begin(), launches.end());
  }
  LaunchGroup* of_launch(std::int64_t launch) {
    const auto found = by_launch_.find(launch);
    return found == by_launch_.end() ? nullptr : &groups_[found->second];
  }
  std::vector<LaunchGroup> take() { return std::move(groups_); }

 private:
  std::vector<LaunchGroup> groups_;
  std::map<GroupKey, std::size_t> known_;
  std::unordered_map<std::int64_t, std::size_t> by_launch_;
};

/// The numbers of a row's launches, ascending.
std::vector<std::int64_t> launches_of(const Row& row) {
  const std::string text = row.text("launches");
  std::vector<std::int64_t> launches;
  for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
    std::int64_t launch = 0;
    at = std::from_chars(at, text.data() + text.size(), launch).ptr;
    launches.push_back(launch);
  }
  std::sort(launches.begin(), launches.end());
  return launches;
}

void add_launches(const schema::Reader& reader, std::int64_t run, bool by_card, GroupList& list) {
  const std::map<std::int64_t, DeviceOfRun> devices = read_devices(reader, run);
  const schema::Rows rows = reader.query(sql::compared_launches, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    LaunchGroup like;
    like.family = row.text("family");
    like.variant = row.text("variant");
    like.size = row.integer("size");
    like.grid = row.text("grid");
    like.block = row.text("block");
    like.device = row.text("device");
    like.title = row.text("title");
    like.backend = row.text("backend");
    const auto device = devices.find(row.integer("device_id").value_or(0));
    if (device != devices.end()) like.ordinal = device->second.ordinal;
    if (by_card && device != devices.end()) like.device = device->second.title;
    LaunchGroup& group = list.of(like);
    group.runs.insert(run);
    if (device != devices.end()) {
      if (!device->second.uuid.empty()) group.uuids.insert(device->second.uuid);
      if (!device->second.driver.empty()) group.drivers.insert(device->second.driver);
      group.throttled.insert(device->second.throttled.begin(), device->second.throttled.end());
      group.disturbed.insert(device->second.disturbed.begin(), device->second.disturbed.end());
      if (device->second.sm_clock_mhz) {
        group.sm_clock_mhz = std::max(group.sm_clock_mhz.value_or(0), *device->second.sm_clock_mhz);
      }
    }
    if (row.text("outcome") != "done") {
      if (group.failures == 0) group.failure = row.text("reason");
      group.failures += static_cast<std::size_t>(row.integer("number").value_or(0));
      continue;
    }
    group.is_of_program = row.integer("is_of_program").value_or(0) != 0;
    list.place(launches_of(row), group);
    if (const std::string cache = row.text("cache"); !cache.empty()) {
      group.caches.insert(cache);
      group.timed_runs.insert(run);
    }
  }
}

void add_samples(const schema::Reader& reader, std::int64_t run, GroupList& list) {
  reader.each(sql::compared_samples, run_parameter(run), [&](std::span<const schema::Value> row) {
    const auto* launch = std::get_if<std::int64_t>(&row[0]);
    const auto* duration_ns = std::get_if<double>(&row[1]);
    LaunchGroup* group = launch != nullptr ? list.of_launch(*launch) : nullptr;
    if (group != nullptr && duration_ns != nullptr) {
      group->samples.sorted_ns.push_back(*duration_ns);
    }
  });
}

/// The group that a launch belongs to; rows of one launch come together.
class GroupOfLaunch {
 public:
  explicit GroupOfLaunch(std::span<LaunchGroup*> groups) {
    for (LaunchGroup* group : groups) {
      runs_.insert(group->runs.begin(), group->runs.end());
      for (const std::int64_t launch : group->launches) by_launch_[launch] = group;
    }
  }
  const std::set<std::int64_t>& runs() const { return runs_; }
  LaunchGroup* operator()(std::int64_t launch) {
    if (launch != last_) {
      const auto found = by_launch_.find(launch);
      group_ = found == by_launch_.end() ? nullptr : found->second;
      last_ = launch;
    }
    return group_;
  }

 private:
  std::unordered_map<std::int64_t, LaunchGroup*> by_launch_;
  std::set<std::int64_t> runs_;
  std::int64_t last_ = -1;
  LaunchGroup* group_ = nullptr;
};

/// `row` begins with launch, counter and value.
void add_reading(GroupOfLaunch& group_of, std::span<const schema::Value> row) {
  const auto* launch = std::get_if<std::int64_t>(&row[0]);
  const auto* counter = std::get_if<std::int64_t>(&row[1]);
  const auto* value = std::get_if<double>(&row[2]);
  if (launch == nullptr || counter == nullptr || value == nullptr) return;
  if (LaunchGroup* group = group_of(*launch)) {
    group->readings.push_back({*value, static_cast<std::int32_t>(*counter)});
  }
}

}  // namespace

std::string LaunchGroup::name() const {
  const std::string at = size ? " at " + grouped_number(*size) : "";
  return fmt::format("{}/{}{}", family, variant, at);
}

std::vector<LaunchGroup> read_groups(const schema::Reader& reader,
                                     std::span<const std::int64_t> runs, bool by_card) {
  GroupList list;
  for (const std::int64_t run : runs) {
    add_launches(reader, run, by_card, list);
    add_samples(reader, run, list);
  }
  std::vector<LaunchGroup> groups = list.take();
  for (LaunchGroup& group : groups) {
    std::sort(group.samples.sorted_ns.begin(), group.samples.sorted_ns.end());
    group.samples.sessions = std::max<std::size_t>(1, group.timed_runs.size());
  }
  return groups;
}

void read_counters(const schema::Reader& reader, std::span<LaunchGroup*> groups) {
  GroupOfLaunch group_of(groups);
  for (const std::int64_t run : group_of.runs()) {
    reader.each(sql::compared_counters, run_parameter(run),
                [&](std::span<const schema::Value> row) { add_reading(group_of, row); });
  }
}

std::string counter_name(const schema::Reader& reader, const LaunchGroup& group,
                         std::int32_t counter) {
  for (const std::int64_t run : group.runs) {
    const schema::Rows rows =
        reader.query(sql::compared_counter_names, {{":run", run}, {":counter", counter}});
    if (!rows.rows.empty()) return each_row(rows).front().text("counter");
  }
  return "";
}

}  // namespace warpmeter::reports
