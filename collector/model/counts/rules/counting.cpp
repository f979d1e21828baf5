// SPDX-License-Identifier: MIT
// A shared access is split into groups of lanes that the hardware serves one after the other: the
// whole warp up to 32 bits a lane, halves at 64, quarters at 128. Loads whose lanes agree pairwise
// (broadcasts and the like) are served in groups of twice the size where that makes no bank
// conflict. Each group costs its degree.
#include "collector/model/counts/rules/counting.h"

#include "base/lanes.h"
#include "collector/model/counts/rules/equal_lanes.h"

#include <algorithm>
#include <bit>

namespace warpmeter::model {
namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned banks = 32;

std::uint32_t lanes_from(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

/// Values seen, each once; at most 32 lanes × 8 words. A hash table with linear probing, twice as
/// large as it can get full.
class DistinctValues {
 public:
  void add(std::uint64_t value) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    std::size_t place = value * golden_ratio >> 55;
    while (place_[place] != 0) {
      if (values_[place_[place] - 1u] == value) return;
      place = (place + 1) % place_.size();
    }
    values_[count_++] = value;
    place_[place] = static_cast<std::uint16_t>(count_);
  }
  unsigned count() const { return count_; }

 private:
  std::array<std::uint16_t, 512> place_{};  ///< 1 + position in values_; 0: free
  std::array<std::uint64_t, 256> values_;
  unsigned count_ = 0;
};

/// Calls visit(unit) for the units, of a power of two bytes, that each lane touches.
template <class Visit>
void for_each_unit(const WarpAccess& access, std::uint32_t mask, unsigned unit_bytes, Visit visit) {
  const int shift = std::countr_zero(unit_bytes);
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t last = (access.address[lane] + access.width - 1) >> shift;
    for (std::uint64_t unit = access.address[lane] >> shift; unit <= last; ++unit) visit(unit);
  });
}

unsigned distinct_units(const WarpAccess& access, std::uint32_t mask, unsigned unit_bytes) {
  DistinctValues units;
  for_each_unit(access, mask, unit_bytes, [&](std::uint64_t unit) { units.add(unit); });
  return units.count();
}

/// The words of each bank, every one once. A lane has at most one word in a bank.
class BankedWords {
 public:
  /// The word's turn in its bank, from 1.
  unsigned add(std::uint64_t word) {
    const std::size_t bank = word % banks;
    const unsigned count = count_of_[bank];
    // Mostly they rise, and then no other of the bank can be the same.
    if (count == 0 || word > last_[bank]) {
      last_[bank] = word;
      return add_another(word);
    }
    for (unsigned i = 0; i < count; ++i) {
      if (words_[bank][i] == word) return i + 1;
    }
    return add_another(word);
  }
  /// The count grows by 1 if the word is new.
  unsigned add_another(std::uint64_t word) {
    const std::size_t bank = word % banks;
    words_[bank][count_of_[bank]] = word;
    ++count_;
    most_ = std::max<unsigned>(most_, ++count_of_[bank]);
    return count_of_[bank];
  }
  unsigned count() const { return count_; }
  unsigned most() const { return most_; }

 private:
  std::array<std::array<std::uint64_t, warp_lanes>, banks> words_;
  std::array<std::uint64_t, banks> last_;  ///< the highest of add(); where there is none: anything
  std::array<std::uint8_t, banks> count_of_{};
  unsigned count_ = 0, most_ = 0;
};

/// True if each lane has one word, and a bank of its own: mostly so, and quickly seen.
bool are_alone(const WarpAccess& access, std::uint32_t mask) {
  if (access.width > word_bytes) return false;
  std::uint32_t taken = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    const std::uint32_t bank = 1u << access.address[lane] / word_bytes % banks;
    if ((taken & bank) != 0) return false;
    taken |= bank;
  }
  return true;
}

/// The largest number of distinct words in one bank, and what it would be without conflicts, word
/// by word.
Cost bank_cost_by_words(const WarpAccess& access, std::uint32_t mask) {
  BankedWords words;
  for_each_unit(access, mask, word_bytes, [&](std::uint64_t word) { words.add(word); });
  return {words.most(), (words.count() + banks - 1) / banks, 0};
}

