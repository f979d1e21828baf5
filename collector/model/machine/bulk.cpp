// SPDX-License-Identifier: MIT
#include "collector/model/machine/bulk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "base/lanes.h"
#include "collector/model/counts/rules/bulk_sectors.h"
#include "collector/model/machine/access.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/warp/mbarrier.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

constexpr std::uint16_t no_sum = 0xffff;

/// The type of atomic that a tensor's elements are changed by; no_sum where there is none
/// (measured).
std::uint16_t atomic_of(TensorType type, AtomicKind kind) {
  const bool orders = kind == AtomicKind::minimum || kind == AtomicKind::maximum;
  const bool counts = kind == AtomicKind::increment || kind == AtomicKind::decrement;
  const bool adds = kind == AtomicKind::add, sorts = adds || orders;
  const auto of = [&](AtomicType atomic, bool is_possible) {
    return is_possible
               ? static_cast<std::uint16_t>(static_cast<unsigned>(kind) |
                                            static_cast<unsigned>(atomic) << atomic_type_shift |
                                            atomic_keeps_subnormals)
               : no_sum;
  };
  switch (type) {
    case TensorType::u32:
      return of(AtomicType::u32, true);
    case TensorType::s32:
      return of(AtomicType::s32, !counts);
    case TensorType::u64:
      return of(AtomicType::u64, !counts);
    case TensorType::s64:
      return of(AtomicType::s64, orders);
    case TensorType::f16:
      return of(AtomicType::f16, sorts);
    case TensorType::bf16:
      return of(AtomicType::bf16, sorts);
    case TensorType::f32:
    case TensorType::f32_ftz:
    case TensorType::tf32:
    case TensorType::tf32_ftz:
      return of(AtomicType::f32, adds);
    case TensorType::f64:
      return of(AtomicType::f64, adds);
    case TensorType::u8:
    case TensorType::u16:
      break;
  }
  return no_sum;
}

/// More than the shared memory of any block.
constexpr std::uint32_t most_watched_bytes = 1 << 20;

/// The copy that one lane asks for.
class LaneCopy {
 public:
  LaneCopy(Warp& w, const Operation* op, unsigned lane)
      : w_(w),
        op_(op),
        lane_(lane),
        copy_(w.memory->program->bulk_copies[static_cast<std::size_t>(op->imm)]),
        reduces_(copy_.kind == BulkCopy::Kind::reduce),
        atomic_(copy_.atomic) {}

  bool run() { return copy_.rank > 0 ? run_box() : run_stretch(); }

 private:
  bool run_stretch() {
    const std::uint64_t from = address_in(op_->b, copy_.from);
    if (copy_.kind == BulkCopy::Kind::prefetch) return is_aligned(copy_.from, from, bulk_step);
    const std::uint64_t to = address_in(op_->a, copy_.to);
    if (!is_aligned(copy_.from, from, bulk_step) || !is_aligned(copy_.to, to, bulk_step)) {
      return false;
    }
    const std::uint32_t bytes = row_of<std::uint32_t>(w_, op_->c)[lane_] / bulk_step * bulk_step;
    count_stretch(from, to, bytes);
    return to_each_block(to, bytes, [&](std::uint64_t place) {
      // One side is shared memory. An observer, who is told of each element and lets the copy go
      // on, has been told of its end long before.
      const bool is_watched = w_.memory->observer != nullptr;
      const std::uint32_t end = is_watched ? std::min(bytes, most_watched_bytes) : bytes;
      for (std::uint32_t done = 0; done < end; done += copy_.element) {
        if (!add(from + done, place + done, copy_.element)) return false;
      }
      return flush();
    });
  }

