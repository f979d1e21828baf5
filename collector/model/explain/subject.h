// SPDX-License-Identifier: MIT
// A launch that is to be explained, and a common measure for what its parts cost.
//
// Findings of different sorts have to be put in order, so each says what it costs in cycles of a
// multiprocessor, by a rough rule: four warp instructions a cycle, one wavefront of shared memory,
// one request to global memory and one sector. The rule decides which finding is the first, and
// which are too small to be reported; no figure of it is ever shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collector/model/explain/explain.h"

namespace warpmeter::model::explain {

inline constexpr double cycles_of_instruction = 0.25;
inline constexpr double cycles_of_wavefront = 1, cycles_of_request = 1, cycles_of_sector = 1;
/// The cost of a sector that the first-level cache has, mostly.
inline constexpr double cycles_of_cached_sector = 0.5;
/// A warp instruction of doubles, on devices that are good at them.
inline constexpr double cycles_of_double = 1;

struct Subject {
  Subject(const Program& program, const Geometry& geometry, const LaunchOutcome& outcome,
          const Options& options);

  const Program& program;
  const Geometry& geometry;
  const LaunchOutcome& outcome;
  const Recording& recording;
  const Options& options;
  std::vector<double> issues,
      lanes;                ///< the issues of each instruction: executions by warps, by lanes
  double warps_lanes = 32;  ///< that a warp of this launch has at its beginning
  double cycles = 0;        ///< the cycles of the whole launch, see above

  const Place& place(const SiteInfo& site) const { return program.places[site.instruction]; }
  const SiteInfo& site(std::size_t index) const { return program.sites[index]; }
};

/// A finding with what it costs.
struct Weighed {
  schema::Finding finding;
  double cycles = 0;
  bool is_of_launch = false;  ///< these come after those that have a line
  bool is_by_block = false;   ///< comes from the block's shape, which is told before
};

/// The least cost of a finding.
inline double least_told(const Subject& subject) { return 0.04 * subject.cycles; }

/// A line of a source file; none where the place names none.
struct SourceLine {
  std::string_view file;
  int number = 0;
  bool operator<(const SourceLine& other) const {
    return std::tie(file, number) < std::tie(other.file, other.number);
  }
};
using LineKey = std::pair<int, int>;  ///< file, line
inline LineKey line_key(const Place& place) { return {place.file, place.own_line}; }
SourceLine line_of(const Subject& subject, const Place& place);
/// Sets file, line and text of a place.
void locate(const Subject& subject, const Place& place, schema::Finding& finding);
/// The grade of a site's accesses; keeps the weaker of two.
void weaken(const Subject& subject, std::size_t site, AddressSpace space, schema::Finding& finding);

/// The transactions of all accesses to shared memory, or to global memory.
std::int64_t transactions_of(const LaunchOutcome& outcome, bool is_shared);

/// True if the machine loads a vector of PTX in parts, without what nobody uses.
bool makes_parts(const SiteInfo& site);

/// "4,096", "3.7 million".
std::string shown(double number);
/// "one", "2", "16"
std::string in_words(std::uint64_t number);

/// True if there are conflicts that are not told, because random places cost as much.
bool find_bank_conflicts(const Subject& subject, std::vector<Weighed>& found);
void find_global_accesses(const Subject& subject, std::vector<Weighed>& found);
void find_contended_atomics(const Subject& subject, std::vector<Weighed>& found);
void find_in_execution(const Subject& subject, std::vector<Weighed>& found);
void find_local_memory(const Subject& subject, std::vector<Weighed>& found);
void find_launch_shape(const Subject& subject, std::vector<Weighed>& found);

}  // namespace warpmeter::model::explain
