// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/graphs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/conditions.h"
#include "collector/runtime/stream/graph_launches.h"
#include "collector/runtime/stream/graph_order.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

struct KeptObject {
  std::shared_ptr<UserObject> object;
  int references = 0;
};

struct Tables {
  std::map<const void*, std::shared_ptr<Graph>> graphs;
  Handles<Executable> executables;
  std::map<const void*, KeptObject> objects;
  std::map<int, GraphMemory> memory;  ///< by device
};

Tables& tables() { return Process::get().state<Tables>(); }

/// False where edges go round in a circle.
bool flatten(const Graph& graph, std::vector<Node*>& order) {
  const std::vector<Node*> own = graph.in_order();
  if (own.size() != graph.nodes.size()) return false;
  for (Node* node : own) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (!flatten(*child->graph, order)) return false;
    } else {
      if (auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
        conditional->orders.assign(conditional->bodies.size(), {});
        for (std::size_t i = 0; i < conditional->bodies.size(); ++i) {
          if (!flatten(*conditional->bodies[i], conditional->orders[i])) return false;
        }
      }
      order.push_back(node);
    }
  }
  return true;
}

Node* find_copy(const Graph& graph, const Node* original) {
  const auto found = graph.copied.find(original);
  if (found != graph.copied.end()) return found->second;
  for (const auto& node : graph.nodes) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (Node* inner = find_copy(*child->graph, original)) return inner;
    }
    if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) {
      for (const auto& body : conditional->bodies) {
        if (Node* inner = find_copy(*body, original)) return inner;
      }
    }
  }
  return nullptr;
}

}  // namespace

UserObject::~UserObject() { run_host_function(Process::get(), destroy, data); }

Node* Executable::node(const Node* original) const { return find_copy(*graph, original); }

cudaGraph_t keep_graph(std::shared_ptr<Graph> graph) {
  const cudaGraph_t handle = handle_of(graph.get());
  tables().graphs[handle] = std::move(graph);
  return handle;
}

std::shared_ptr<Graph> kept_graph(cudaGraph_t handle) {
  const auto found = tables().graphs.find(handle);
  return found == tables().graphs.end() ? nullptr : found->second;
}

bool destroy_graph(cudaGraph_t handle) {
  // Out of the table first: objects of the program may go with it.
  return !tables().graphs.extract(handle).empty();
}

cudaError_t instantiate(const Graph& graph, unsigned long long flags, cudaGraphExec_t& handle) {
  for (const auto& [other, executable] : tables().executables) {
    if (executable->made_of == graph.number && graph.has_memory()) return cudaErrorNotSupported;
  }
  auto made = std::make_unique<Executable>();
  made->graph = graph.copy();
  made->made_of = graph.number;
  made->flags = flags;
  if (!flatten(*made->graph, made->order)) return cudaErrorInvalidValue;
  handle = reinterpret_cast<cudaGraphExec_t>(&tables().executables.add(std::move(made)));
  return cudaSuccess;
}

Executable* executable_of(cudaGraphExec_t handle) { return tables().executables.find(handle); }

bool destroy_executable(cudaGraphExec_t handle) {
  return tables().executables.take(handle) != nullptr;
}

