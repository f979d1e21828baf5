// SPDX-License-Identifier: MIT
// Work that a stream or a graph can hold, as data: it runs at once when it is given to a stream,
// and becomes a node of a graph where the stream is captured or the program builds the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "base/geometry.h"
#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

class Kernel;
class Process;
/// Their numbers.
using Multiprocessors = std::vector<std::uint32_t>;
struct Event;
struct Graph;
struct Node;

struct KernelWork {
  Kernel* kernel = nullptr;
  const void* function = nullptr;  ///< as the program named it
  Geometry geometry;
  std::vector<std::byte> parameters;
  int device = 0;  ///< that it runs on
  /// The launch may begin before the one that it follows has ended, and waits for it by itself.
  bool is_programmatic = false;
  std::shared_ptr<const Multiprocessors> multiprocessors;  ///< that it runs on; null: on all
};

/// A box of bytes out of memory into memory; widths and pitches in bytes.
struct CopyWork {
  std::uint64_t to = 0, from = 0;
  std::uint64_t to_pitch = 0, to_height = 0, from_pitch = 0, from_height = 0;
  std::uint64_t width = 0, height = 1, depth = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  std::shared_ptr<void> source;  ///< the owner of the source, where nobody else keeps that
  std::shared_ptr<const cudaMemcpy3DParms> described;  ///< as the program described it; may be null
};

/// A number of 1, 2 or 4 bytes, over and over.
struct SetWork {
  std::uint64_t to = 0, pitch = 0;
  std::uint32_t value = 0, element_bytes = 1;
  std::uint64_t width = 0, height = 1, depth = 1;  ///< width in elements
};

struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
  bool runs_after_failure = false;  ///< for a kernel
};

struct EventWork {
  Event* event = nullptr;
  bool records = false;
  std::uint64_t number = 0;  ///< which recording, of one that processes share
};

struct ChildWork {
  std::shared_ptr<Graph> graph;
};

/// See conditions.h.
struct ConditionalWork {
  std::uint64_t handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<cudaGraph_t>>
      handles;  ///< the handles of the bodies, as the program has them
  std::vector<std::vector<Node*>>
      orders;  ///< the orders of the bodies' nodes, once it can be launched
};

struct FreeWork {
  std::uint64_t address = 0;
};
/// Memory at an address that was chosen when the node was made: what follows names it already.
struct AllocationWork {
  cudaMemAllocNodeParams parameters{};
  std::uint64_t offset = 0;  ///< in the graph's memory; see graph_addresses.h
};

/// Values in memory that the stream waits for or writes, one after the other.
struct ValuesWork {
  std::vector<CUstreamBatchMemOpParams> operations;
  std::size_t next = 0;  ///< those before it are done
};

/// A function of one of NVIDIA's libraries that is computed on the CPU (blas/call.h).
struct LibraryWork {
  std::shared_ptr<const std::function<cudaError_t(Process&)>> compute;
  std::string_view name;  ///< "cublasSgemm"
};

/// Where a graph begins and ends in a stream, of which kernels launch others; see graph_launches.h.
struct GraphMark {
  cudaGraphExec_t graph = nullptr;
  bool begins = true;
};

using Work =
    std::variant<std::monostate, KernelWork, CopyWork, SetWork, HostWork, EventWork, ChildWork,
                 FreeWork, AllocationWork, ValuesWork, ConditionalWork, GraphMark, LibraryWork>;

/// The data of edges from those nodes; an edge that is not among them is an order and no more.
using Ports = std::map<const Node*, cudaGraphEdgeData>;

struct Node {
  Work work;
  std::vector<Node*> after;  ///< nodes that come before it
  Ports ports;               ///< the ports of those
  Graph* graph = nullptr;
  bool is_enabled = true;
  std::vector<void*>
      parameters;  ///< the parameters of a kernel, each; as the program was last told them
  std::map<int, cudaLaunchAttributeValue>
      attributes;  ///< the attributes of a kernel, that were set
};

struct UserObject;

/// An allocation of a graph, in the graph's memory.
struct PlacedAllocation {
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t address = 0;
  const Node* freed_by = nullptr;  ///< null: no node of the graph frees it
};

/// Nodes in the order in which they were added.
struct Graph : std::enable_shared_from_this<Graph> {
  Graph();
  const std::uint64_t number;  ///< no other one's
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<const Node*, Node*> copied;  ///< for a copy: which node became which
  /// The objects that it keeps for the program; each lets it go with the graph.
  std::vector<std::shared_ptr<UserObject>> kept;
  std::vector<PlacedAllocation> placed;
  /// Memory of all these: up to the end of the last, and what a device takes for it in its steps.
  std::uint64_t memory_bytes = 0, reserved_bytes = 0;

  Node* add(Work work, std::vector<Node*> after);
  /// True if it allocates or frees: then it is neither copied nor executable twice at a time, and
  /// its nodes stay.
  bool has_memory() const;
  bool has_conditions() const;
  /// The nodes, each behind those that it follows, else in the order of adding; fewer than there
  /// are where their edges go round in a circle.
  std::vector<Node*> in_order() const;
  std::shared_ptr<Graph> copy() const;

 private:
  void note_memory(const Node& node);
};

/// In which a device gives memory to graphs, and what offsets there are multiples of, as an H200's
/// driver has it.
inline constexpr std::uint64_t graph_memory_step = std::uint64_t{32} << 20;
inline constexpr std::uint64_t graph_memory_alignment = 512;

/// `ends` and all nodes that come before them.
std::set<const Node*> ancestors(const std::vector<Node*>& ends);
/// True if all of `nodes` are among `ends` or come before them.
bool are_before(const std::vector<Node*>& nodes, const std::vector<Node*>& ends);

}  // namespace warpmeter::runtime
