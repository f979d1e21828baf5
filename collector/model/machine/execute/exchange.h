// SPDX-License-Identifier: MIT
// Lanes talking to each other. A warp's lanes run in lockstep, so those that take part are the
// active ones. A member mask says who is waited for and who belongs together, and no more: on an
// H100 lanes that it leaves out take part where they execute the instruction too, and what a lane
// that does not execute it is asked for is 0 (tests/golden/divergent_barriers.csv).

/// True if lanes that one of those here names in its row of members are elsewhere: they are waited
/// for (parting.h). Those that only the guard leaves out are not, but machine code may go on in
/// parts.
inline bool misses_others(Warp& w, const Operation* op, u32 mask, u16 members) {
  if (mask == w.alive) return false;
  const u32* names = row<u32>(w, members);
  u32 named = 0;
  for_each_lane(mask, [&](u32 l) { named |= names[l]; });
  const u32 missing = named & w.alive & ~mask;
  if (missing != 0) w.parted[op->instruction] = 1;
  return (missing & ~w.active) != 0;
}

/// __syncwarp()
const Operation* do_meet(Warp& w, const Operation* op, u32 mask) {
  return misses_others(w, op, mask, op->b) ? stop(w, WarpStatus::parted, op) : op + 1;
}

/// The lane that each lane reads, and whether that is one within its segment; `source` gets the
/// lane's number, the operand b and the bounds that operand c sets, and says which lane is meant.
/// A lane that is not here gives 0.
template <class Source>
inline const Operation* shuffle(Warp& w, const Operation* op, u32 mask, Source source) {
  if (misses_others(w, op, mask, op->f)) return stop(w, WarpStatus::parted, op);
  alignas(64) u32 values[lane_count];
  __builtin_memcpy(values, row<u32>(w, op->a), sizeof(values));
  const u32* b = row<u32>(w, op->b);
  const u32* c = row<u32>(w, op->c);
  alignas(64) u32 results[lane_count];
  u32 inside = 0;
  for (u32 l = 0; l < lane_count; ++l) {
    const u32 segment = c[l] >> 8 & 31;
    const u32 bound = (l & segment) | (c[l] & 31 & ~segment);
    const auto [lane, is_inside] = source(l, b[l] & 31, bound, segment);
    const u32 from = is_inside ? lane & 31 : l;
    results[l] = (mask >> from & 1) != 0 ? values[from] : 0;
    inside |= u32{is_inside} << l;
  }
  blend(row<u32>(w, op->d), results, mask);
  if (op->e != no_operand) set_predicate(w, op->e, mask, inside);
  return op + 1;
}

struct ShuffleSource {
  u32 lane;
  bool is_inside;
};

const Operation* do_shfl_up(Warp& w, const Operation* op, u32 mask) {
  return shuffle(w, op, mask, [](u32 l, u32 b, u32 bound, u32) {
    return ShuffleSource{l - b, static_cast<s32>(l - b) >= static_cast<s32>(bound)};
  });
}
const Operation* do_shfl_down(Warp& w, const Operation* op, u32 mask) {
  return shuffle(w, op, mask, [](u32 l, u32 b, u32 bound, u32) {
    return ShuffleSource{l + b, l + b <= bound};
  });
}
const Operation* do_shfl_bfly(Warp& w, const Operation* op, u32 mask) {
  return shuffle(w, op, mask, [](u32 l, u32 b, u32 bound, u32) {
    return ShuffleSource{l ^ b, (l ^ b) <= bound};
  });
}
const Operation* do_shfl_idx(Warp& w, const Operation* op, u32 mask) {
  return shuffle(w, op, mask, [](u32 l, u32 b, u32 bound, u32 segment) {
    const u32 lane = (l & segment) | (b & ~segment);
    return ShuffleSource{lane, lane <= bound};
  });
}

/// `each(lanes)` for the lanes that name the same others in their row of b, the member mask:
/// groups of one warp may vote side by side.
template <class Each>
inline const Operation* by_members(Warp& w, const Operation* op, u32 mask, Each each) {
  if (misses_others(w, op, mask, op->b)) return stop(w, WarpStatus::parted, op);
  const u32* names = row<u32>(w, op->b);
  for (u32 rest = mask; rest != 0;) {
    const u32 named = names[first_lane(rest)];
    const u32 lanes = rest & collect([=](u32 l) { return names[l] == named; });
    each(lanes);
    rest &= ~lanes;
  }
  return op + 1;
}