cudaError_t launch(Process& process, Executable& executable, cudaStream_t handle) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return capture(*stream, ChildWork{executable.graph->copy()});
  const cudaError_t conflict = legacy_conflict(process, *stream);
  if (conflict != cudaSuccess) return conflict;
  // Memory of an earlier launch that nobody has freed.
  for (const Node* node : executable.order) {
    const auto* allocation = std::get_if<AllocationWork>(&node->work);
    if (allocation == nullptr) continue;
    const auto address = reinterpret_cast<std::uint64_t>(allocation->parameters.dptr);
    if (process.memory().find(address) == nullptr) continue;
    if ((executable.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) {
      return cudaErrorInvalidValue;
    }
    wait_for(process, *stream);
    process.memory().release(address);
  }
  count_graph_memory(process.memory(), *executable.graph);
  begin_conditions(executable.order);
  executable.is_uploaded = true;
  const bool is_marked = launches_graphs(executable);
  const auto mark = [&](bool begins) {
    return give(process, *stream, GraphMark{handle_of(executable), begins});
  };
  if (is_marked) {
    const cudaError_t result = mark(true);
    if (result != cudaSuccess) return result;
  }
  std::optional<GraphOrder> order;
  Races* const races = process.races();
  if (races != nullptr) order.emplace(*races, *stream, *executable.graph, executable.launched);
  for (const Node* node : executable.order) {
    const auto* waits = std::get_if<EventWork>(&node->work);
    if (waits != nullptr && (waits->records || !process.has_event(waits->event))) waits = nullptr;
    if (order && (!node->is_enabled || waits != nullptr)) {
      order->pass(*node, node->is_enabled ? waits->event->known() : Clock());
    }
    if (!node->is_enabled) continue;
    if (const auto* event = std::get_if<EventWork>(&node->work); event && !event->records) {
      if (process.has_event(event->event)) follow(*stream, *event->event);
      continue;
    }
    const Given given = order ? order->give(*node) : Given();
    const cudaError_t result = give(process, *stream, node->work, &given);
    if (result != cudaSuccess) return result;
    if (const auto* event = std::get_if<EventWork>(&node->work);
        event && process.has_event(event->event)) {
      event->event->recorded_by = {stream->shared_from_this(), stream->given};
    }
  }
  if (order) {
    executable.launched = order->end();
    races->follow(*stream, order->end());
  }
  return is_marked ? mark(false) : cudaSuccess;
}

GraphMemory& graph_memory(int device) { return tables().memory[device]; }

void GraphMemory::grow(std::uint64_t least_used, std::uint64_t least_reserved) {
  used = std::max(used, least_used);
  reserved = std::max({reserved, least_reserved, used});
  used_high = std::max(used_high, used);
  reserved_high = std::max(reserved_high, reserved);
}

void count_graph_memory(const Memory& memory, int device, bool trims) {
  std::uint64_t bytes = 0;
  memory.for_each([&](const Block& block) {
    if (block.is_of_graph && block.device == device) bytes += block.bytes;
  });
  GraphMemory& all = graph_memory(device);
  const std::uint64_t needed = model::round_up(bytes, graph_memory_step);
  if (trims) all.used = all.reserved = needed;
  all.grow(needed, needed);
}

void count_graph_memory(const Memory& memory, const Graph& graph) {
  if (graph.placed.empty()) return;
  int device = 0;
  for (const auto& node : graph.nodes) {
    const auto* allocation = std::get_if<AllocationWork>(&node->work);
    if (allocation != nullptr) device = allocation->parameters.poolProps.location.id;
  }
  std::set<std::uint64_t> own;
  for (const PlacedAllocation& placed : graph.placed) own.insert(placed.address);
  std::uint64_t others = 0;  // the bytes that other graphs have not freed
  memory.for_each([&](const Block& block) {
    const bool is_other = block.is_of_graph && !own.contains(block.address);
    if (is_other && block.device == device) others += block.bytes;
  });
  others = model::round_up(others, graph_memory_step);
  graph_memory(device).grow(others + model::round_up(graph.memory_bytes, graph_memory_step),
                            others + graph.reserved_bytes);
}

UserObject* keep_object(std::shared_ptr<UserObject> object, unsigned references) {
  UserObject* handle = object.get();
  tables().objects[handle] = {std::move(object), static_cast<int>(references)};
  return handle;
}

std::shared_ptr<UserObject> kept_object(const UserObject* object) {
  const auto found = tables().objects.find(object);
  return found == tables().objects.end() ? nullptr : found->second.object;
}

bool add_references(const UserObject* object, int count) {
  const auto found = tables().objects.find(object);
  if (found == tables().objects.end() || found->second.references + count < 0) return false;
  found->second.references += count;
  if (found->second.references == 0) tables().objects.extract(found);
  return true;
}

}  // namespace warpmeter::runtime
