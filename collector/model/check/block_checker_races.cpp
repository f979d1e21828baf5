// SPDX-License-Identifier: MIT
// Conflicts in words: which kind of mistake two accesses are, and what would order them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/with_noun.h"
#include "collector/model/check/block_checker.h"
#include "collector/model/check/stored_value.h"
#include "collector/model/check/updates.h"
#include "collector/model/machine/memory/shown_name.h"

namespace warpmeter::model::check {
namespace {

std::uint32_t first_lane(std::uint32_t lanes) {
  return static_cast<std::uint32_t>(std::countr_zero(lanes));
}

/// A lane of each; of one warp, two that differ.
struct Pair {
  std::uint32_t own, other;
};
Pair pair_of(const Conflict& conflict, Span span) {
  const Pair first{first_lane(conflict.own_lanes), first_lane(conflict.their_lanes)};
  if (span != Span::warp || first.own != first.other) return first;
  const std::uint32_t here = ~(1u << first.own);
  if ((conflict.their_lanes & here) != 0)
    return {first.own, first_lane(conflict.their_lanes & here)};
  return {first_lane(conflict.own_lanes & here), first.other};
}

/// True if no barrier of the block fits between two accesses, or between copies of theirs: a loop
/// that was unrolled has several on a line.
bool are_parted(const Program& program, std::uint32_t one, std::uint32_t other) {
  const auto is_copy = [&](const SiteInfo& site, std::uint32_t of) {
    const Place &place = program.places[site.instruction],
                &own = program.places[program.sites[of].instruction];
    const bool is_there = place.file == own.file && place.line == own.line &&
                          place.own_line == own.own_line && own.line != 0;
    return (&site == &program.sites[of] || is_there) && site.kind == program.sites[of].kind;
  };
  const auto& sites = program.sites;
  return std::any_of(sites.begin(), sites.end(), [&](const SiteInfo& first) {
    if (first.partings.empty() || !is_copy(first, one)) return false;
    return std::any_of(sites.begin(), sites.end(), [&](const SiteInfo& second) {
      return is_copy(second, other) && ptx::are_parted(first.partings, second.partings);
    });
  });
}

}  // namespace

/// True if both write the same: what the earlier one wrote is what memory holds, since a write of
/// anything else would have been told.
bool BlockChecker::writes_same(const Conflict& conflict) const {
  const SiteInfo& own = *current_.info;
  const bool is_plain = own.kind == AccessKind::store && own.row_bytes > 0 &&
                        program_.sites[conflict.theirs.site].kind == AccessKind::store;
  if (!is_plain || current_.op == nullptr) return false;
  const unsigned lane = first_lane(conflict.own_lanes);
  const auto value = stored_value(*current_.warp, current_.op, own, lane);
  const std::uint64_t begin = current_.places[lane] - base_of_current();
  const std::uint64_t from = std::max(conflict.offset, begin);
  const std::uint64_t to = std::min(conflict.offset + conflict.width, begin + own.width);
  const std::uint32_t beside = lanes_beside(conflict);
  for (std::uint64_t at = from; at < to; ++at) {
    if (beside == 0 && memory_of_current()[at] != value[at - begin]) return false;
    for (std::uint32_t rest = beside; rest != 0; rest &= rest - 1) {
      const unsigned other = first_lane(rest);
      const std::uint64_t there = current_.places[other] - base_of_current();
      if (at < there || at >= there + own.width) continue;
      const auto theirs = stored_value(*current_.warp, current_.op, own, other);
      if (theirs[at - there] != value[at - begin]) return false;
    }
  }
  return true;
}

/// Lanes that write there in the very same execution of the instruction; nothing of it is in memory
/// yet.
std::uint32_t BlockChecker::lanes_beside(const Conflict& conflict) const {
  if (!conflict.is_one_context || current_.op == nullptr) return 0;
  std::uint32_t beside = 0;
  for (std::uint32_t rest = (conflict.own_lanes | conflict.their_lanes) & current_.places.mask;
       rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    const std::uint64_t there = current_.places[lane] - base_of_current();
    const bool is_here =
        there < conflict.offset + conflict.width && conflict.offset < there + current_.info->width;
    if (is_here) beside |= 1u << lane;
  }
  return (beside & ~conflict.own_lanes) != 0 || !std::has_single_bit(conflict.own_lanes) ? beside
                                                                                         : 0;
}

std::uint64_t BlockChecker::base_of_current() const {
  return current_.region == nullptr ? 0 : current_.region->allocation->address;
}

const std::byte* BlockChecker::memory_of_current() const {
  return current_.region == nullptr ? shared_memory_ : current_.region->allocation->data.data();
}

bool BlockChecker::take(const Conflict& conflict) {
  const Context& theirs = conflict.theirs;
  const SiteInfo& other = program_.sites[theirs.site];
  if (current_.copy != nullptr) {
    const Copy& copy = *current_.copy;
    const std::uint64_t within = conflict.offset - copy.offset;
    const bool is_same = theirs.writes && within < copy.width &&
                         shared_memory_[conflict.offset] == copy.value[within];
    if (is_same) return true;  // and was told when it was written
    add_unawaited(copy, other.instruction,
                  theirs.warp * warp_lanes + first_lane(conflict.their_lanes), theirs.writes);
    return false;
  }
  const Span span = theirs.block != order_.block()        ? Span::grid
                    : theirs.warp != current_.warp->index ? Span::block
                                                          : Span::warp;
  if (is_ordered_elsewhere(conflict, span) || is_behind_product(conflict, span)) return false;
  const bool both_write = theirs.writes && current_.info->kind != AccessKind::load;
  // One of two counts is lost although both write the same.
  const bool is_equal =
      both_write && writes_same(conflict) && !loses_one(atomic_instead(theirs.site));
  const Defect defect = is_equal                                        ? Defect::equal_writes
                        : span == Span::grid                            ? Defect::block_race
                        : current_.places.space == AddressSpace::shared ? Defect::race
                                                                        : Defect::global_race;
  launch_.findings_.add(defect, current_.info->instruction, span,
                        [&] { return describe(conflict, span, is_equal); });
  return is_equal;
}

/// The atomic in place of what both threads do: they read, compute and write back. Empty: they do
/// not.
std::string_view BlockChecker::atomic_instead(std::uint32_t other) const {
  const std::vector<Update>& all = launch_.updates_;
  const std::uint32_t own = current_.site;
  return all[own].atomic.empty() || all[other].atomic.empty() ? "" : all[own].atomic;
}

/// True if both accesses are of one such update.
bool BlockChecker::is_one_statement(std::uint32_t other) const {
  const std::vector<Update>& all = launch_.updates_;
  const std::uint32_t own = current_.site;
  return all[own].store == all[other].store;
}

/// True if blocks of a cluster have ordered the two by its barrier, or may have in ways that are
/// not followed: by signals in each other's shared memory, or from one block by another to a third.
bool BlockChecker::is_ordered_elsewhere(const Conflict& conflict, Span span) const {
  if (!launch_.is_in_clusters_) return false;
  if (span != Span::grid) return span == Span::block && launch_.has_cluster_signals_;
  if (launch_.has_cluster_signals_) return true;
  return launch_.are_of_one_cluster(conflict.theirs.block, order_.block()) &&
         is_ordered_in_cluster(conflict.theirs);
}

/// Strong accesses, as far as they tell of others.
void BlockChecker::signal(const Warp& warp, const SiteInfo& info, const Places& places) {
  const bool is_global = places.space == AddressSpace::global;
  const bool reads =
      info.decides && (info.kind == AccessKind::load || info.kind == AccessKind::atomic);
  const std::uint32_t own = warp.index, block = order_.block(), site = current_.site;
  const auto listen = [](const Signals& to, std::uint64_t place, std::uint32_t as, Told& told,
                         const Moment& at) {
    const std::vector<Signal>* here = to.at(place);
    if (here == nullptr) return;
    for (const Signal& signal : *here) {
      if (signal.from != as) told.read(signal, at);
    }
  };
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint64_t place = places[lane];
    if (reads) {
      listen(signals_, place, own, told_[own], now());
      if (is_global) listen(launch_.signals_, place, block, told_by_blocks_, now());
    }
    if (info.kind == AccessKind::load) return;
    signals_.write(place, {own, now(), info.releases ? now() : fences_[own], site});
    if (!is_global) return;
    launch_.signals_.write(place, {block, now(), info.releases ? now() : device_fence_, site});
  });
  if (!info.acquires) return;
  acquired_[own] = now();
  if (info.scope == Scope::device) device_acquired_ = now();
}

