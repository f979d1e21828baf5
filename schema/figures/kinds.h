// SPDX-License-Identifier: MIT
// The launches of a run by kind. A profiled program launches some kernels a million times, so
// readers keep what launches have in common once, and of each launch two numbers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::schema {

/// Launches that are alike in these columns of `launches` and `timings`.
struct LaunchKind {
  std::int64_t first = 0;  ///< the number of the first of them
  std::size_t launches = 0;
  std::int64_t device_id = 0;
  std::string family, variant;
  std::optional<std::int64_t> size;
  std::string grid, block;
  bool failed = false, verified = false, is_ceiling = false;
  bool computes = false;  ///< its useful work has floating-point operations
  std::string reason;
  std::string cache;          ///< the cache state of the timing; empty without one
  std::string timing_reason;  ///< why there is no timing
};

/// Launches that are alike: equal in their own columns, counters, cache state and explanation, or
/// in all of this but the values of their counters. Those of one kind may differ in their figures
/// and explanations.
struct AlikeLaunches {
  std::vector<std::uint32_t> groups;    ///< the group of each launch, by its place in the run
  std::vector<std::uint32_t> first;     ///< the place of the first launch of each group, ascending
  std::vector<std::uint32_t> launches;  ///< their number, by group
  std::vector<bool> values_differ;      ///< by group

  bool empty() const { return groups.empty(); }
};

struct LaunchKinds {
  std::deque<LaunchKind> all;         ///< in the order of their first launches
  std::vector<std::int64_t> ids;      ///< the launches of the run, ascending
  std::vector<std::uint32_t> places;  ///< the place in `all` of each
  AlikeLaunches alike;                ///< empty where the database does not say

  const LaunchKind& of(std::size_t launch) const { return all[places[launch]]; }
  /// The place in `ids` of a launch; nullopt for one that is not of the run.
  std::optional<std::size_t> find(std::int64_t id) const;
  /// A JSON array of the first launches of the groups of `alike`.
  std::string first_alike() const;
};

using KindsByRun = std::map<std::int64_t, std::shared_ptr<const LaunchKinds>>;

/// The parts of launches that make a kind: with resources, those that the figures of resources
/// follow from, too.
enum class Alike { launches, resources };

LaunchKinds read_kinds(const Reader& reader, std::int64_t run_id, Alike alike = Alike::launches);

/// Launches of one kind with one explanation.
struct ExplainedKind {
  std::size_t kind = 0;  ///< its place
  std::optional<std::int64_t> explanation_id;
  std::int64_t first = 0;  ///< the number of the first of them
  std::int64_t launches = 0;
};

/// In the order of their first launches. Those without an explanation are apart where some were
/// counted: that is why they have none.
std::vector<ExplainedKind> explained_kinds(const Reader& reader, std::int64_t run_id,
                                           const LaunchKinds& kinds);

}  // namespace warpmeter::schema
