// SPDX-License-Identifier: MIT
// The subject of a comparison: the launches of one variant at one size in one geometry on one
// device, gathered from one run or several.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/distribution.h"
#include "reports/statistics.h"
#include "schema/figures/figures.h"
#include "schema/figures/kinds.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// The values of one counter or metric in a group's launches.
struct GroupFigure {
  std::string metric;
  Distribution values;
  schema::Grade grade = schema::Grade::measured;  ///< the weakest
  std::set<std::string, std::less<>> estimates;   ///< which blocks were run for estimates
  std::string reason;                             ///< the first reason of such a grade
  double error = 0;  ///< half of the widest interval of an estimate; 0: none has one
};

/// The kinds of one run whose launches are of a group.
struct KindsOfRun {
  std::shared_ptr<const schema::LaunchKinds> of_run;
  std::vector<std::size_t> places;  ///< those whose launches ended well
};

struct LaunchGroup {
  std::string family, variant, grid, block;
  std::optional<std::int64_t> size;
  std::string device, backend;
  std::string title;  ///< the title of the device: tells a card from others of its name
  std::int64_t ordinal = 0;
  std::set<std::string> uuids, drivers;  ///< the uuids of the devices; empty ones left out
  std::set<std::int64_t> runs;
  bool is_of_program = false;                ///< a profiled program launched them
  std::map<std::int64_t, KindsOfRun> kinds;  ///< by run
  std::size_t launches = 0;                  ///< those that ended well
  std::size_t failures = 0;
  std::string failure;  ///< why the first of them failed

  std::map<std::int64_t, GroupFigure> counters;             ///< by their number in the database
  std::map<std::string, GroupFigure, std::less<>> derived;  ///< metrics
  std::map<std::string, std::string, std::less<>> missing;  ///< the first reason, by metric
  std::set<std::string> caches;                             ///< "cold", "warm" of its timings
  std::set<std::int64_t> timed_runs;
  Samples samples;  ///< empty without a timing
  std::optional<double> sm_clock_mhz;
  std::set<std::string> throttled;  ///< why its clocks were held back
  std::set<std::string> disturbed;  ///< the other disturbances of its times: "python3"

  /// "transpose/naive at 1,024"
  std::string name() const;
  /// A counter or metric; nullptr where no launch has a value.
  const GroupFigure* find(std::string_view metric) const;
  std::string geometry() const { return grid + " of " + block; }
};

/// The groups of the runs in launch order, with their times and clocks; without counters.
/// `by_card`: two cards of one name are two devices, and each goes by its title. `known`: runs
/// whose kinds need not be read.
std::vector<LaunchGroup> read_groups(const schema::Reader& reader,
                                     std::span<const std::int64_t> runs, bool by_card = false,
                                     const schema::KindsByRun& known = {});

/// Adds the counters and metrics of the groups' launches, those without a value left out; one pass
/// over each run.
void read_counters(const schema::Reader& reader, std::span<LaunchGroup*> groups);

}  // namespace warpmeter::reports
