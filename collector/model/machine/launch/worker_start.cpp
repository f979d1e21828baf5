// SPDX-License-Identifier: MIT
// How the warps of a block begin: registers cleared, special ones filled, every lane at the first
// instruction.
#include <algorithm>
#include <cstring>

#include "collector/model/machine/device_limits.h"
#include "collector/model/machine/launch/worker.h"

namespace warpmeter::model {
namespace {

/// True if a special register is another one in another block.
bool is_of_block(Special special) {
  return special == Special::ctaid_x || special == Special::ctaid_y ||
         special == Special::ctaid_z || special == Special::smid ||
         special == Special::clusterid_x || special == Special::clusterid_y ||
         special == Special::clusterid_z || special == Special::cluster_ctaid_x ||
         special == Special::cluster_ctaid_y || special == Special::cluster_ctaid_z ||
         special == Special::cluster_ctarank;
}

std::uint32_t lanes_below(std::uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

}  // namespace

template <class T>
T* Worker::row(const Warp& warp, std::uint32_t unit) const {
  return reinterpret_cast<T*>(warp.registers + unit * row_unit_bytes);
}

void Worker::fill(Warp& warp, const ConstantRow& constant) {
  std::byte* lanes = row<std::byte>(warp, constant.row);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    std::memcpy(lanes + lane * constant.element_bytes, &constant.bits, constant.element_bytes);
  }
}

void Worker::take_grid_workspace() {
  for (Warp& warp : warps_) {
    for (ConstantRow half : program_.grid_workspace) {
      half.bits = 0;
      fill(warp, half);
    }
  }
}

void Worker::fill_lasting_rows(Warp& warp) {
  for (const ConstantRow& constant : program_.constants) fill(warp, constant);
  for (const ConstantRow& half : program_.grid_workspace) fill(warp, half);
  for (const SpecialRow& special : program_.specials) {
    if (is_of_block(special.special)) continue;
    std::uint32_t* lanes = row<std::uint32_t>(warp, special.row);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      lanes[lane] = special_value(special.special, warp.index, lane);
    }
  }
}

std::uint32_t Worker::special_value(Special special, std::uint32_t warp, std::uint32_t lane) const {
  const Dim3& grid = geometry_.grid;
  const Dim3& block = geometry_.block;
  const Dim3& cluster = geometry_.cluster;
  const std::uint32_t thread = warp * warp_lanes + lane;
  switch (special) {
    case Special::tid_x:
      return thread % block.x;
    case Special::tid_y:
      return thread / block.x % block.y;
    case Special::tid_z:
      return thread / block.x / block.y;
    case Special::ntid_x:
      return block.x;
    case Special::ntid_y:
      return block.y;
    case Special::ntid_z:
      return block.z;
    case Special::ctaid_x:
      return block_index_[0];
    case Special::ctaid_y:
      return block_index_[1];
    case Special::ctaid_z:
      return block_index_[2];
    case Special::nctaid_x:
      return grid.x;
    case Special::nctaid_y:
      return grid.y;
    case Special::nctaid_z:
      return grid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return warp;
    case Special::smid: {  // blocks are dealt out in turn
      if (!multiprocessors_.empty()) {
        return multiprocessors_[trap_.block % multiprocessors_.size()];
      }
      const auto all = static_cast<std::uint64_t>(device_limits(program_.arch).multiprocessors);
      return static_cast<std::uint32_t>(trap_.block % all);
    }
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_le:
      return lanes_below(lane + 1);
    case Special::lanemask_lt:
      return lanes_below(lane);
    case Special::lanemask_ge:
      return ~lanes_below(lane);
    case Special::lanemask_gt:
      return ~lanes_below(lane + 1);
    case Special::dynamic_smem_size:
      return geometry_.dynamic_shared_bytes;
    case Special::total_smem_size:
      return static_cast<std::uint32_t>(memory_.shared_bytes);
    case Special::clusterid_x:
      return block_index_[0] / cluster.x;
    case Special::clusterid_y:
      return block_index_[1] / cluster.y;
    case Special::clusterid_z:
      return block_index_[2] / cluster.z;
    case Special::nclusterid_x:
      return grid.x / cluster.x;
    case Special::nclusterid_y:
      return grid.y / cluster.y;
    case Special::nclusterid_z:
      return grid.z / cluster.z;
    case Special::cluster_ctaid_x:
      return block_index_[0] % cluster.x;
    case Special::cluster_ctaid_y:
      return block_index_[1] % cluster.y;
    case Special::cluster_ctaid_z:
      return block_index_[2] % cluster.z;
    case Special::cluster_nctaid_x:
      return cluster.x;
    case Special::cluster_nctaid_y:
      return cluster.y;
    case Special::cluster_nctaid_z:
      return cluster.z;
    case Special::cluster_ctarank:
      return rank();
    case Special::cluster_nctarank:
      return static_cast<std::uint32_t>(cluster.count());
    case Special::is_explicit_cluster:
      return cluster.count() > 1 ? 1 : 0;
  }
  return 0;
}

void Worker::start_warps(std::uint64_t block) {
  const std::uint64_t in_row = block / geometry_.grid.x;
  block_index_ = {static_cast<std::uint32_t>(block % geometry_.grid.x),
                  static_cast<std::uint32_t>(in_row % geometry_.grid.y),
                  static_cast<std::uint32_t>(in_row / geometry_.grid.y)};
  trap_.block = memory_.block = block;
  std::fill(memory_.shared.begin(), memory_.shared.end(), std::byte{0});
  memory_.local.clear();
  std::fill(predicates_.begin(), predicates_.end(), 0);
  barriers_.clear();
  for (Parting& parting : partings_) parting.clear();
  std::fill(spins_.begin(), spins_.end(), Spin{});
  goes_round_ = false;
  turns_ = 0;
  const auto threads = static_cast<std::uint32_t>(geometry_.block.count());
  const std::vector<RowRange>& cleared =
      native_ != nullptr ? native_->cleared() : program_.registers;
  for (Warp& warp : warps_) {
    for (const RowRange& range : cleared) {
      std::memset(row<std::byte>(warp, range.first), 0, range.count * row_unit_bytes);
    }
    warp.alive = lanes_below(threads - warp.index * warp_lanes);
    warp.active = warp.alive;
    warp.reconverge = nullptr;
    warp.depth = 0;
    warp.carry = 0;
    warp.counted_from = 0;
    warp.warp_instructions = 0;
    warp.products_of_group = 0;
    warp.thread_instructions = 0;
    warp.status = WarpStatus::yielded;
    warp.pc = warp.code;
    warp.trap = {};
    warp.came = 0;
    warp.cluster_lanes = 0;
    warp.cluster_phase = 0;
    warp.last = nullptr;
  }
  for (const SpecialRow& special : program_.specials) {
    if (!is_of_block(special.special)) continue;
    const std::uint32_t value = special_value(special.special, 0, 0);
    for (Warp& warp : warps_) {
      std::fill_n(row<std::uint32_t>(warp, special.row), warp_lanes, value);
    }
  }
}

}  // namespace warpmeter::model
