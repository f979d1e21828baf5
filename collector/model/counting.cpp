// A shared access is split into groups of lanes that the hardware serves one after the other: the
// whole warp up to 32 bits a lane, halves at 64, quarters at 128. Loads whose lanes agree pairwise
// (broadcasts and the like) are served in groups of twice the size. Each group costs its degree.
#include "collector/model/counting.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model {
namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned banks = 32;

std::uint32_t lanes_from(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

template <class Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

/// Values seen, each once; at most 32 lanes × 8 words.
class DistinctValues {
 public:
  void add(std::uint64_t value) {
    // Neighbouring lanes mostly agree or follow each other: look at the latest first.
    for (unsigned i = count_; i > 0; --i) {
      if (values_[i - 1] == value) return;
    }
    values_[count_++] = value;
  }
  unsigned count() const { return count_; }
  std::uint64_t operator[](unsigned i) const { return values_[i]; }

 private:
  std::array<std::uint64_t, 256> values_;
  unsigned count_ = 0;
};

DistinctValues distinct_units(const WarpAccess& access, std::uint32_t mask, unsigned unit_bytes) {
  DistinctValues units;
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t first = access.address[lane] / unit_bytes;
    const std::uint64_t last = (access.address[lane] + access.width - 1) / unit_bytes;
    for (std::uint64_t unit = first; unit <= last; ++unit) units.add(unit);
  });
  return units;
}

/// The largest number of distinct words in one bank.
unsigned bank_degree(const WarpAccess& access, std::uint32_t mask) {
  const DistinctValues words = distinct_units(access, mask, word_bytes);
  std::array<unsigned, banks> in_bank{};
  unsigned degree = 0;
  for (unsigned i = 0; i < words.count(); ++i) {
    degree = std::max(degree, ++in_bank[words[i] % banks]);
  }
  return degree;
}

unsigned words_over_banks(const WarpAccess& access, std::uint32_t mask) {
  return (distinct_units(access, mask, word_bytes).count() + banks - 1) / banks;
}

/// For x = 1 or for x = 2, every two active lanes i and i XOR x have equal addresses.
bool pairs(const WarpAccess& access, std::uint32_t mask) {
  for (const unsigned distance : {1u, 2u}) {
    bool equal = true;
    for_each_lane(mask, [&](unsigned lane) {
      const unsigned other = lane ^ distance;
      if ((mask >> other & 1) != 0) equal &= access.address[lane] == access.address[other];
    });
    if (equal) return true;
  }
  return false;
}

/// Calls visit(mask) for each group of lanes that a load or store is served in.
template <class Visit>
void for_each_group(const WarpAccess& access, SharedAccess kind, Visit visit) {
  const bool is_load = kind == SharedAccess::load;
  const unsigned group_lanes =
      access.width <= word_bytes ? warp_lanes : warp_lanes * word_bytes / access.width;
  const unsigned merged_lanes = std::min(2 * group_lanes, warp_lanes);
  for (unsigned first = 0; first < warp_lanes; first += merged_lanes) {
    const std::uint32_t merged = access.mask & lanes_from(first, merged_lanes);
    if (merged_lanes == group_lanes || (is_load && pairs(access, merged))) {
      visit(merged);
    } else {
      visit(access.mask & lanes_from(first, group_lanes));
      visit(access.mask & lanes_from(first + group_lanes, group_lanes));
    }
  }
}

/// For each active lane, how many lower active lanes have its address: the round it is served in.
std::array<unsigned, warp_lanes> rounds_of(const WarpAccess& access) {
  std::array<unsigned, warp_lanes> round{};
  for_each_lane(access.mask, [&](unsigned lane) {
    for_each_lane(access.mask & lanes_from(0, lane), [&](unsigned lower) {
      if (access.address[lower] == access.address[lane]) ++round[lane];
    });
  });
  return round;
}

/// Calls visit(mask) for the lanes of each round of an atomic.
template <class Visit>
void for_each_round(const WarpAccess& access, Visit visit) {
  const std::array<unsigned, warp_lanes> round = rounds_of(access);
  std::array<std::uint32_t, warp_lanes> lanes_of{};
  for_each_lane(access.mask, [&](unsigned lane) { lanes_of[round[lane]] |= 1u << lane; });
  for (const std::uint32_t lanes : lanes_of) {
    if (lanes != 0) visit(lanes);
  }
}

/// The largest number of active lanes in one bank: equal addresses add up. Two words a lane (64-bit
/// atomics) are taken in halves, as 64-bit stores are.
unsigned atomic_wavefronts(const WarpAccess& access) {
  unsigned sum = 0;
  for_each_group(access, SharedAccess::atomic, [&](std::uint32_t group) {
    std::array<unsigned, banks> in_bank{};
    unsigned most = 0;
    for_each_lane(group, [&](unsigned lane) {
      most = std::max(most, ++in_bank[access.address[lane] / word_bytes % banks]);
    });
    sum += most;
  });
  return sum;
}

}  // namespace

unsigned shared_wavefronts(const WarpAccess& access, SharedAccess kind) {
  if (kind == SharedAccess::atomic) return atomic_wavefronts(access);
  unsigned sum = 0;
  for_each_group(access, kind, [&](std::uint32_t group) { sum += bank_degree(access, group); });
  return sum;
}

unsigned ideal_shared_wavefronts(const WarpAccess& access, SharedAccess kind) {
  unsigned sum = 0;
  if (kind == SharedAccess::atomic) {
    for_each_group(access, kind, [&](std::uint32_t group) {
      WarpAccess part = access;
      part.mask = group;
      unsigned rounds = 0;
      for_each_round(part, [&](std::uint32_t) { ++rounds; });
      sum += rounds;
    });
    return sum;
  }
  for_each_group(access, kind,
                 [&](std::uint32_t group) { sum += words_over_banks(access, group); });
  return sum;
}

unsigned global_sectors(const WarpAccess& access) {
  return distinct_units(access, access.mask, sector_bytes).count();
}

unsigned distinct_bytes(const WarpAccess& access) {
  // Accesses are aligned to their width, so two lanes either share all bytes or none.
  return distinct_units(access, access.mask, access.width).count() * access.width;
}

unsigned ideal_global_sectors(const WarpAccess& access) {
  return (distinct_bytes(access) + sector_bytes - 1) / sector_bytes;
}

unsigned atomic_sectors(const WarpAccess& access) {
  unsigned sum = 0;
  for_each_round(access, [&](std::uint32_t lanes) {
    sum += distinct_units(access, lanes, sector_bytes).count();
  });
  return sum;
}

unsigned ideal_atomic_sectors(const WarpAccess& access) {
  unsigned sum = 0;
  for_each_round(access, [&](std::uint32_t lanes) {
    const unsigned bytes = static_cast<unsigned>(std::popcount(lanes)) * access.width;
    sum += (bytes + sector_bytes - 1) / sector_bytes;
  });
  return sum;
}

}  // namespace warpmeter::model