  bool run_box() {
    const bool stores = copy_.is_store;
    const BulkCopy::Place& described = stores ? copy_.to : copy_.from;
    const std::optional<TensorMap> map =
        descriptor(address_in(stores ? op_->a : op_->b, described));
    if (!map) return false;
    if (copy_.kind == BulkCopy::Kind::prefetch) return true;
    std::array<std::int32_t, most_tensor_axes> corner{};
    for (unsigned axis = 0; axis < copy_.rank; ++axis) {
      corner[axis] = row_of<std::int32_t>(w_, copy_.corner_rows[axis])[lane_];
      if (stores && corner[axis] < 0) return fault(BoxFault::negative, corner[axis]);
    }
    const std::int64_t column = std::int64_t{corner[0]} * map->element_bytes();
    if (column % box_chunk != 0) return fault(BoxFault::column, column);
    const BulkCopy::Place& near = stores ? copy_.from : copy_.to;
    const std::uint64_t shared = address_in(stores ? op_->b : op_->a, near);
    if (!is_aligned(near, shared, box_alignment)) return false;
    if (reduces_) atomic_ = atomic_of(map->type, static_cast<AtomicKind>(copy_.atomic));
    if (atomic_ == no_sum) return fault(BoxFault::reduction, 0);
    rounds_ = !stores && (map->type == TensorType::tf32 || map->type == TensorType::tf32_ftz);
    filler_.fill(std::byte{0});
    for (std::size_t i = 0; map->fills_with_nan && i < filler_.size(); i += 2) {
      filler_[i] = std::byte{0xf7};
      filler_[i + 1] = std::byte{0x7f};
    }
    count_box(*map, corner, shared);
    if (stores) return move_box(*map, corner, shared);
    return to_each_block(shared, map->box_bytes(),
                         [&](std::uint64_t place) { return move_box(*map, corner, place); });
  }

  bool move_box(const TensorMap& map, const std::array<std::int32_t, most_tensor_axes>& corner,
                std::uint64_t shared) {
    const bool moved = for_each_chunk(map, corner, [&](const BoxChunk& chunk) {
      const std::uint64_t place = map.swizzled(shared + chunk.shared);
      // Hardware stores a chunk whole of which a part is of the tensor (measured).
      const std::uint32_t end = copy_.is_store && chunk.end > 0 ? box_chunk : chunk.end;
      const bool is_whole = chunk.begin == 0 && end == box_chunk && !reduces_;
      const std::uint32_t width = is_whole ? box_chunk : map.element_bytes();
      for (std::uint32_t byte = 0; byte < box_chunk; byte += width) {
        const bool is_inside = chunk.begin <= byte && byte < end;
        const std::uint64_t global = chunk.global + byte, here = place + byte;
        if (copy_.is_store ? is_inside && !add(here, global, width)
                           : !add(is_inside ? global : nowhere, here, width)) {
          return false;
        }
      }
      return true;
    });
    return moved && flush();
  }

  bool is_for_several() const { return op_->e != no_operand; }

  void count_stretch(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    const bool loads = site(copy_.from).space == AddressSpace::global;
    if (!w_.memory->is_counted) return;
    constexpr std::uint64_t line = 128;
    const bool is_measured =
        !is_for_several() || (to % line == 0 && (from % line == 0 || from % line == bulk_step));
    BulkSectors sectors(is_for_several());
    const bool is_of_global = loads || site(copy_.to).space == AddressSpace::global;
    for (std::uint32_t done = 0; is_of_global && done < std::min(bytes, most_watched_bytes);
         done += bulk_step) {
      sectors.add((loads ? from : to) + done, (loads ? to : from) + done);
    }
    count(sectors, is_measured);
  }

  void count_box(const TensorMap& map, const std::array<std::int32_t, most_tensor_axes>& corner,
                 std::uint64_t shared) {
    if (!w_.memory->is_counted) return;
    if (Recording* const recording = w_.memory->recording.get(); recording != nullptr) {
      const auto place = static_cast<std::uint32_t>(shared & (cluster_step - 1));
      recording->boxes[static_cast<std::size_t>(op_->imm)].add(
          {place, map.row_bytes(), map.box_bytes() / map.row_bytes(), map.swizzle_shift});
    }
    BulkSectors sectors(is_for_several());
    std::uint32_t left = 0;
    for_each_chunk(map, corner, [&](const BoxChunk& chunk) {
      if (left == 0) {
        sectors.begin_row();
        left = map.row_bytes();
      }
      left -= std::min(left, box_chunk);
      const bool is_inside = chunk.end > chunk.begin;
      if (is_inside || !copy_.is_store) {
        sectors.add(chunk.global, shared + chunk.shared, is_inside);
      }
      return true;
    });
    count(sectors, is_measured(map, shared));
  }

