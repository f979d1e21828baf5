// SPDX-License-Identifier: MIT
#include "collector/model/machine/access.h"

#include "base/lanes.h"
#include "collector/model/machine/observer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/access_counts.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/windows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

bool is_read_only(AddressSpace space) {
  return space == AddressSpace::constant || space == AddressSpace::param;
}

/// The shape of a site's addresses: are they, in both halves of a full warp, the addresses are
/// equal, or follow each other.
Shape shape_of(const Site& site, const SiteInfo& info) {
  if (site.mask != ~0u) return Shape::general;
  bool uniform = true, contiguous = info.parts == 1;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (lane % 16 == 0) continue;
    const std::uint64_t step = site.delta[lane] - site.delta[lane - 1];
    uniform &= step == 0;
    contiguous &= step == info.width;
  }
  return uniform ? Shape::uniform : contiguous ? Shape::contiguous : Shape::general;
}

/// Site::layout. That lanes are apart is seen where each lies behind the one before it, or each
/// before.
std::uint8_t layout_of(const Site& site, const SiteInfo& info) {
  const auto first = static_cast<unsigned>(std::countr_zero(site.mask));
  bool near = true, rising = true, falling = true, uniform = true, contiguous = info.parts == 1;
  const std::uint64_t element = info.width / std::max<unsigned>(info.parts, 1);
  std::int64_t last = 0;
  for (unsigned lane = first; lane < warp_lanes; ++lane) {
    if ((site.mask >> lane & 1) == 0) continue;
    const auto delta = static_cast<std::int64_t>(site.delta[lane]);
    near &= delta == static_cast<std::int32_t>(delta);
    uniform &= delta == 0;
    contiguous &= site.delta[lane] == (lane - first) * element;
    if (lane != first) {
      rising &= delta - last >= static_cast<std::int64_t>(info.width);
      falling &= last - delta >= static_cast<std::int64_t>(info.width);
    }
    last = delta;
  }
  const bool is_some = site.mask != ~0u;
  const auto bit = [](bool is_so, std::uint8_t one) { return is_so ? one : std::uint8_t{0}; };
  return static_cast<std::uint8_t>(bit(near, layout_near) | bit(rising || falling, layout_apart) |
                                   bit(is_some && uniform, some_uniform) |
                                   bit(is_some && contiguous, some_contiguous));
}

std::vector<std::uint64_t>& at_least(std::vector<std::uint64_t>& places, std::size_t count) {
  if (places.size() < count) places.resize(count);
  return places;
}

/// `places`: where each place in shared memory, or in a period of global memory, has hits of its
/// own; may be null.
void remember(Site& site, const SiteInfo& info, const Window& window, std::uint32_t mask,
              const std::uint64_t* addresses, std::vector<std::uint64_t>* places = nullptr) {
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  std::int64_t lowest = 0, highest = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    site.delta[lane] = addresses[lane] - first;
    site.delta_32[lane] = static_cast<std::uint32_t>(site.delta[lane]);
    if ((mask >> lane & 1) == 0) continue;
    const auto delta = static_cast<std::int64_t>(site.delta[lane]);
    lowest = std::min(lowest, delta);
    highest = std::max(highest, delta);
  }
  const std::uint64_t below = static_cast<std::uint64_t>(-lowest);
  site.least = window.begin + below;
  site.most_above_least = window.bytes - static_cast<std::uint64_t>(highest) - info.width - below;
  site.host = window.host + below;
  site.half_apart = site.delta[warp_lanes / 2];
  site.mask = mask;
  site.shape = shape_of(site, info);
  site.layout = layout_of(site, info);
  site.misaligned = static_cast<std::uint8_t>(info.alignment - 1);
  const HitPlaces hits = hit_places(info, window.space);
  site.hits = site.own_hits;
  site.hit_mask = hits.mask;
  site.hit_shift = hits.shift;
  if (places != nullptr && window.space == AddressSpace::shared) {
    site.hits = places->data();
    site.hit_mask = ~std::uint32_t{0};
  } else if (places != nullptr && window.space == AddressSpace::global) {
    // Where a sector's own hits do not say enough.
    const std::uint32_t places_period = place_period(mask, site.delta, info.narrowest_request());
    if (places_period > sector_bytes) {
      site.hits = at_least(*places, places_period >> site.hit_shift).data();
      site.hit_mask = places_period - 1;
    }
  }
  site.space = static_cast<std::uint8_t>(window.space);
  site.window_begin = window.begin;
  site.touched = window.touched;
  site.hits[(first & site.hit_mask) >> site.hit_shift] = 1;
}

}  // namespace