const Operation* do_vote_all(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    set_predicate(w, op->d, lanes, (predicate(w, op->a) & lanes) == lanes ? ~0u : 0u);
  });
}
const Operation* do_vote_any(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    set_predicate(w, op->d, lanes, (predicate(w, op->a) & lanes) != 0 ? ~0u : 0u);
  });
}
const Operation* do_vote_uni(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const u32 yes = predicate(w, op->a) & lanes;
    set_predicate(w, op->d, lanes, yes == lanes || yes == 0 ? ~0u : 0u);
  });
}
const Operation* do_vote_ballot(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const u32 yes = predicate(w, op->a) & lanes;
    assign<u32>(w, op, lanes, [=](u32) { return yes; });
  });
}
const Operation* do_activemask(Warp& w, const Operation* op, u32 mask) {
  return assign<u32>(w, op, mask, [=](u32) { return mask; });
}

template <class T>
inline const Operation* match_any(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const T* a = row<T>(w, op->a);
    alignas(64) u32 equal[lane_count];
    for (u32 l = 0; l < lane_count; ++l) {
      const T value = a[l];
      equal[l] = lanes & collect([=](u32 other) { return a[other] == value; });
    }
    blend(row<u32>(w, op->d), equal, lanes);
  });
}
template <class T>
inline const Operation* match_all(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const T* a = row<T>(w, op->a);
    const T value = a[first_lane(lanes)];
    const bool all = (lanes & ~collect([=](u32 l) { return a[l] == value; })) == 0;
    if (op->e != no_operand) set_predicate(w, op->e, lanes, all ? ~0u : 0u);
    assign<u32>(w, op, lanes, [=](u32) { return all ? lanes : 0u; });
  });
}
const Operation* do_match_any_b32(Warp& w, const Operation* op, u32 mask) {
  return match_any<u32>(w, op, mask);
}
const Operation* do_match_any_b64(Warp& w, const Operation* op, u32 mask) {
  return match_any<u64>(w, op, mask);
}
const Operation* do_match_all_b32(Warp& w, const Operation* op, u32 mask) {
  return match_all<u32>(w, op, mask);
}
const Operation* do_match_all_b64(Warp& w, const Operation* op, u32 mask) {
  return match_all<u64>(w, op, mask);
}

/// One value from all that take part, for all of them.
template <class T, class Combine2>
inline const Operation* reduce(Warp& w, const Operation* op, u32 mask, Combine2 combine) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const T* a = row<T>(w, op->a);
    T result = a[first_lane(lanes)];
    for_each_lane(lanes & (lanes - 1), [&](u32 l) { result = combine(result, a[l]); });
    assign<T>(w, op, lanes, [=](u32) { return result; });
  });
}
const Operation* do_redux_add(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x + y; });
}
const Operation* do_redux_min_u32(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x < y ? x : y; });
}
const Operation* do_redux_min_s32(Warp& w, const Operation* op, u32 mask) {
  return reduce<s32>(w, op, mask, [](s32 x, s32 y) { return x < y ? x : y; });
}
const Operation* do_redux_max_u32(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x < y ? y : x; });
}
const Operation* do_redux_max_s32(Warp& w, const Operation* op, u32 mask) {
  return reduce<s32>(w, op, mask, [](s32 x, s32 y) { return x < y ? y : x; });
}
const Operation* do_redux_and(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x & y; });
}
const Operation* do_redux_or(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x | y; });
}
const Operation* do_redux_xor(Warp& w, const Operation* op, u32 mask) {
  return reduce<u32>(w, op, mask, [](u32 x, u32 y) { return x ^ y; });
}

/// One lane of those that take part: the lowest.
const Operation* do_elect(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes) {
    const u32 named = lanes & row<u32>(w, op->b)[first_lane(lanes)];
    const u32 chosen = first_lane(named != 0 ? named : lanes);
    set_predicate(w, op->e, lanes, u32{1} << chosen);
    if (op->d != no_operand) assign<u32>(w, op, lanes, [=](u32) { return chosen; });
  });
}
