// SPDX-License-Identifier: MIT
// Reads of shared memory by products of a warpgroup (wgmma.mma_async). All four warps make a
// product together, so whoever of them has waited for it knows that all of them have read: CUTLASS
// frees a stage by one thread's arrival. Waits for all but N groups count as waits for all
// (Gap::products).
#include <algorithm>

#include "base/lanes.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/machine/warp/warpgroup_product.h"

namespace warpmeter::model::check {

/// A warp may ask several times before the products are there, and does nothing else meanwhile.
void BlockChecker::note_products(const Warp& warp) {
  product_waits_[warp.index].push_back(order_.now());
  take_reads();
  order_.pass();
}

/// True if a product of the block reads there, and what comes now comes after some warp of its
/// warpgroup has waited for it.
bool BlockChecker::is_behind_product(const Conflict& conflict, Span span) const {
  const Context& theirs = conflict.theirs;
  if (span == Span::grid || program_.sites[theirs.site].carrier != Carrier::product) return false;
  const std::uint32_t own = current_.warp->index,
                      first = theirs.warp / warps_of_group * warps_of_group;
  bool is_behind = true;
  for_each_lane(conflict.own_lanes, [&](unsigned lane) {
    bool knows = false;
    for (std::uint32_t warp = first; warp < first + warps_of_group; ++warp) {
      const std::vector<Stamp>& waits = product_waits_[warp];
      const auto wait = std::lower_bound(waits.begin(), waits.end(), theirs.stamp);
      if (wait == waits.end()) continue;
      knows |= warp == own || order_.comes_after(warp, *wait, own, lane);
    }
    is_behind &= knows;
  });
  return is_behind;
}

}  // namespace warpmeter::model::check