bool raise(Warp& w, const Operation* op, const SiteInfo& info, TrapKind kind, AddressSpace space,
           unsigned lane, std::uint64_t address) {
  w.trap = {};
  w.trap.kind = kind;
  w.trap.space = static_cast<std::uint8_t>(space);
  w.trap.lane = lane;
  w.trap.instruction = op->instruction;
  w.trap.address = address;
  w.trap.width = info.width;
  w.status = WarpStatus::trapped;
  w.pc = op;
  return false;
}

HostStretch host_at(Warp& w, unsigned lane, std::uint64_t generic_address) {
  SiteInfo generic;
  generic.space = AddressSpace::generic;
  const Window window = window_at(w, generic, generic_address, lane);
  if (!window.holds(generic_address, 1)) return {};
  const std::uint64_t offset = generic_address - window.begin;
  return {window.host + offset, window.bytes - offset};
}

namespace {

/// The state of Site::touched while an observer is told of each access.
constexpr TouchedWords told_to_observer;
/// The same while a block is followed access by access.
constexpr TouchedWords told_to_trace, told_to_recording;

std::array<std::uint64_t, warp_lanes> deltas(std::uint32_t mask, const std::uint64_t* addresses) {
  std::array<std::uint64_t, warp_lanes> delta{};
  const std::uint64_t first = addresses[std::countr_zero(mask)];
  for_each_lane(mask, [&](unsigned lane) { delta[lane] = addresses[lane] - first; });
  return delta;
}

/// Records one access of a site whose shape changes too often to be worth hits of its own.
void record_one(const Warp& w, const Operation* op, AddressSpace space, std::uint32_t mask,
                std::uint64_t first, const std::uint64_t* delta) {
  SiteRecording& recording = w.memory->recording->sites[op->extra];
  recording.lie(space, mask, delta);
  recording.add(static_cast<std::uint32_t>(first), 1);
}

void follow(const Warp& w, const Operation* op, const SiteInfo& info, AddressSpace space,
            std::uint32_t mask, std::uint64_t first, const std::uint64_t* delta,
            bool lies_as_before) {
  if (space == AddressSpace::cluster) return;
  w.memory->trace->follow({w.index, op->extra, info.kind == AccessKind::load, info.is_atomic(),
                           info.width, space, mask, first, lies_as_before},
                          delta);
}

/// Where an observer's places in a window are counted from.
std::uint64_t begin_of_places(const SiteInfo& info, const Window& window) {
  if (window.space == AddressSpace::global) return 0;
  if (window.space != AddressSpace::cluster) return window.begin;
  return info.space == AddressSpace::generic ? shared_window : 0;
}

/// Tells the observer of the lanes that may go on, space by space.
void check_lanes(Warp& w, const Operation* op, const SiteInfo& info, std::uint32_t mask,
                 const std::array<AddressSpace, warp_lanes>& spaces, const std::uint64_t* places) {
  for (std::uint32_t left = mask; left != 0;) {
    Places those{spaces[static_cast<unsigned>(std::countr_zero(left))], 0, 0, places};
    for_each_lane(left, [&](unsigned lane) {
      if (spaces[lane] == those.space) those.mask |= 1u << lane;
    });
    left &= ~those.mask;
    w.memory->observer->accept(w, op, info, those);
  }
}

/// An access is remembered to be fast the next time, which is not worth it for one that never comes
/// again. Each of those is tried now and then. `hits`: of what the site remembered last.
bool is_worth_remembering(WorkerMemory& memory, std::size_t index, std::uint64_t hits) {
  constexpr std::uint32_t patience = 4, every = 8;
  std::uint32_t& misses = memory.misses[index];
  misses = hits > 1 ? 0 : misses + 1;
  return misses < patience || misses % every == 0;
}

/// Where a site has hits for each place in shared memory; null where its shape changes so often
/// that looking them all through were dear: then each access is recorded by itself.
std::vector<std::uint64_t>* places_of(WorkerMemory& memory, std::size_t index) {
  constexpr std::uint32_t most_shapes = 256;
  if (memory.shapes[index] >= most_shapes) return nullptr;
  ++memory.shapes[index];
  const unsigned alignment = memory.program->sites[index].alignment;
  return &at_least(memory.places[index], memory.shared.size() / std::min(alignment, 4u) + 1);
}

/// All lanes in their own local memory, which is not counted, where none has to be told of: what
/// functions that take references to their caller's variables do all the time. False where it is
/// not so: then nothing has happened.
bool reach_local(Warp& w, const SiteInfo& info, Site& site, std::uint32_t mask,
                 const std::uint64_t* addresses) {
  const WorkerMemory& memory = *w.memory;
  const bool is_generic = info.space == AddressSpace::generic;
  if (!is_generic && info.space != AddressSpace::local) return false;
  const std::uint64_t begin = is_generic ? local_window : 0;
  const std::uint64_t bytes = memory.program->local_bytes;
  if (bytes < info.width) return false;
  const std::uint64_t most = bytes - info.width;
  bool all = true;
  for_each_lane(mask, [&](unsigned lane) {
    all &= addresses[lane] - begin <= most && (addresses[lane] & (info.alignment - 1u)) == 0;
  });
  if (!all) return false;
  for_each_lane(mask, [&](unsigned lane) {
    w.lane_host[lane] = w.local + lane * bytes + (addresses[lane] - begin);
  });
  site.local_begin = begin;
  site.local_places = most + 1;
  site.misaligned_local = static_cast<std::uint8_t>(info.alignment - 1);
  return true;
}

/// All lanes in one window, where each is allowed. False where it is not so: then nothing has
/// happened.
bool reach_together(Warp& w, const SiteInfo& info, std::uint32_t mask,
                    const std::uint64_t* addresses, const Window& window) {
  const bool stores = info.kind != AccessKind::load;
  if (window.space == AddressSpace::local || window.of_ended_block) return false;
  if (window.bytes < info.width || (stores && is_read_only(window.space))) return false;
  const std::uint64_t most = window.bytes - info.width;
  // An integer: of a lane that lies elsewhere it leads nowhere, and may wrap.
  const auto host = reinterpret_cast<std::uintptr_t>(window.host);
  std::uint64_t wrong = 0;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t offset = addresses[lane] - window.begin;
    wrong |= (offset > most ? 1u : 0u) | (addresses[lane] & (info.alignment - 1u));
    w.lane_host[lane] = reinterpret_cast<std::byte*>(host + offset);
  });
  if (wrong != 0) return false;
  if (window.touched == nullptr) return true;
  for_each_lane(mask, [&](unsigned lane) {
    w.memory->footprint->touch(*window.touched, addresses[lane] - window.begin, info.width, stores);
  });
  return true;
}

