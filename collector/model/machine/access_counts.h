// SPDX-License-Identifier: MIT
// The careful path of an access (access.h): what it costs, put into the counts of its site.
#pragma once

#include <array>
#include <cstdint>

#include "base/lanes.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

/// The access to shared memory for the counting rules.
SharedAccess shared_access(const SiteInfo& info);

/// Which bits of the first lane's address the cost of an access depends on: (address & mask) >>
/// shift numbers the hits of a site.
struct HitPlaces {
  std::uint32_t mask = 0;
  std::uint8_t shift = 0;
};
HitPlaces hit_places(const SiteInfo& info, AddressSpace space);

/// Wavefronts of one access to shared memory.
Cost wavefronts_of(const SiteInfo& info, const WarpAccess& access);

/// True if somebody asks how the lanes of the site lay, and not in too many ways so far.
bool is_recorded(const WorkerMemory& memory, std::size_t site);

/// Counts and records an access whose lanes are all in the window, and which no site remembers.
void count_once(WorkerMemory& memory, std::size_t site, const Window& window, std::uint32_t mask,
                const std::uint64_t* addresses);

/// Counts an access that spreads over several windows, space by space.
void count_apart(SiteCounts& counts, const SiteInfo& info, std::uint32_t mask,
                 const std::array<AddressSpace, warp_lanes>& spaces,
                 const std::uint64_t* addresses);

}  // namespace warpmeter::model
