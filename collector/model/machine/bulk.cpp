#include "collector/model/machine/bulk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/lanes.h"
#include "collector/model/machine/access.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/lane_rows.h"
#include "collector/model/machine/mbarrier.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

/// What one lane asks for.
class LaneCopy {
 public:
  LaneCopy(Warp& w, const Operation* op, unsigned lane)
      : w_(w),
        op_(op),
        lane_(lane),
        copy_(w.memory->program->bulk_copies[static_cast<std::size_t>(op->imm)]),
        from_(address_in(op->b, copy_.from)),
        bytes_(row_of<std::uint32_t>(w, op->c)[lane] / bulk_step * bulk_step) {}

  bool run() {
    if (copy_.kind == BulkCopy::Kind::prefetch) return is_aligned(copy_.from, from_);
    const std::uint64_t to = address_in(op_->a, copy_.to);
    const bool has_object = op_->d != no_operand;
    const std::uint64_t object = has_object ? address_in(op_->d, copy_.object) : 0;
    if (!is_aligned(copy_.from, from_) || !is_aligned(copy_.to, to)) return false;
    if (op_->e == no_operand) return move(to) && (!has_object || tell(object));
    std::uint32_t blocks = row_of<std::uint16_t>(w_, op_->e)[lane_];
    for (; blocks != 0; blocks &= blocks - 1) {
      const auto rank = static_cast<std::uint32_t>(std::countr_zero(blocks));
      if (!move(in_block(to, rank)) || !tell(in_block(object, rank))) return false;
    }
    return true;
  }

 private:
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

  bool is_aligned(const BulkCopy::Place& place, std::uint64_t address) {
    if (address % bulk_step == 0) return true;
    const SiteInfo& info = site(place);
    return raise(w_, op_, info, TrapKind::misaligned, info.space, lane_, address);
  }

  /// An operation of this instruction's at one of its places.
  Operation at(const BulkCopy::Place& place) const {
    Operation part = *op_;
    part.extra = place.site;
    return part;
  }

  bool reach_all(const Operation& part, std::uint32_t mask, std::uint64_t begin) {
    std::array<std::uint64_t, warp_lanes> addresses{};
    std::uint64_t address = begin;
    for_each_lane(mask, [&](unsigned lane) {
      addresses[lane] = address;
      address += copy_.element;
    });
    if (reach(w_, &part, mask, addresses.data())) return true;
    w_.pc = op_;
    w_.trap.lane = lane_;
    return false;
  }

  /// As many elements at a time as a warp has lanes; where somebody looks on, who is told of lanes,
  /// one after the other by the lane that asked for them.
  bool move(std::uint64_t to) {
    const Operation load = at(copy_.from);
    Operation store = at(copy_.to);
    store.b = copy_.elements_row;
    store.c = copy_.atomic;
    store.d = no_operand;
    store.f = 1;
    const bool is_watched = w_.memory->observer != nullptr;
    std::array<std::byte, warp_lanes * bulk_step> buffer;
    std::byte* const elements = copy_.kind == BulkCopy::Kind::reduce
                                    ? row_of<std::byte>(w_, copy_.elements_row)
                                    : buffer.data();
    std::uint32_t count = 0;
    for (std::uint32_t done = 0; done < bytes_; done += count * copy_.element) {
      count = is_watched ? 1 : std::min(warp_lanes, (bytes_ - done) / copy_.element);
      const std::uint32_t mask = is_watched ? 1u << lane_ : ~0u >> (warp_lanes - count);
      if (!reach_all(load, mask, from_ + done)) return false;
      for_each_lane(mask, [&](unsigned lane) {
        std::memcpy(elements + lane * copy_.element, w_.lane_host[lane], copy_.element);
      });
      if (!reach_all(store, mask, to + done)) return false;
      if (copy_.kind == BulkCopy::Kind::reduce) {
        change_atomically(w_, &store, mask);
        continue;
      }
      for_each_lane(mask, [&](unsigned lane) {
        std::memcpy(w_.lane_host[lane], elements + lane * copy_.element, copy_.element);
      });
    }
    return true;
  }

  /// The barrier object's bytes have come.
  bool tell(std::uint64_t object) {
    Operation part = at(copy_.object);
    part.code = Code::mbarrier;
    part.c = static_cast<std::uint16_t>(MbarrierKind::complete);
    part.b = copy_.bytes_row;
    part.d = no_operand;
    row_of<std::uint32_t>(w_, copy_.bytes_row)[lane_] = bytes_;
    const std::uint32_t mask = 1u << lane_;
    if (!reach_all(part, mask, object)) return false;
    change_mbarrier(w_, &part, mask);
    return true;
  }

  Warp& w_;
  const Operation* op_;
  unsigned lane_;
  const BulkCopy& copy_;
  std::uint64_t from_;
  std::uint32_t bytes_;
};

}  // namespace

bool copy_in_bulk(Warp& w, const Operation* op, std::uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    if (!LaneCopy(w, op, static_cast<unsigned>(std::countr_zero(mask))).run()) return false;
  }
  return true;
}

}  // namespace warpmeter::model
