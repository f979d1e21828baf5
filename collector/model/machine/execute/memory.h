// SPDX-License-Identifier: MIT
// Loads and stores. The common case is an access whose lanes lie as they did the last time, within
// the window that was allowed then: it costs one comparison of the addresses (none where the site's
// leader was just compared), a range check of the whole warp and one increment. Everything else
// goes through reach() (access.cpp), which checks each lane, counts, remembers, or raises a trap.
//
// The commonest path has a function of its own, which calls nothing: it needs no frame.

/// Where the first active lane's access goes, if all are where the last was allowed.
struct Place {
  bool is_allowed;
  u64 address, above_least;
};
template <class Address>
inline Place place_of(const Warp& w, const Operation* op, u32 mask, const Site& site) {
  const Address base = row<Address>(w, op->a)[first_lane(mask)];
  const u64 first = static_cast<Address>(base + static_cast<Address>(op->imm));
  const u64 above_least = first - site.least;
  const bool is_allowed =
      mask == site.mask && above_least <= site.most_above_least && (first & site.misaligned) == 0;
  return {is_allowed, first, above_least};
}

inline std::byte* counted(Site& site, const Place& place) {
  ++site.hits[(place.address & site.hit_mask) >> site.hit_shift];
  return site.host + place.above_least;
}

/// The first active lane's place on this machine where the lanes lie as the leader's do, and nobody
/// has to be told; null elsewhere.
template <class Address>
inline std::byte* as_leader(const Warp& w, const Operation* op, u32 mask, Site& site) {
  if (site.like_leader != site.leader->number || site.touched != nullptr) return nullptr;
  const Place place = place_of<Address>(w, op, mask, site);
  return place.is_allowed ? counted(site, place) : nullptr;
}

/// The same where the lanes lie as they did the last time.
template <class Address>
inline std::byte* as_remembered(const Warp& w, const Operation* op, u32 mask, Site& site) {
  const Place place = place_of<Address>(w, op, mask, site);
  if (!place.is_allowed) return nullptr;
  if (site.like_leader != site.leader->number) {
    const Address* address = row<Address>(w, op->a);
    const Address base = address[first_lane(mask)];
    u32 moved;
    if constexpr (sizeof(Address) == 8) {
      moved = moved_lanes(address, base, site.delta);
    } else {
      moved = moved_lanes(address, base, site.delta_32);
    }
    if ((moved & mask) != 0) return nullptr;
    // The leader was executed just before; if it remembers this mask, then these deltas.
    if (site.leader->mask == mask) site.like_leader = site.leader->number;
  }
  if (site.touched != nullptr) tell_touched(w, op, mask, place.address);
  return counted(site, place);
}

/// Fills w.lane_host where all lanes stay in their local memory, as the last time; else it says
/// false, and nothing has happened.
inline bool reach_local_again(Warp& w, const Site& site, u32 mask, const u64* whole) {
  if (site.local_places == 0) return false;
  const u64 begin = site.local_begin, places = site.local_places, bytes = w.local_bytes;
  const u64 misaligned = site.misaligned_local;
  alignas(64) u64 wrong[lane_count];
  EACH_LANE {
    const u64 is_outside = whole[l] - begin >= places ? 1 : 0;
    wrong[l] = (mask >> l & 1) != 0 ? is_outside | (whole[l] & misaligned) : 0;
  }
  u64 any = 0;
  for (u32 l = 0; l < lane_count; ++l) any |= wrong[l];
  if (any != 0) return false;
  // Whole numbers: of a lane that is not active it leads nowhere.
  const u64 first = reinterpret_cast<u64>(w.local) - begin;
  u64* const host = reinterpret_cast<u64*>(w.lane_host);
  EACH_LANE { host[l] = first + l * bytes + whole[l]; }
  return true;
}

/// Fills w.lane_host, or raises a trap and says false.
template <class Address>
__attribute__((noinline)) bool reach_each(Warp& w, const Operation* op, u32 mask) {
  const Address* address = row<Address>(w, op->a);
  const Address offset = static_cast<Address>(op->imm);
  alignas(64) u64 whole[lane_count];
  EACH_LANE { whole[l] = static_cast<Address>(address[l] + offset); }
  if (reach_local_again(w, w.sites[op->extra], mask, whole)) return true;
  return reach(w, op, mask, whole);
}

template <class T>
inline T read(const std::byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(T));
  return value;
}
template <class T>
inline void write(std::byte* to, T value) {
  __builtin_memcpy(to, &value, sizeof(T));
}

template <class Visit>
inline void for_each_lane(u32 mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(first_lane(mask));
}

/// The row's number for one in memory.
template <class R, class M>
inline R widened(M value) {
  return static_cast<R>(value);  // NOLINT(bugprone-signed-char-misuse): s8 is a number
}