  /// True if the box is like those that were measured (h200_box_patterns.csv).
  bool is_measured(const TensorMap& map, std::uint64_t shared) const {
    constexpr std::uint32_t line = 128, odd_row = 144;
    const std::uint32_t row = map.row_bytes();
    bool has_rows = false, alternates = false;  // between the halves of a sector
    for (unsigned axis = 1; axis < map.rank; ++axis) {
      if (map.count(axis) < 2) continue;
      has_rows = true;
      alternates |= map.strides[axis - 1] * map.steps[axis] % sector_bytes != 0;
    }
    if (alternates && row != box_chunk && row != line) return false;
    if (has_rows && line % row != 0 && row % line != 0 && row != odd_row) return false;
    return !is_for_several() || (map.rank == 2 && row % line == 0 && shared % line == 0);
  }

  /// One request, with the sectors that come to each of its blocks. The bytes of the other side are
  /// those that come to several blocks.
  void count(BulkSectors& sectors, bool is_measured) {
    const bool loads = site(copy_.from).space == AddressSpace::global;
    const BulkCopy::Place& far = loads ? copy_.from : copy_.to;
    const BulkCopy::Place& near = loads ? copy_.to : copy_.from;
    const bool is_global = site(far).space == AddressSpace::global;
    std::uint64_t blocks = 1;
    if (is_for_several()) {
      blocks = static_cast<std::uint64_t>(std::popcount(row_of<std::uint16_t>(w_, op_->e)[lane_]));
    }
    const std::uint64_t all = sectors.count() * blocks;
    std::vector<SiteCounts>& counts = w_.memory->counts;
    counts[far.site].*counts_of(is_global ? AddressSpace::global : AddressSpace::cluster) +=
        {1, all, all * sector_bytes, all};
    counts[near.site].shared += {1, 0, is_for_several() ? all * sector_bytes : 0, 0};
    for (const BulkCopy::Place& place : {far, near}) {
      counts[place.site].is_approximate |= !is_measured || blocks == 0;
    }
  }

  std::optional<TensorMap> descriptor(std::uint64_t address) {
    const BulkCopy::Place& place = copy_.is_store ? copy_.to : copy_.from;
    if (!is_aligned(place, address, tensor_map_alignment)) return std::nullopt;
    const HostStretch stretch = host_at(w_, lane_, address);
    if (stretch.bytes < tensor_map_bytes) {
      raise(w_, op_, site(place), TrapKind::out_of_bounds, AddressSpace::global, lane_, address);
      return std::nullopt;
    }
    std::optional<TensorMap> map = read_tensor_map(stretch.host);
    if (map && map->rank == copy_.rank) return map;
    fault(map ? BoxFault::other_rank : BoxFault::no_descriptor, static_cast<std::int64_t>(address));
    return std::nullopt;
  }

  bool fault(BoxFault what, std::int64_t number) {
    return raise(w_, op_, site(copy_.to), TrapKind::illegal_box, static_cast<AddressSpace>(what),
                 lane_, static_cast<std::uint64_t>(number));
  }

  /// To the block's own place, or to those of the blocks that are named; each object is told of the
  /// bytes.
  template <typename Move>
  bool to_each_block(std::uint64_t to, std::uint32_t bytes, Move&& move) {
    const bool has_object = op_->d != no_operand;
    const std::uint64_t object = has_object ? address_in(op_->d, copy_.object) : 0;
    if (op_->e == no_operand) return move(to) && (!has_object || tell(object, bytes));
    std::uint32_t blocks = row_of<std::uint16_t>(w_, op_->e)[lane_];
    for (; blocks != 0; blocks &= blocks - 1) {
      const auto rank = static_cast<std::uint32_t>(std::countr_zero(blocks));
      if (!move(in_block(to, rank)) || !tell(in_block(object, rank), bytes)) return false;
    }
    return true;
  }

  std::uint64_t address_in(std::uint16_t row, const BulkCopy::Place& place) const {
    const std::uint64_t base = place.is_wide ? row_of<std::uint64_t>(w_, row)[lane_]
                                             : row_of<std::uint32_t>(w_, row)[lane_];
    return base + static_cast<std::uint64_t>(place.offset);
  }
  const SiteInfo& site(const BulkCopy::Place& place) const {
    return w_.memory->program->sites[place.site];
  }

  /// The same place in the shared memory of a block of the cluster.
  std::uint64_t in_block(std::uint64_t address, std::uint32_t rank) const {
    const bool is_own = rank == row_of<std::uint32_t>(w_, copy_.rank_row)[lane_];
    return (address & (cluster_step - 1)) + (is_own ? 0 : std::uint64_t{rank + 1} * cluster_step);
  }