/// The window that holds all lanes: of a site whose lanes lie otherwise each time (a table that is
/// looked up) most often where the last ones did, else the first lane's. nullopt where they are
/// apart or not allowed: then nothing has happened.
std::optional<Window> reach_window(Warp& w, std::size_t index, std::uint32_t mask,
                                   const std::uint64_t* addresses) {
  const WorkerMemory& memory = *w.memory;
  const SiteInfo& info = memory.program->sites[index];
  KnownWindow& known = w.memory->known[index];
  const std::uint64_t removals = memory.device->heap().removals;
  if (known.window.host != nullptr && known.removals == removals &&
      reach_together(w, info, mask, addresses, known.window)) {
    return known.window;
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  const Window window = window_at(w, info, addresses[lane], lane);
  if (!reach_together(w, info, mask, addresses, window)) return std::nullopt;
  // Another block of a cluster may end.
  if (window.space != AddressSpace::cluster) known = {window, removals};
  return window;
}

/// Remembers an access in one window, with what records its places.
void remember(const Warp& w, const Operation* op, Window& window, std::uint32_t mask,
              const std::uint64_t* addresses) {
  WorkerMemory& memory = *w.memory;
  Site& site = w.sites[op->extra];
  std::vector<std::uint64_t>* hits = nullptr;
  if (is_recorded(memory, op->extra) && window.space == AddressSpace::global) {
    hits = &memory.places[op->extra];
  } else if (is_recorded(memory, op->extra) && window.space == AddressSpace::shared) {
    hits = places_of(memory, op->extra);
    if (hits == nullptr) {
      window.touched = &told_to_recording;
      record_one(w, op, window.space, mask, addresses[std::countr_zero(mask)],
                 deltas(mask, addresses).data());
    }
  }
  remember(site, memory.program->sites[op->extra], window, mask, addresses, hits);
  site.number = memory.next_number++;
  site.like_leader = ~std::uint64_t{0};
}

}  // namespace