/// Sixteen lanes from one place on.
template <class M, class R>
inline void load_half(R* to, const std::byte* from, Shape shape) {
  if (shape == Shape::uniform) {
    const R value = widened<R>(read<M>(from));
    for (u32 l = 0; l < lane_count / 2; ++l) to[l] = value;
  } else if constexpr (sizeof(M) == sizeof(R)) {
    __builtin_memcpy(to, from, lane_count / 2 * sizeof(M));
  } else {
    for (u32 l = 0; l < lane_count / 2; ++l) {
      to[l] = widened<R>(read<M>(from + l * sizeof(M)));
    }
  }
}

/// Lanes may be before the first one.
inline std::ptrdiff_t as_offset(u64 delta) { return static_cast<std::ptrdiff_t>(delta); }

template <class M, class R>
inline void load_part(R* to, const std::byte* first, const Site& site, u32 mask) {
  if (site.shape != Shape::general) {
    load_half<M>(to, first, site.shape);
    load_half<M>(to + lane_count / 2, first + as_offset(site.half_apart), site.shape);
  } else if (mask == full_mask) {
    for (u32 l = 0; l < lane_count; ++l)
      to[l] = widened<R>(read<M>(first + as_offset(site.delta[l])));
  } else {
    for_each_lane(mask,
                  [&](u32 l) { to[l] = widened<R>(read<M>(first + as_offset(site.delta[l]))); });
  }
}

/// The row of a vector's part; of more than four, they follow each other.
template <class R>
inline u16 part_of(const Operation* op, u32 part) {
  constexpr u32 units = sizeof(R) * lane_count / row_unit_bytes;
  if (op->f > 4) return static_cast<u16>(op->d + part * units);
  return part == 0 ? op->d : part == 1 ? op->b : part == 2 ? op->c : op->e;
}

// Where lanes of one store write to the same place, CUDA leaves open whose value stays. An H200 was
// asked (tests/device/facts/store_conflicts.cu): it stores the lanes in turns of 128 bytes, 32
// lanes of up to 4 bytes, 16 of 8, 8 of 16; a later turn stays, and within a turn the lowest lane.

/// Lanes of a turn.
constexpr u32 lanes_of_turn(u32 bytes) { return bytes <= 4 ? lane_count : 128 / bytes; }

/// The lanes in an order that leaves what stays: turn after turn, the lowest lane of each last.
template <class Visit>
inline void for_each_storing_lane(u32 mask, u32 bytes, const Visit& visit) {
  const u32 lanes = lanes_of_turn(bytes);
  for (u32 first = 0; first < lane_count; first += lanes) {
    u32 left = lanes == lane_count ? mask : mask & ((1u << lanes) - 1) << first;
    while (left != 0) {
      const u32 lane = 31u - static_cast<u32>(__builtin_clz(left));
      visit(lane);
      left ^= 1u << lane;
    }
  }
}

#include "collector/model/machine/execute/turned.h"

template <class M, class R, class Address, bool is_vector>
__attribute__((noinline)) const Operation* load_carefully(Warp& w, const Operation* op, u32 mask) {
  Site& site = w.sites[op->extra];
  const u32 parts = is_vector ? op->f : 1;
  const bool turns = is_vector && mask == full_mask && is_turned<M, R>(parts);
  if (std::byte* first = as_remembered<Address>(w, op, mask, site)) {
    if (turns && site.shape == Shape::general) {
      load_turned<R>(w, op, parts, [&](u32 l) { return first + as_offset(site.delta[l]); });
      return op + 1;
    }
    for (u32 part = 0; part < parts; ++part) {
      load_part<M>(row<R>(w, part_of<R>(op, part)), first + part * sizeof(M), site, mask);
    }
    return op + 1;
  }
  if (!reach_each<Address>(w, op, mask)) return nullptr;
  if (turns) {
    load_turned<R>(w, op, parts, [&](u32 l) { return w.lane_host[l]; });
    return op + 1;
  }
  for (u32 part = 0; part < parts; ++part) {
    R* to = row<R>(w, part_of<R>(op, part));
    for_each_lane(mask,
                  [&](u32 l) { to[l] = widened<R>(read<M>(w.lane_host[l] + part * sizeof(M))); });
  }
  return op + 1;
}

template <class M, class R, class Address, bool is_vector>
inline const Operation* load(Warp& w, const Operation* op, u32 mask) {
  if constexpr (!is_vector) {
    Site& site = w.sites[op->extra];
    if (const std::byte* first = as_leader<Address>(w, op, mask, site)) {
      load_part<M>(row<R>(w, op->d), first, site, mask);
      return op + 1;
    }
  }
  return load_carefully<M, R, Address, is_vector>(w, op, mask);
}