  bool is_aligned(const BulkCopy::Place& place, std::uint64_t address, std::uint32_t step) {
    if (address % step == 0) return true;
    SiteInfo info = site(place);
    info.width = static_cast<std::uint8_t>(step);
    return raise(w_, op_, info, TrapKind::misaligned, info.space, lane_, address);
  }

  /// An operation of this instruction's at one of its places.
  Operation at(const BulkCopy::Place& place, std::uint32_t width) const {
    Operation part = *op_;
    part.extra = place.site;
    if (copy_.rank > 0) part.extra += static_cast<std::uint32_t>(std::countr_zero(width));
    return part;
  }

  bool reach_all(const Operation& part, std::uint32_t mask,
                 const std::array<std::uint64_t, warp_lanes>& addresses) {
    if (reach(w_, &part, mask, addresses.data())) return true;
    w_.pc = op_;
    w_.trap.lane = lane_;
    return false;
  }

  /// An element that is to be moved; from nowhere comes `filler_`. As many are moved together as a
  /// warp has lanes; where somebody looks on, who is told of lanes, one after the other by the lane
  /// that asked for them.
  bool add(std::uint64_t from, std::uint64_t to, std::uint32_t width) {
    if (count_ > 0 && (width != width_ || (from == nowhere) != fills_) && !flush()) return false;
    width_ = width;
    fills_ = from == nowhere;
    const bool is_watched = w_.memory->observer != nullptr;
    const unsigned lane = is_watched ? lane_ : count_;
    from_[lane] = from;
    to_[lane] = to;
    mask_ |= 1u << lane;
    ++count_;
    return (!is_watched && count_ < warp_lanes) || flush();
  }

  bool flush() {
    if (count_ == 0) return true;
    const std::uint32_t mask = mask_;
    mask_ = count_ = 0;
    std::array<std::byte, std::size_t{warp_lanes} * bulk_step> buffer;
    std::byte* const elements =
        reduces_ ? row_of<std::byte>(w_, copy_.elements_row) : buffer.data();
    if (!fills_ && !reach_all(at(copy_.from, width_), mask, from_)) return false;
    for_each_lane(mask, [&](unsigned lane) {
      std::byte* const element = elements + std::size_t{lane} * width_;
      std::memcpy(element, fills_ ? filler_.data() : w_.lane_host[lane], width_);
      if (rounds_ && !fills_) round_to_tf32(element, width_);
    });
    Operation store = at(copy_.to, width_);
    store.b = copy_.elements_row;
    store.c = atomic_;
    store.d = no_operand;
    store.f = 1;
    if (!reach_all(store, mask, to_)) return false;
    if (reduces_) {
      change_atomically(w_, &store, mask);
      return true;
    }
    for_each_lane(mask, [&](unsigned lane) {
      std::memcpy(w_.lane_host[lane], elements + std::size_t{lane} * width_, width_);
    });
    return true;
  }

  /// The barrier object's bytes have come.
  bool tell(std::uint64_t object, std::uint32_t bytes) {
    Operation part = *op_;
    part.extra = copy_.object.site;
    part.code = Code::mbarrier;
    part.c = static_cast<std::uint16_t>(MbarrierKind::complete);
    part.b = copy_.bytes_row;
    part.d = no_operand;
    row_of<std::uint32_t>(w_, copy_.bytes_row)[lane_] = bytes;
    const std::uint32_t mask = 1u << lane_;
    std::array<std::uint64_t, warp_lanes> addresses;
    addresses[lane_] = object;
    if (!reach_all(part, mask, addresses)) return false;
    change_mbarrier(w_, &part, mask);
    return true;
  }

  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

  Warp& w_;
  const Operation* op_;
  unsigned lane_;
  const BulkCopy& copy_;
  bool reduces_;
  std::uint16_t atomic_;
  bool rounds_ = false;
  std::array<std::byte, box_chunk> filler_{};
  // The places still to be moved.
  std::array<std::uint64_t, warp_lanes> from_, to_;
  std::uint32_t count_ = 0, mask_ = 0, width_ = 0;
  bool fills_ = false;
};

}  // namespace

bool copy_in_bulk(Warp& w, const Operation* op, std::uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    if (!LaneCopy(w, op, static_cast<unsigned>(std::countr_zero(mask))).run()) return false;
  }
  return true;
}

}  // namespace warpmeter::model