/// An access whose lanes lie near each other and are aligned to their width, as nearly all do:
/// lanes share all their words or none, and the banks of lanes that share none are the same or
/// others. So lanes are compared, not words.
class NearLanes {
 public:
  explicit NearLanes(const WarpAccess& access)
      : offsets_(offsets_of(access.address, access.mask)),
        width_(access.width),
        is_near_(offsets_.is_near && (offsets_.low_bits & (access.width - 1)) == 0 &&
                 std::has_single_bit(access.width)) {}

  bool are_near() const { return is_near_; }
  unsigned distinct(unsigned unit_bytes, std::uint32_t mask) const {
    return static_cast<unsigned>(
        std::popcount(first_of_each(offsets_, std::countr_zero(unit_bytes), mask)));
  }
  Cost bank_cost(std::uint32_t mask) const {
    const unsigned bytes = std::max(width_, word_bytes);
    const int shift = std::countr_zero(bytes);
    const std::uint32_t firsts = first_of_each(offsets_, shift, mask);
    const unsigned words = static_cast<unsigned>(std::popcount(firsts)) * bytes / word_bytes;
    return {most_equal_modulo(offsets_, shift, banks * word_bytes / bytes, firsts),
            (words + banks - 1) / banks, 0};
  }
  /// See bank_atomic_cost() below.
  Cost bank_atomic_cost(std::uint32_t mask) const {
    const int shift = std::countr_zero(word_bytes);
    return {most_equal_modulo(offsets_, shift, banks, mask), most_equal(offsets_, 0, mask), 0};
  }

 private:
  LaneOffsets offsets_;
  unsigned width_;
  bool is_near_;
};

/// The largest number of distinct words in one bank, and what it would be without conflicts.
Cost bank_cost(const WarpAccess& access, const NearLanes& lanes, std::uint32_t mask) {
  return lanes.are_near() ? lanes.bank_cost(mask) : bank_cost_by_words(access, mask);
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

/// True if a load may serve two groups of lanes at once, as long as that makes no bank conflict.
bool may_merge(const WarpAccess& access, std::uint32_t merged) {
  // 128-bit loads by one half of a warp have the room that the other half does not use.
  const bool has_one_half = (access.mask & 0xffff) == 0 || (access.mask >> 16) == 0;
  return (access.width >= 16 && has_one_half) || pairs(access, merged);
}

/// Calls visit(mask) for each group of lanes that a load or store is served in.
template <class Visit>
void for_each_group(const WarpAccess& access, const NearLanes& lanes, SharedAccess kind,
                    Visit visit) {
  const bool is_load = kind == SharedAccess::load;
  const unsigned group_lanes =
      access.width <= word_bytes ? warp_lanes : warp_lanes * word_bytes / access.width;
  const unsigned merged_lanes = std::min(2 * group_lanes, warp_lanes);
  for (unsigned first = 0; first < warp_lanes; first += merged_lanes) {
    const std::uint32_t merged = access.mask & lanes_from(first, merged_lanes);
    const bool is_one_group = merged_lanes == group_lanes;
    if (is_one_group || (is_load && may_merge(access, merged) &&
                         bank_cost(access, lanes, merged).transactions <= 1)) {
      visit(merged);
    } else {
      visit(access.mask & lanes_from(first, group_lanes));
      visit(access.mask & lanes_from(first + group_lanes, group_lanes));
    }
  }
}

/// For each active lane, how many lower active lanes have its address: the round it is served in.
std::array<unsigned, warp_lanes> rounds_of(const WarpAccess& access, std::uint32_t mask) {
  std::array<unsigned, warp_lanes> round{};
  for_each_lane(mask, [&](unsigned lane) {
    for_each_lane(mask & lanes_from(0, lane), [&](unsigned lower) {
      if (access.address[lower] == access.address[lane]) ++round[lane];
    });
  });
  return round;
}

/// Calls visit(mask) for the lanes of each round of an atomic.
template <class Visit>
void for_each_round(const WarpAccess& access, std::uint32_t mask, Visit visit) {
  const std::array<unsigned, warp_lanes> round = rounds_of(access, mask);
  std::array<std::uint32_t, warp_lanes> lanes_of{};
  for_each_lane(mask, [&](unsigned lane) { lanes_of[round[lane]] |= 1u << lane; });
  for (const std::uint32_t lanes : lanes_of) {
    if (lanes != 0) visit(lanes);
  }
}

/// The largest number of active lanes in one bank: equal addresses add up, and do so even when
/// nothing else is in their bank.
Cost bank_atomic_cost(const WarpAccess& access, const NearLanes& lanes, std::uint32_t mask) {
  if (lanes.are_near()) return lanes.bank_atomic_cost(mask);
  std::array<unsigned, banks> in_bank{};
  Cost cost;
  for_each_lane(mask, [&](unsigned lane) {
    unsigned& in_this_bank = in_bank[access.address[lane] / word_bytes % banks];
    cost.transactions = std::max(cost.transactions, ++in_this_bank);
  });
  for_each_round(access, mask, [&](std::uint32_t) { ++cost.ideal; });
  return cost;
}

unsigned sectors_for(unsigned bytes) { return (bytes + sector_bytes - 1) / sector_bytes; }

}  // namespace