template <class M, class R>
inline void store_half(std::byte* to, const R* from, Shape shape, u32 bytes) {
  if (shape == Shape::uniform) {
    const u32 turn = lanes_of_turn(bytes);
    write(to, static_cast<M>(from[turn >= lane_count / 2 ? 0 : lane_count / 2 - turn]));
  } else if constexpr (sizeof(M) == sizeof(R)) {
    __builtin_memcpy(to, from, lane_count / 2 * sizeof(M));
  } else {
    for (u32 l = 0; l < lane_count / 2; ++l) write(to + l * sizeof(M), static_cast<M>(from[l]));
  }
}

template <class M, class R>
inline void store_part(std::byte* first, const R* from, const Site& site, u32 mask, u32 bytes) {
  if (site.shape != Shape::general) {
    std::byte* second = first + as_offset(site.half_apart);
    const R* upper = from + lane_count / 2;
    const bool is_one_turn = bytes <= 4;
    if (is_one_turn) store_half<M>(second, upper, site.shape, bytes);
    store_half<M>(first, from, site.shape, bytes);
    if (!is_one_turn) store_half<M>(second, upper, site.shape, bytes);
  } else {
    for_each_storing_lane(mask, bytes, [&](u32 l) {
      write(first + as_offset(site.delta[l]), static_cast<M>(from[l]));
    });
  }
}

template <class M, class R, class Address, bool is_vector>
inline const Operation* store(Warp& w, const Operation* op, u32 mask) {
  Site& site = w.sites[op->extra];
  const u32 parts = is_vector ? op->f : 1;
  const u32 bytes = parts * sizeof(M);
  const bool turns = is_vector && mask == full_mask && is_turned<M, R>(parts);
  if (std::byte* first = as_remembered<Address>(w, op, mask, site)) {
    if (turns && site.shape == Shape::general) {
      store_turned<R>(w, op, parts, [&](u32 l) { return first + as_offset(site.delta[l]); });
      return op + 1;
    }
    for (u32 part = 0; part < parts; ++part) {
      store_part<M>(first + part * sizeof(M), row<R>(w, part_of<R>(op, part)), site, mask, bytes);
    }
    return op + 1;
  }
  if (!reach_each<Address>(w, op, mask)) return nullptr;
  if (turns) {
    store_turned<R>(w, op, parts, [&](u32 l) { return w.lane_host[l]; });
    return op + 1;
  }
  for (u32 part = 0; part < parts; ++part) {
    const R* from = row<R>(w, part_of<R>(op, part));
    for_each_storing_lane(mask, bytes, [&](u32 l) {
      write(w.lane_host[l] + part * sizeof(M), static_cast<M>(from[l]));
    });
  }
  return op + 1;
}

#define ACCESS(code, what, M, R)                                               \
  const Operation* do_##code##_a32(Warp& w, const Operation* op, u32 mask) {   \
    return what<M, R, u32, false>(w, op, mask);                                \
  }                                                                            \
  const Operation* do_##code##_a64(Warp& w, const Operation* op, u32 mask) {   \
    return what<M, R, u64, false>(w, op, mask);                                \
  }                                                                            \
  const Operation* do_##code##_v_a32(Warp& w, const Operation* op, u32 mask) { \
    return what<M, R, u32, true>(w, op, mask);                                 \
  }                                                                            \
  const Operation* do_##code##_v_a64(Warp& w, const Operation* op, u32 mask) { \
    return what<M, R, u64, true>(w, op, mask);                                 \
  }
#define LOAD(code, M, R) ACCESS(code, load, M, R)
#define STORE(code, M, R) ACCESS(code, store, M, R)
#include "collector/model/machine/warp/operations.h"

const Operation* do_texture(Warp& w, const Operation* op, u32 mask) {
  return access_texture(w, op, mask) ? op + 1 : nullptr;
}

/// Fills w.lane_host, or raises a trap and says false.
template <class Address>
inline bool reach_again(Warp& w, const Operation* op, u32 mask) {
  Site& site = w.sites[op->extra];
  std::byte* const first = as_remembered<Address>(w, op, mask, site);
  if (first == nullptr) return reach_each<Address>(w, op, mask);
  for_each_lane(mask, [&](u32 l) { w.lane_host[l] = first + as_offset(site.delta[l]); });
  return true;
}

const Operation* do_atomic(Warp& w, const Operation* op, u32 mask) {
  const bool is_wide = (op->c & atomic_wide_address) != 0;
  if (!(is_wide ? reach_again<u64>(w, op, mask) : reach_again<u32>(w, op, mask))) return nullptr;
  change_atomically(w, op, mask);
  return op + 1;
}
