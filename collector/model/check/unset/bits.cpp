// SPDX-License-Identifier: MIT
#include "collector/model/check/unset/bits.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model::check {
namespace {

using ptx::Spread;
using Sources = std::span<const UnsetSource>;

constexpr UnsetBits everything{~std::uint64_t{0}, 0};

bool is_unset(const UnsetSource& source) { return source.bits.unset != 0; }

UnsetBits all(Sources sources) {
  return std::any_of(sources.begin(), sources.end(), is_unset) ? everything : UnsetBits{};
}

/// Bits that are certainly zero, or one.
std::uint64_t zeros(const UnsetSource& s) { return s.value.known & ~s.value.bits & ~s.bits.unset; }
std::uint64_t ones(const UnsetSource& s) { return s.value.known & s.value.bits & ~s.bits.unset; }

/// An amount to shift by; none where it is not known.
constexpr std::uint64_t unknown = ~std::uint64_t{0};
std::uint64_t amount(const UnsetSource& source) {
  if (is_unset(source) || source.value.known == 0) return unknown;
  return source.value.bits & 0xffffffff;
}

UnsetBits upwards(Sources sources) {
  std::uint64_t unset = 0;
  for (const UnsetSource& source : sources) unset |= source.bits.unset;
  return unset == 0 ? UnsetBits{}
                    : UnsetBits{~low_bits(static_cast<std::uint32_t>(std::countr_zero(unset))), 0};
}

UnsetBits copied(const UnsetStep& step, const UnsetSource& source) {
  if (step.bits > 64) return {};
  UnsetBits bits = source.bits;
  if (step.from_bits < step.bits) bits = extended(bits, step.from_bits, step.extends_sign);
  return extended(bits, step.bits, step.is_signed);
}

UnsetBits combined(const UnsetStep& step, const UnsetSource& a, const UnsetSource& b) {
  const std::uint64_t either = a.bits.unset | b.bits.unset;
  if (step.spread == Spread::bit_and) {
    return {either & ~zeros(a) & ~zeros(b), a.bits.empty | b.bits.empty};
  }
  const std::uint64_t settled = step.spread == Spread::bit_or ? ones(a) | ones(b) : 0;
  return {either & ~settled, a.bits.empty & b.bits.empty};
}

UnsetBits lop3(const UnsetStep& step, Sources sources) {
  UnsetBits result;
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    bool may_be_zero = false, may_be_one = false;
    for (std::uint32_t row = 0; row < 8; ++row) {
      bool is_possible = true;
      for (std::size_t i = 0; i < 3; ++i) {
        const bool one = (row >> (2 - i) & 1) != 0;
        const bool settled_otherwise =
            ((one ? zeros(sources[i]) : ones(sources[i])) >> bit & 1) != 0;
        is_possible &= !settled_otherwise;
      }
      if (!is_possible) continue;
      ((step.table >> row & 1) != 0 ? may_be_one : may_be_zero) = true;
    }
    const bool depends = std::any_of(sources.begin(), sources.end(), [&](const UnsetSource& s) {
      return (s.bits.unset >> bit & 1) != 0;
    });
    if (depends && may_be_zero && may_be_one) result.unset |= std::uint64_t{1} << bit;
  }
  return result;
}

UnsetBits selected(Sources sources) {
  if (sources.size() < 3) return all(sources);
  const UnsetSource &a = sources[0], &b = sources[1], &chosen = sources[2];
  if (!is_unset(chosen)) return (chosen.value.bits & 1) != 0 ? a.bits : b.bits;
  const bool same = !is_unset(a) && !is_unset(b) && (a.value.known & b.value.known) != 0 &&
                    a.value.bits == b.value.bits;
  return same ? UnsetBits{} : everything;
}

UnsetBits shifted(const UnsetStep& step, Sources sources) {
  const std::uint64_t by = amount(sources[1]);
  if (by == unknown) return all(sources);
  const UnsetBits from = extended(sources[0].bits, step.bits, step.is_signed);
  if (step.spread == Spread::shift_left) {
    if (by >= step.bits) return {};
    return {from.unset << by, from.empty << by | low_bits(static_cast<std::uint32_t>(by))};
  }
  const std::uint64_t most = std::min<std::uint64_t>(by, step.bits);
  const auto right = [&](std::uint64_t bits) {  // repeats the highest
    const bool top = (bits >> 63 & 1) != 0;
    if (most >= 64) return top ? ~std::uint64_t{0} : 0;
    const std::uint64_t filled = top && most > 0 ? ~(~std::uint64_t{0} >> most) : 0;
    return bits >> most | filled;
  };
  return {right(from.unset), right(from.empty)};
}

/// {sources[1], sources[0]} shifted, of which the high or the low half is kept.
UnsetBits funnelled(const UnsetStep& step, Sources sources) {
  std::uint64_t by = amount(sources[2]);
  if (by == unknown || step.bits != 32) return all(sources);
  by = step.clamps ? std::min<std::uint64_t>(by, 32) : by & 31;
  const auto both = [](std::uint64_t low, std::uint64_t high) {
    return (low & 0xffffffff) | high << 32;
  };
  const UnsetBits from{both(sources[0].bits.unset, sources[1].bits.unset),
                       both(sources[0].bits.empty, sources[1].bits.empty)};
  if (step.spread == Spread::funnel_right) return {from.unset >> by, from.empty >> by};
  return {from.unset << by >> 32, from.empty << by >> 32};
}

