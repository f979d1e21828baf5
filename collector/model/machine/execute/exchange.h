// Lanes talking to each other. A warp's lanes run in lockstep, so those that take part are the
// active ones that the member mask names.

/// The lane that each lane reads, and whether that is one within its segment; `source` gets the
/// lane's number, the operand b and the bounds that operand c sets, and says which lane is meant.
template <class Source>
inline const Operation* shuffle(Warp& w, const Operation* op, u32 mask, Source source) {
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
    results[l] = values[is_inside ? lane & 31 : l];
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

/// `each(lanes, asked)` for the lanes that name the same others in their row of b, the member mask:
/// groups of one warp may vote side by side. `asked` are those named that are there.
template <class Each>
inline const Operation* by_members(Warp& w, const Operation* op, u32 mask, Each each) {
  const u32* names = row<u32>(w, op->b);
  for (u32 rest = mask; rest != 0;) {
    const u32 named = names[first_lane(rest)];
    const u32 lanes = rest & collect([=](u32 l) { return names[l] == named; });
    each(lanes, lanes & named);
    rest &= ~lanes;
  }
  return op + 1;
}

const Operation* do_vote_all(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    set_predicate(w, op->d, lanes, (predicate(w, op->a) & asked) == asked ? ~0u : 0u);
  });
}
const Operation* do_vote_any(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    set_predicate(w, op->d, lanes, (predicate(w, op->a) & asked) != 0 ? ~0u : 0u);
  });
}
const Operation* do_vote_uni(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const u32 yes = predicate(w, op->a) & asked;
    set_predicate(w, op->d, lanes, yes == asked || yes == 0 ? ~0u : 0u);
  });
}
const Operation* do_vote_ballot(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const u32 yes = predicate(w, op->a) & asked;
    assign<u32>(w, op, lanes, [=](u32) { return yes; });
  });
}
const Operation* do_activemask(Warp& w, const Operation* op, u32 mask) {
  return assign<u32>(w, op, mask, [=](u32) { return mask; });
}

template <class T>
inline const Operation* match_any(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const T* a = row<T>(w, op->a);
    alignas(64) u32 equal[lane_count];
    for (u32 l = 0; l < lane_count; ++l) {
      const T value = a[l];
      equal[l] = asked & collect([=](u32 other) { return a[other] == value; });
    }
    blend(row<u32>(w, op->d), equal, lanes);
  });
}
template <class T>
inline const Operation* match_all(Warp& w, const Operation* op, u32 mask) {
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const T* a = row<T>(w, op->a);
    const T value = a[first_lane(lanes)];
    const bool all = (asked & ~collect([=](u32 l) { return a[l] == value; })) == 0;
    if (op->e != no_operand) set_predicate(w, op->e, lanes, all ? ~0u : 0u);
    assign<u32>(w, op, lanes, [=](u32) { return all ? asked : 0u; });
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
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const T* a = row<T>(w, op->a);
    T result = a[first_lane(asked != 0 ? asked : lanes)];
    for_each_lane(asked & (asked - 1), [&](u32 l) { result = combine(result, a[l]); });
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
  return by_members(w, op, mask, [&](u32 lanes, u32 asked) {
    const u32 chosen = first_lane(asked != 0 ? asked : lanes);
    set_predicate(w, op->e, lanes, u32{1} << chosen);
    if (op->d != no_operand) assign<u32>(w, op, lanes, [=](u32) { return chosen; });
  });
}
