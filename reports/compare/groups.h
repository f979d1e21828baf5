// SPDX-License-Identifier: MIT
// The subject of a comparison: the launches of one variant at one size in one geometry on one
// device, gathered from one run or several.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "reports/statistics.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// One counter of one launch.
struct Reading {
  double value = 0;
  std::int32_t counter = 0;  ///< its number in the database
};

struct LaunchGroup {
  std::string family, variant, grid, block;
  std::optional<std::int64_t> size;
  std::string device, backend;
  std::string title;  ///< the title of the device: tells a card from others of its name
  std::int64_t ordinal = 0;
  std::set<std::string> uuids, drivers;  ///< the uuids of the devices; empty ones left out
  std::set<std::int64_t> runs;
  bool is_of_program = false;          ///< a profiled program launched them
  std::vector<std::int64_t> launches;  ///< those that ended well
  std::size_t failures = 0;
  std::string failure;  ///< why the first of them failed

  std::vector<Reading> readings;  ///< the readings of all launches, unavailable ones left out
  std::set<std::string> caches;   ///< "cold", "warm" of its timings
  std::set<std::int64_t> timed_runs;
  Samples samples;  ///< empty without a timing
  std::optional<double> sm_clock_mhz;
  std::set<std::string> throttled;  ///< why its clocks were held back
  std::set<std::string> disturbed;  ///< the other disturbances of its times: "python3"

  /// "transpose/naive at 1,024"
  std::string name() const;
  std::string geometry() const { return grid + " of " + block; }
};

/// The groups of the runs in launch order, with their times and clocks; without counters.
/// `by_card`: two cards of one name are two devices, and each goes by its title.
std::vector<LaunchGroup> read_groups(const schema::Reader& reader,
                                     std::span<const std::int64_t> runs, bool by_card = false);

/// Adds the counters of the groups' launches without their grades; one pass over the runs'
/// counters.
void read_counters(const schema::Reader& reader, std::span<LaunchGroup*> groups);

/// The name of a counter that a launch of the group's runs has, by its number.
std::string counter_name(const schema::Reader& reader, const LaunchGroup& group,
                         std::int32_t counter);

}  // namespace warpmeter::reports
