// SPDX-License-Identifier: MIT
// The graphs of the process by their handles, what they are made executable as, and the objects of
// the program that they keep.
#pragma once

#include <memory>
#include <vector>

#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// A graph as it was when it was instantiated, and as later calls changed that.
struct Executable {
  std::shared_ptr<Graph> graph;
  std::vector<Node*> order;  ///< with those of child graphs in their places
  unsigned long long flags = 0;
  std::uint64_t made_of = 0;  ///< the graph's number
  bool is_uploaded = false;   ///< to the device, where kernels find it
  Clock launched;             ///< the clock before the end of the last launch; see races.h

  /// Its node for one of the graph that it was made of; null: there is none.
  Node* node(const Node* original) const;
};

/// An object of the program, destroyed when nobody keeps it any more.
struct UserObject {
  cudaHostFn_t destroy = nullptr;
  void* data = nullptr;

  ~UserObject();
};

// A handle is the object's address. Graphs of child nodes belong to their nodes and are not known
// here.
inline Graph* graph_of(cudaGraph_t handle) { return reinterpret_cast<Graph*>(handle); }
inline Node* node_of(cudaGraphNode_t handle) { return reinterpret_cast<Node*>(handle); }
inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

inline cudaGraphExec_t handle_of(const Executable& executable) {
  return reinterpret_cast<cudaGraphExec_t>(const_cast<Executable*>(&executable));
}

cudaGraph_t keep_graph(std::shared_ptr<Graph> graph);
/// null: it belongs to no one, or to a node.
std::shared_ptr<Graph> kept_graph(cudaGraph_t handle);
bool destroy_graph(cudaGraph_t handle);

/// cudaErrorInvalidValue where edges go round in a circle, cudaErrorNotSupported for a second one
/// of a graph with memory.
cudaError_t instantiate(const Graph& graph, unsigned long long flags, cudaGraphExec_t& handle);
Executable* executable_of(cudaGraphExec_t handle);
bool destroy_executable(cudaGraphExec_t handle);
/// Gives its nodes to the stream, or makes it a node of the stream's capture.
cudaError_t launch(Process& process, Executable& executable, cudaStream_t stream);

/// The memory that a device's graphs keep, in steps; it is given back when the program says so.
struct GraphMemory {
  std::uint64_t used = 0, reserved = 0, used_high = 0, reserved_high = 0;
  void grow(std::uint64_t least_used, std::uint64_t least_reserved);
};
GraphMemory& graph_memory(int device);
/// Graphs have allocated more; or `trims`: what nobody has any more is given back.
void count_graph_memory(const Memory& memory, int device, bool trims);
/// A launch of the graph takes memory for all of its allocations.
void count_graph_memory(const Memory& memory, const Graph& graph);

/// The program's own references to an object are counted here.
UserObject* keep_object(std::shared_ptr<UserObject> object, unsigned references);
std::shared_ptr<UserObject> kept_object(const UserObject* object);
/// False where there are not so many.
bool add_references(const UserObject* object, int count);

}  // namespace warpmeter::runtime