/// Which fence or barrier is missing where a flag, a lock or a counter tells the one thread of what
/// the other did; empty: nothing does.
std::string BlockChecker::fence_wanted(const Conflict& conflict, Span span) const {
  if (span == Span::warp) return "";
  const bool is_grid = span == Span::grid, is_shared = current_.region == nullptr;
  const std::uint32_t warp = current_.warp->index;
  const Context& theirs = conflict.theirs;
  const Told& told = is_grid ? told_by_blocks_ : told_[warp];
  const Told::Entry* entry =
      told.since(is_grid ? theirs.block : theirs.warp, conflict.number, is_shared);
  // No fence fits between an access and itself.
  if (entry == nullptr || entry->signal.site == theirs.site) return "";
  const char* const fence = is_grid ? "__threadfence()" : "__threadfence_block()";
  if (!entry->signal.fence.is_behind(conflict.number, is_shared)) {
    return fmt::format(
        ", and the flag, lock or counter that tells of it orders nothing without a fence: put {} "
        "behind {}, before it is handed on",
        fence, launch_.names_.line(program_.sites[theirs.site].instruction));
  }
  if ((is_grid ? device_acquired_ : acquired_[warp]).is_before(entry->at)) {
    return fmt::format(
        ", and the flag, lock or counter that tells of it orders nothing without a fence on this "
        "side: put {} behind the place that waits for it",
        fence);
  }
  return fmt::format(
      ", since the thread that hands it on, or the one that waits for it, does so for others "
      "without a barrier: put {} before the one and behind the other",
      is_grid ? "__syncthreads()" : "__syncwarp()");
}

