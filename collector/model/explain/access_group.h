// SPDX-License-Identifier: MIT
// Sites of one line that access global memory alike, and the finding that is told of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "collector/model/explain/lane_order.h"
#include "collector/model/explain/subject.h"

namespace warpmeter::model::explain {

struct AccessGroup {
  std::vector<std::size_t> sites;
  std::uint64_t requests = 0, transactions = 0, ideal = 0, excess = 0;
  SiteLie worst;
  int line = 0;                      ///< the line of several, the one that costs most
  std::uint64_t excess_of_line = 0;  ///< its own
  std::vector<int> also;             ///< the others

  void add(std::size_t site, const AccessCounts& counts, const SiteLie& lie);
};

/// The buffer that the site accesses first; empty: it has no name.
std::string buffer_of(const Subject& subject, std::size_t site);

/// Says which other lines a finding counts.
void tell_also(std::vector<int> lines, schema::Finding& finding);

/// A part of the launch's global sectors.
double part_of_sectors(const Subject& subject, double sectors);

/// A finding of the group with what it counts, its place and its grade; to be completed.
schema::Finding& start_finding(const Subject& subject, const char* kind, const AccessGroup& group,
                               double cycles, std::vector<Weighed>& found);

/// Finds repeated loads and overwritten stores of each line, from the blocks that were followed:
/// what is fetched again, and what is stored over. Without `told` sites.
void find_accesses_again(const Subject& subject, const std::map<SourceLine, AccessGroup>& loads,
                         const std::map<SourceLine, AccessGroup>& stores,
                         const std::set<std::size_t>& told, std::vector<Weighed>& found);

}  // namespace warpmeter::model::explain