/// Atomics of two words a lane are taken in halves, as stores are.
Cost shared_cost(const WarpAccess& access, SharedAccess kind) {
  Cost sum;
  const NearLanes lanes(access);
  for_each_group(access, lanes, kind, [&](std::uint32_t group) {
    const Cost cost = kind == SharedAccess::atomic ? bank_atomic_cost(access, lanes, group)
                                                   : bank_cost(access, lanes, group);
    sum.transactions += cost.transactions;
    sum.ideal += cost.ideal;
  });
  return sum;
}

WarpAccess matrix_rows(const WarpAccess& access) {
  WarpAccess rows = access;
  rows.width = 16;
  return rows;
}

std::array<unsigned, warp_lanes> shared_passes(const WarpAccess& access, SharedAccess kind) {
  std::array<unsigned, warp_lanes> passes{};
  unsigned before = 0;
  for_each_group(access, NearLanes(access), kind, [&](std::uint32_t group) {
    if (are_alone(access, group)) {
      for_each_lane(group, [&](unsigned lane) { passes[lane] = before + 1; });
      before += group != 0 ? 1 : 0;
      return;
    }
    BankedWords words;
    for_each_lane(group, [&](unsigned lane) {
      const std::uint64_t first = access.address[lane] / word_bytes;
      const std::uint64_t last = (access.address[lane] + access.width - 1) / word_bytes;
      unsigned pass = 0;
      if (kind == SharedAccess::atomic) {
        pass = words.add_another(first);  // its lanes never share one
      } else {
        for (std::uint64_t word = first; word <= last; ++word)
          pass = std::max(pass, words.add(word));
      }
      passes[lane] = before + pass;
    });
    before += words.most();
  });
  return passes;
}

bool is_calibrated(const WarpAccess& access, SharedAccess kind) {
  if (kind != SharedAccess::load || access.width < 16 || access.mask == ~0u) return true;
  return (access.mask & 0xffff) == 0 || (access.mask >> 16) == 0;
}

/// Accesses are aligned to their width, so two lanes either share all bytes or none.
Cost global_cost(const WarpAccess& access) {
  const NearLanes lanes(access);
  if (!lanes.are_near() || access.width > sector_bytes) {
    const unsigned bytes = distinct_units(access, access.mask, access.width) * access.width;
    return {distinct_units(access, access.mask, sector_bytes), sectors_for(bytes), bytes};
  }
  const unsigned sectors = lanes.distinct(sector_bytes, access.mask);
  const bool are_alone = sectors == static_cast<unsigned>(std::popcount(access.mask));
  const unsigned bytes =
      (are_alone ? sectors : lanes.distinct(access.width, access.mask)) * access.width;
  return {sectors, sectors_for(bytes), bytes};
}

Cost cluster_cost(const WarpAccess& access, bool takes_turns) {
  Cost cost = global_cost(access);
  if (!takes_turns) return cost;
  cost.transactions = 0;
  for_each_round(access, access.mask, [&](std::uint32_t lanes) {
    cost.transactions += distinct_units(access, lanes, sector_bytes);
  });
  return cost;
}

}  // namespace warpmeter::model