/// The remedy that would order the two.
std::string BlockChecker::order_wanted(const Conflict& conflict, Span span) const {
  constexpr const char* nothing = " with nothing to order the two";
  const std::string_view atomic = atomic_instead(conflict.theirs.site);
  const SiteInfo& other = program_.sites[conflict.theirs.site];
  if (current_.info->is_atomic() && other.is_atomic() && current_.info->width != other.width) {
    return fmt::format(
        " by an atomic of {}, this one of {}: where they overlap in part neither is atomic "
        "for "
        "the other; let both have one width",
        with_noun(other.width, "byte"), current_.info->width);
  }
  if (const std::string fence = fence_wanted(conflict, span); !fence.empty()) return fence;
  if (!atomic.empty() && is_one_statement(conflict.theirs.site)) {
    return fmt::format(
        ": each reads, computes and writes back, and what the other wrote meanwhile is lost; use "
        "{}",
        atomic);
  }
  if (span == Span::warp && lanes_beside(conflict) != 0) {
    return " in the same instruction: which of them stays is open; let one thread write, or use "
           "an atomic";
  }
  if (span == Span::warp) return fmt::format("{}; put __syncwarp() between them", nothing);
  const std::string or_atomic = atomic.empty() ? "" : fmt::format(", or use {} for both", atomic);
  if (span == Span::block && are_parted(program_, current_.site, conflict.theirs.site)) {
    return fmt::format(
        "{}; the threads of the block part at a branch before them, where __syncthreads() does not "
        "fit: end the branch for it, or put a barrier of the threads that take part between them "
        "(bar.sync ID, THREADS, or cuda::barrier){}",
        nothing, or_atomic);
  }
  if (span == Span::block) {
    return fmt::format("{}; put __syncthreads() between them{}", nothing, or_atomic);
  }
  if (!atomic.empty()) return fmt::format("{}; use {} for both", nothing, atomic);
  if (launch_.is_in_clusters_ &&
      launch_.are_of_one_cluster(conflict.theirs.block, order_.block())) {
    return fmt::format("{}; put cluster.sync() between them", nothing);
  }
  return fmt::format(
      "{}, and blocks run in any order: let only one of them use it, hand it over by "
      "__threadfence() and an atomic that the other block reads, or launch a second kernel",
      nothing);
}

Described BlockChecker::describe(const Conflict& conflict, Span span, bool is_equal) const {
  const Context& theirs = conflict.theirs;
  const SiteInfo& other = program_.sites[theirs.site];
  const Pair lanes = pair_of(conflict, span);
  const std::uint32_t their_thread = theirs.warp * warp_lanes + lanes.other;
  const bool writes = current_.info->kind != AccessKind::load;
  const std::string what =
      current_.places.space == AddressSpace::shared
          ? shared_at(conflict.offset, current_.info->width)
          : fmt::format("{} at byte {}", shown_name(*current_.region->allocation), conflict.offset);
  const std::string whose = span == Span::grid
                                ? fmt::format("{} of {}", launch_.names_.thread(their_thread),
                                              launch_.names_.block(theirs.block))
                                : launch_.names_.thread(their_thread);
  std::string text =
      fmt::format("{} {}, which {} {} on {}", writes ? "writes" : "reads", what, whose,
                  theirs.writes ? "writes" : "reads", launch_.names_.line(other.instruction));
  if (is_equal) {
    const bool always = current_.info->stores_same && other.stores_same;
    text += always ? "; both write the same, which does no harm where nothing else writes it"
                   : "; both wrote the same this time, and with other input they may not";
  } else {
    const std::string vain = vain_wait_of_reader(conflict, span);
    text += vain.empty() ? order_wanted(conflict, span) : vain;
  }
  return {sentence(current_.warp->index * warp_lanes + lanes.own, text), other.instruction};
}

}  // namespace warpmeter::model::check
