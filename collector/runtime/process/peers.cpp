// SPDX-License-Identifier: MIT
#include "collector/runtime/process/peers.h"

#include <set>
#include <utility>

#include "collector/runtime/process/pools.h"

namespace warpmeter::runtime {
namespace {

/// Devices, and those whose memory they may reach.
struct Peers {
  std::multiset<std::pair<int, int>> enabled;
};
std::multiset<std::pair<int, int>>& peers() { return Process::get().state<Peers>().enabled; }

bool is_open_in_pool(const Pool& pool, int device) {
  const auto set = pool.access.find(device);
  return set != pool.access.end() && set->second != cudaMemAccessFlagsProtNone;
}

/// Another process's memory, and a graph's, have rules that are not followed here: they are open.
bool may_reach(Process& process, int device, const Block& block) {
  if (block.device == device || block.is_imported || block.is_of_graph) return true;
  if (block.kind == MemoryKind::mapped) {
    return process.virtual_memory().is_open(block.address, block.bytes, device);
  }
  if (block.kind != MemoryKind::device) return true;
  if (const Pool* pool = pool_holding(block.address)) return is_open_in_pool(*pool, device);
  return is_peer_enabled(device, block.device);
}

}  // namespace

void enable_peer(int device, int peer) { peers().insert({device, peer}); }

bool disable_peer(int device, int peer) {
  const auto found = peers().find({device, peer});
  if (found == peers().end()) return false;
  peers().erase(found);
  return true;
}

bool is_peer_enabled(int device, int peer) { return peers().contains({device, peer}); }

void forget_peers(int device) {
  std::erase_if(peers(),
                [&](const auto& pair) { return pair.first == device || pair.second == device; });
}

Reach::Reach(Process& process, int device) {
  if (process.devices() < 2) return;
  process.memory().for_each([&](const Block& block) {
    if (may_reach(process, device, block)) return;
    model::Allocation* allocation = process.memory().machine().find(block.address);
    if (allocation == nullptr) return;
    allocation->is_out_of_reach = true;
    closed_.push_back(allocation);
  });
}

Reach::~Reach() {
  for (model::Allocation* allocation : closed_) allocation->is_out_of_reach = false;
}

}  // namespace warpmeter::runtime
