// SPDX-License-Identifier: MIT
// Functions of graphs as CUDA 12 and before called them: edges had no data.
#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/driver_call.h"

namespace warpmeter::runtime {
namespace {

/// Today's function of that name, with what it takes in addition.
template <class Function, class... Given>
cudaError_t today(std::string_view name, Given... given) {
  return runtime_function<Function>(name)(given...);
}

}  // namespace

namespace api {
namespace {

cudaError_t add_node_before_13(cudaGraphNode_t* node, cudaGraph_t graph,
                               const cudaGraphNode_t* after, std::size_t count,
                               cudaGraphNodeParams* parameters) {
  return today<decltype(::cudaGraphAddNode)>("cudaGraphAddNode", node, graph, after, nullptr, count,
                                             parameters);
}
cudaError_t add_edges_before_13(cudaGraph_t graph, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, std::size_t count) {
  return today<decltype(::cudaGraphAddDependencies)>("cudaGraphAddDependencies", graph, from, to,
                                                     nullptr, count);
}
cudaError_t remove_edges_before_13(cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, std::size_t count) {
  return today<decltype(::cudaGraphRemoveDependencies)>("cudaGraphRemoveDependencies", graph, from,
                                                        to, nullptr, count);
}
cudaError_t get_edges_before_13(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                std::size_t* count) {
  return today<decltype(::cudaGraphGetEdges)>("cudaGraphGetEdges", graph, from, to, nullptr, count);
}
cudaError_t get_dependencies_before_13(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                       std::size_t* count) {
  return today<decltype(::cudaGraphNodeGetDependencies)>("cudaGraphNodeGetDependencies", node,
                                                         nodes, nullptr, count);
}
cudaError_t get_dependents_before_13(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                     std::size_t* count) {
  return today<decltype(::cudaGraphNodeGetDependentNodes)>("cudaGraphNodeGetDependentNodes", node,
                                                           nodes, nullptr, count);
}
cudaError_t update_capture_before_13(cudaStream_t stream, cudaGraphNode_t* nodes, std::size_t count,
                                     unsigned flags) {
  return today<decltype(::cudaStreamUpdateCaptureDependencies)>(
      "cudaStreamUpdateCaptureDependencies", stream, nodes, nullptr, count, flags);
}

}  // namespace
}  // namespace api

std::span<const Answer> earlier_graph_answers() {
  static const Answer table[] = {
      answer("cudaGraphAddNode of CUDA 12", &api::add_node_before_13),
      answer("cudaGraphAddDependencies of CUDA 12", &api::add_edges_before_13),
      answer("cudaGraphRemoveDependencies of CUDA 12", &api::remove_edges_before_13),
      answer("cudaGraphGetEdges of CUDA 12", &api::get_edges_before_13),
      answer("cudaGraphNodeGetDependencies of CUDA 12", &api::get_dependencies_before_13),
      answer("cudaGraphNodeGetDependentNodes of CUDA 12", &api::get_dependents_before_13),
      answer("cudaStreamUpdateCaptureDependencies of CUDA 12", &api::update_capture_before_13),
  };
  return table;
}

}  // namespace warpmeter::runtime
