// SPDX-License-Identifier: MIT
#include "collector/model/machine/warpgroup.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/lanes.h"
#include "collector/model/machine/access.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

constexpr std::uint32_t piece = 16;  // bytes

/// A matrix in shared memory, as its descriptor says (warpgroup_product.h).
class Described {
 public:
  Described(std::uint64_t descriptor, bool is_turned)
      : start_(steps(descriptor)),
        leading_(steps(descriptor >> 16)),
        stride_(steps(descriptor >> 32)),
        base_(static_cast<std::uint32_t>(descriptor >> 49 & 7)),
        row_(widths[descriptor >> 62]),
        is_turned_(is_turned) {}

  /// The place of 16 bytes: of a line the first or second half, or eight lines of one k.
  std::uint32_t place(std::uint32_t number, std::uint32_t lines, std::uint32_t first_line) const {
    const std::uint32_t groups = lines / 8;
    const std::uint32_t at = is_turned_ ? of_k(number / groups, first_line / 8 + number % groups)
                                        : of_line(first_line + number / 2, number % 2);
    return at ^ (((at >> 7) - base_) & (row_ / piece - 1)) * piece;
  }

 private:
  static constexpr std::array<std::uint32_t, 4> widths = {16, 128, 64, 32};
  static std::uint32_t steps(std::uint64_t bits) {
    return static_cast<std::uint32_t>(bits & 0x3fff) * piece;
  }

  std::uint32_t of_line(std::uint32_t line, std::uint32_t half) const {
    const std::uint32_t apart = row_ == piece ? leading_ : piece;
    return start_ + line / 8 * stride_ + line % 8 * row_ + half * apart;
  }
  std::uint32_t of_k(std::uint32_t k, std::uint32_t group) const {
    const std::uint32_t begin = start_ + k % 8 * row_;
    if (row_ == piece) return begin + group * stride_ + k / 8 * leading_;
    const std::uint32_t in_row = row_ / piece;
    return begin + group / in_row * leading_ + group % in_row * piece + k / 8 * stride_;
  }

  std::uint32_t start_, leading_, stride_, base_, row_;
  bool is_turned_;
};

/// The descriptor of the first active lane: all have the same.
std::uint64_t descriptor(const Warp& w, std::uint16_t row) {
  return row_of<std::uint64_t>(w, row)[std::countr_zero(w.active)];
}

bool reach_all(Warp& w, const Operation* op, const Described& matrix, std::uint32_t lines,
               std::uint32_t first_line, const std::byte** pieces) {
  const WorkerMemory& memory = *w.memory;
  const std::uint32_t count = 2 * lines;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t place = matrix.place(i, lines, first_line);
    last = std::max(last, place);
    pieces[i] = memory.shared.data() + place;
  }
  if (last + piece <= memory.shared_bytes && memory.observer == nullptr) return true;
  for (std::uint32_t first = 0; first < count; first += warp_lanes) {
    const std::uint32_t those = std::min(count - first, warp_lanes);
    std::array<std::uint64_t, warp_lanes> addresses{};
    for (std::uint32_t i = 0; i < those; ++i) {
      addresses[i] = matrix.place(first + i, lines, first_line);
    }
    if (!reach(w, op, ~std::uint32_t{0} >> (warp_lanes - those), addresses.data())) return false;
    std::copy_n(w.lane_host, those, pieces + first);
  }
  return true;
}

}  // namespace

bool reach_operands(Warp& w, const Operation* op, WarpgroupOperands& operands) {
  WorkerMemory& memory = *w.memory;
  const WarpgroupProduct& product = w.warpgroup_products[op->imm];
  const std::uint32_t of_group = w.index % warps_of_group;
  ++w.products_of_group;
  w.last_of_group = op;
  if (memory.is_counted) {
    // The warpgroup reads each byte of both once: its first warp stands for all.
    const std::uint64_t lines =
        of_group != 0
            ? 0
            : product.n + (product.first_in_registers ? 0 : warps_of_group * lines_of_warp);
    const std::uint64_t wavefronts = lines * bytes_of_warpgroup_k / 128;
    memory.counts[op->extra].shared += {1, wavefronts, 0, wavefronts};
  }
  if (!product.first_in_registers &&
      !reach_all(w, op, Described(descriptor(w, op->a), product.turns_first), lines_of_warp,
                 of_group * lines_of_warp, operands.first)) {
    return false;
  }
  return reach_all(w, op, Described(descriptor(w, op->b), product.turns_second), product.n, 0,
                   operands.second);
}

GroupProgress progress_of_group(const Warp& w) {
  const std::span<const Warp> all = w.memory->warps;
  const std::uint32_t first = w.index - w.index % warps_of_group;
  if (all.size() < first + warps_of_group) return GroupProgress::lacks_warps;
  GroupProgress progress = GroupProgress::complete;
  for (const Warp& other : all.subspan(first, warps_of_group)) {
    if (other.products_of_group >= w.products_of_group) continue;
    if (other.status == WarpStatus::finished) return GroupProgress::lacks_warps;
    progress = GroupProgress::behind;
  }
  return progress;
}

}  // namespace warpmeter::model
