// SPDX-License-Identifier: MIT
// Functions of graphs as CUDA 12 and before called them: edges had no data.
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace earlier {
namespace {

cudaError_t add_node_before_13(Process& process, cudaGraphNode_t* node, cudaGraph_t graph,
                               const cudaGraphNode_t* after, std::size_t count,
                               cudaGraphNodeParams* parameters) {
  return graphs::add_node(process, node, graph, after, nullptr, count, parameters);
}
cudaError_t add_edges_before_13(Process& process, cudaGraph_t graph, const cudaGraphNode_t* from,
                                const cudaGraphNode_t* to, std::size_t count) {
  return edges::add_dependencies(process, graph, from, to, nullptr, count);
}
cudaError_t remove_edges_before_13(Process& process, cudaGraph_t graph, const cudaGraphNode_t* from,
                                   const cudaGraphNode_t* to, std::size_t count) {
  return edges::remove_dependencies(process, graph, from, to, nullptr, count);
}
cudaError_t get_edges_before_13(Process& process, cudaGraph_t graph, cudaGraphNode_t* from,
                                cudaGraphNode_t* to, std::size_t* count) {
  return edges::get_edges(process, graph, from, to, nullptr, count);
}
cudaError_t get_dependencies_before_13(Process& process, cudaGraphNode_t node,
                                       cudaGraphNode_t* nodes, std::size_t* count) {
  return edges::node_get_dependencies(process, node, nodes, nullptr, count);
}
cudaError_t get_dependents_before_13(Process& process, cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                     std::size_t* count) {
  return edges::node_get_dependent_nodes(process, node, nodes, nullptr, count);
}
cudaError_t update_capture_before_13(Process& process, cudaStream_t stream, cudaGraphNode_t* nodes,
                                     std::size_t count, unsigned flags) {
  return captures::update_capture_dependencies(process, stream, nodes, nullptr, count, flags);
}

}  // namespace
}  // namespace earlier

std::vector<Answer> earlier_graph_answers() {
  return {
      ANSWER_AS("cudaGraphAddNode of CUDA 12", earlier::add_node_before_13, Needs::context),
      ANSWER_AS("cudaGraphAddDependencies of CUDA 12", earlier::add_edges_before_13,
                Needs::context),
      ANSWER_LIKE("cuGraphAddDependencies",
                  CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t),
                  earlier::add_edges_before_13, Needs::context),
      ANSWER_AS("cudaGraphRemoveDependencies of CUDA 12", earlier::remove_edges_before_13,
                Needs::context),
      ANSWER_LIKE("cuGraphRemoveDependencies",
                  CUresult(CUgraph, const CUgraphNode*, const CUgraphNode*, std::size_t),
                  earlier::remove_edges_before_13, Needs::context),
      ANSWER_AS("cudaGraphGetEdges of CUDA 12", earlier::get_edges_before_13, Needs::context),
      ANSWER_LIKE("cuGraphGetEdges", CUresult(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*),
                  earlier::get_edges_before_13, Needs::context),
      ANSWER_AS("cudaGraphNodeGetDependencies of CUDA 12", earlier::get_dependencies_before_13,
                Needs::context),
      ANSWER_LIKE("cuGraphNodeGetDependencies", CUresult(CUgraphNode, CUgraphNode*, std::size_t*),
                  earlier::get_dependencies_before_13, Needs::context),
      ANSWER_AS("cudaGraphNodeGetDependentNodes of CUDA 12", earlier::get_dependents_before_13,
                Needs::context),
      ANSWER_LIKE("cuGraphNodeGetDependentNodes", CUresult(CUgraphNode, CUgraphNode*, std::size_t*),
                  earlier::get_dependents_before_13, Needs::context),
      ANSWER_AS("cudaStreamUpdateCaptureDependencies of CUDA 12", earlier::update_capture_before_13,
                Needs::context),
      ANSWER_LIKE("cuStreamUpdateCaptureDependencies",
                  CUresult(CUstream, CUgraphNode*, std::size_t, unsigned),
                  earlier::update_capture_before_13, Needs::context),
  };
}

}  // namespace warpmeter::runtime