bool reach(Warp& w, const Operation* op, std::uint32_t mask, const std::uint64_t* addresses) {
  WorkerMemory& memory = *w.memory;
  const SiteInfo& info = memory.program->sites[op->extra];
  Site& site = w.sites[op->extra];
  // Late loads lie as their site remembers: they are looked at before it forgets that.
  if (memory.observer != nullptr) memory.observer->take_late_loads();
  const std::uint64_t hits = settle(memory, op->extra);
  const bool is_worth = is_worth_remembering(memory, op->extra, hits);
  if (memory.observer == nullptr && !memory.is_traced) {
    if (reach_local(w, info, site, mask, addresses)) return true;
    if (std::optional<Window> window = reach_window(w, op->extra, mask, addresses)) {
      if (is_worth) {
        remember(w, op, *window, mask, addresses);
        memory.counts[op->extra].on_heap |= memory.is_counted && is_on_heap(*window);
      } else if (memory.is_counted) {
        count_once(memory, op->extra, *window, mask, addresses);
      }
      return true;
    }
  }

  Window window;
  std::array<AddressSpace, warp_lanes> spaces{};
  std::array<std::uint64_t, warp_lanes> places;  // from where each lane's space begins
  bool one_window = true, trapped = false;
  std::uint32_t refused = 0;
  const unsigned first_lane = static_cast<unsigned>(std::countr_zero(mask));
  for_each_lane(mask, [&](unsigned lane) {
    if (trapped) return;
    const std::uint64_t address = addresses[lane];
    if (lane == first_lane) {
      window = window_at(w, info, address, lane);
      one_window = window.space != AddressSpace::local;
    } else if (!one_window || !window.holds(address, info.width)) {
      const Window other = window_at(w, info, address, lane);
      one_window &= other.host == window.host;
      window = other;
    }
    const bool is_global = window.space == AddressSpace::global;
    memory.counts[op->extra].on_heap |= is_on_heap(window);
    const bool may_leave =
        is_global || (window.space == AddressSpace::shared && memory.may_leave_shared);
    if (may_leave && memory.observer == nullptr && !window.holds(address, info.width)) {
      const Window beside =
          is_global ? slack_at(w, address)
                    : Window{window.space, window.begin, memory.shared.size(), window.host};
      if (beside.holds(address, info.width)) {
        window = beside;
        memory.counts[op->extra].has_strayed = true;
      }
    }
    spaces[lane] = window.space;
    const bool writes = info.kind != AccessKind::load;
    TrapKind wrong = TrapKind::none;
    memory.counts[op->extra].reaches_ended |= window.of_ended_block;
    if (window.space == AddressSpace::cluster && !window.holds(address, info.width)) {
      wrong = TrapKind::outside_cluster;
    } else if (!window.holds(address, info.width) || (writes && is_read_only(window.space))) {
      wrong = TrapKind::out_of_bounds;
    } else if (address % info.alignment != 0) {
      wrong = TrapKind::misaligned;
    }
    if (wrong == TrapKind::none) {
      const std::uint64_t offset = address - window.begin;
      w.lane_host[lane] = window.host + offset;
      if (window.touched != nullptr) {
        memory.footprint->touch(*window.touched, offset, info.width, writes);
      }
      places[lane] = address - begin_of_places(info, window);
    } else if (memory.observer != nullptr) {
      w.lane_host[lane] = memory.observer->refuse(w, op, wrong, window.space, lane, address);
      refused |= 1u << lane;
    } else {
      trapped = !raise(w, op, info, wrong, window.space, lane, address);
    }
  });
  if (trapped) return false;
  if (memory.observer != nullptr) {
    check_lanes(w, op, info, mask & ~refused, spaces, places.data());
    window.touched = &told_to_observer;
    one_window &= refused == 0;
  }
  if (memory.is_traced) {
    follow(w, op, info, spaces[first_lane], mask, addresses[first_lane],
           deltas(mask, addresses).data(), false);
    if (window.touched == nullptr) window.touched = &told_to_trace;
  }
  if (one_window && (is_worth || memory.is_counted)) {
    remember(w, op, window, mask, addresses);
  } else if (memory.is_counted) {
    count_apart(memory.counts[op->extra], info, mask & ~refused, spaces, addresses);
  }
  return true;
}