UnsetBits field(const UnsetStep& step, Sources sources) {
  if (sources.size() < 3) return all(sources);
  const std::uint64_t position = amount(sources[1]), length = amount(sources[2]);
  if (position == unknown || length == unknown) return all(sources);
  const auto count = static_cast<std::uint32_t>(length & 255);
  const std::uint64_t by = position & 255;
  if (count == 0 || by >= step.bits) return step.is_signed ? all(sources.first(1)) : UnsetBits{};
  const UnsetBits from = extended(sources[0].bits, step.bits, step.is_signed);
  return extended({from.unset >> by, from.empty >> by}, std::min(count, 64u), step.is_signed);
}

UnsetBits inserted(const UnsetStep& step, Sources sources) {
  if (sources.size() < 4) return all(sources);
  const std::uint64_t position = amount(sources[2]), length = amount(sources[3]);
  if (position == unknown || length == unknown) return all(sources);
  const std::uint64_t by = position & 255;
  const auto count = static_cast<std::uint32_t>(length & 255);
  if (by >= step.bits) return sources[1].bits;
  const std::uint64_t mask = low_bits(count) << by;
  return {(sources[1].bits.unset & ~mask) | (sources[0].bits.unset << by & mask),
          (sources[1].bits.empty & ~mask) | (sources[0].bits.empty << by & mask)};
}

UnsetBits permuted(Sources sources) {
  if (sources.size() < 3) return all(sources);
  const std::uint64_t selectors = amount(sources[2]);
  if (selectors == unknown) return all(sources);
  const std::uint64_t unset = (sources[0].bits.unset & 0xffffffff) | sources[1].bits.unset << 32;
  const std::uint64_t empty = (sources[0].bits.empty & 0xffffffff) | sources[1].bits.empty << 32;
  UnsetBits result;
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint64_t selector = selectors >> 4 * i & 15;
    const auto byte = [&](std::uint64_t bits) {
      const std::uint64_t taken = bits >> 8 * (selector & 7) & 255;
      if ((selector & 8) == 0) return taken;
      return (taken & 128) != 0 ? std::uint64_t{255} : 0;  // its sign, eight times
    };
    result.unset |= byte(unset) << 8 * i;
    result.empty |= byte(empty) << 8 * i;
  }
  return result;
}

/// A comparison and what it is combined with: a side that decides alone is enough.
UnsetBits compared(const UnsetStep& step, Sources sources) {
  if (sources.size() < 2) return all(sources);
  bool is_open = is_unset(sources[0]) || is_unset(sources[1]);
  if (step.spread == Spread::equal && is_open) {
    const std::uint64_t differ =
        (ones(sources[0]) & zeros(sources[1])) | (zeros(sources[0]) & ones(sources[1]));
    is_open = (differ & low_bits(step.bits)) == 0;
  }
  if (sources.size() < 3) return is_open ? everything : UnsetBits{};
  const UnsetSource& other = sources[2];
  if (is_unset(other)) return is_open ? everything : UnsetBits{};  // the comparison may decide
  const bool decides = ((other.value.bits & 1) != 0) == step.combines_or;
  return is_open && !decides ? everything : UnsetBits{};
}

UnsetBits one_result(const UnsetStep& step, Sources sources) {
  switch (step.spread) {
    case Spread::none:
      return {};
    case Spread::lose:
      return everything;
    case Spread::upwards:
      return upwards(sources);
    case Spread::bit_and:
    case Spread::bit_or:
    case Spread::bit_xor:
      return sources.size() > 1 ? combined(step, sources[0], sources[1]) : sources[0].bits;
    case Spread::lop3:
      return sources.size() == 3 ? lop3(step, sources) : all(sources);
    case Spread::select:
      return selected(sources);
    case Spread::shift_left:
    case Spread::shift_right:
      return sources.size() > 1 ? shifted(step, sources) : all(sources);
    case Spread::funnel_left:
    case Spread::funnel_right:
      return sources.size() > 2 ? funnelled(step, sources) : all(sources);
    case Spread::extract:
      return field(step, sources);
    case Spread::insert:
      return inserted(step, sources);
    case Spread::permute:
      return permuted(sources);
    case Spread::equal:
    case Spread::compare:
      return compared(step, sources);
    default:
      return all(sources);
  }
}

}  // namespace

UnsetBits extended(UnsetBits from, std::uint32_t count, bool is_signed) {
  const std::uint64_t mask = low_bits(count);
  UnsetBits to{from.unset & mask, from.empty & mask};
  if (is_signed && (to.unset >> (count - 1) & 1) != 0) {
    to.unset |= ~mask;
  } else if (!is_signed || (to.empty >> (count - 1) & 1) != 0) {
    to.empty |= ~mask;
  }
  return to;
}

UnsetResults spread_bits(const UnsetStep& step, Sources sources) {
  UnsetResults results{};
  if (step.spread == Spread::copy) {
    for (std::size_t i = 0; i < std::min(sources.size(), results.size()); ++i) {
      results[i] = copied(step, sources[i]);
    }
  } else if (step.spread == Spread::unpack && !sources.empty() && !step.results.empty()) {
    const std::uint32_t part = step.bits / static_cast<std::uint32_t>(step.results.size());
    for (std::size_t i = 0; i < std::min(step.results.size(), results.size()); ++i) {
      const std::uint64_t by = i * part;
      if (by < 64) results[i] = {sources[0].bits.unset >> by, sources[0].bits.empty >> by};
    }
  } else if (step.spread == Spread::pack && !sources.empty()) {
    const std::uint32_t part = step.bits / static_cast<std::uint32_t>(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::uint64_t mask = low_bits(part), by = i * part;
      if (by >= 64) break;
      results[0].unset |= (sources[i].bits.unset & mask) << by;
      results[0].empty |= (sources[i].bits.empty & mask) << by;
    }
  } else {
    results.fill(one_result(step, sources));
  }
  return results;
}

}  // namespace warpmeter::model::check
