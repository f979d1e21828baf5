// SPDX-License-Identifier: MIT
#include "collector/runtime/graph/graph_addresses.h"

#include <algorithm>
#include <optional>

#include "collector/model/machine/memory/align.h"

namespace warpmeter::runtime {
namespace {

std::uint64_t end_of(const PlacedAllocation& placed) { return placed.offset + placed.bytes; }

/// The smallest hole between those that are in the way, before the end of the graph's memory.
std::optional<std::uint64_t> hole_for(std::uint64_t bytes, std::uint64_t end,
                                      std::vector<PlacedAllocation> in_the_way) {
  std::sort(in_the_way.begin(), in_the_way.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  in_the_way.push_back({end, 0, 0, nullptr});
  std::optional<std::uint64_t> best;
  std::uint64_t best_bytes = 0, begin = 0;
  for (const PlacedAllocation& next : in_the_way) {
    const std::uint64_t hole = next.offset > begin ? next.offset - begin : 0;
    if (hole >= bytes && (!best || hole < best_bytes)) {
      best = begin;
      best_bytes = hole;
    }
    begin = std::max(begin, end_of(next));
  }
  return best;
}

}  // namespace

bool place(Memory& memory, const Graph& graph, const std::vector<Node*>& after,
           AllocationWork& allocation) {
  const std::uint64_t wished = allocation.parameters.bytesize;
  if (wished > memory.limit()) return false;
  const std::uint64_t bytes = model::round_up(wished, graph_memory_alignment);
  std::vector<PlacedAllocation> in_the_way, given_back;
  const std::set<const Node*> before = ancestors(after);
  for (const PlacedAllocation& other : graph.placed) {
    const bool is_free = other.freed_by != nullptr && before.contains(other.freed_by);
    (is_free ? given_back : in_the_way).push_back(other);
  }
  const std::optional<std::uint64_t> hole = hole_for(bytes, graph.memory_bytes, in_the_way);
  allocation.offset = hole.value_or(graph.memory_bytes);
  // Allocations have pages to themselves here, so only one that begins there lends its address.
  const auto earlier = std::find_if(given_back.begin(), given_back.end(), [&](const auto& other) {
    return hole && other.offset == *hole && other.bytes >= bytes;
  });
  const std::uint64_t address =
      earlier != given_back.end() ? earlier->address : memory.reserve(wished);
  allocation.parameters.dptr = reinterpret_cast<void*>(address);
  return address != 0;
}

bool is_freed(const Graph& graph, std::uint64_t address) {
  bool is_known = false, is_all = true;
  for (const PlacedAllocation& placed : graph.placed) {
    if (placed.address != address) continue;
    is_known = true;
    is_all = is_all && placed.freed_by != nullptr;
  }
  if (is_known) return is_all;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    const auto* freed = std::get_if<FreeWork>(&node->work);
    return freed != nullptr && freed->address == address;
  });
}

}  // namespace warpmeter::runtime