Places places_of(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first) {
  const Site& site = w.sites[op->extra];
  Window window;
  window.space = static_cast<AddressSpace>(site.space);
  window.begin = site.window_begin;
  const std::uint64_t begin = begin_of_places(w.memory->program->sites[op->extra], window);
  return {window.space, mask, first - begin, site.delta};
}

void tell_observer(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first) {
  const WorkerMemory& memory = *w.memory;
  memory.observer->accept_again(w, op, memory.program->sites[op->extra],
                                places_of(w, op, mask, first));
}

void tell_touched(const Warp& w, const Operation* op, std::uint32_t mask, std::uint64_t first) {
  const WorkerMemory& memory = *w.memory;
  const SiteInfo& info = memory.program->sites[op->extra];
  const Site& site = w.sites[op->extra];
  if (memory.observer != nullptr) return tell_observer(w, op, mask, first);
  if (memory.is_traced) {
    follow(w, op, info, static_cast<AddressSpace>(site.space), mask, first, site.delta, true);
    if (site.touched == &told_to_trace) return;
  }
  if (site.touched == &told_to_recording) {
    record_one(w, op, AddressSpace::shared, mask, first, site.delta);
    return;
  }
  const std::uint64_t offset = first - site.window_begin;
  const bool stores = info.kind != AccessKind::load;
  const auto touch = [&](unsigned lane, unsigned lanes) {
    memory.footprint->touch(*site.touched, offset + site.delta[lane], lanes * info.width, stores);
  };
  if (site.shape == Shape::general) {
    for_each_lane(mask, [&](unsigned lane) { touch(lane, 1); });
    return;
  }
  const bool is_uniform = site.shape == Shape::uniform;
  if (!is_uniform && site.half_apart == warp_lanes / 2 * info.width) {
    touch(0, warp_lanes);
    return;
  }
  const unsigned together = is_uniform ? 1 : warp_lanes / 2;
  touch(0, together);
  touch(warp_lanes / 2, together);
}

void observe(const Warp& w, const Operation* op, std::uint32_t mask) {
  w.memory->observer->observe(w, op, mask);
}

}  // namespace warpmeter::model
