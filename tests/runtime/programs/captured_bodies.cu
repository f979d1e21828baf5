// SPDX-License-Identifier: MIT
// Streams captured into graphs that are there already: the program's own, and the bodies of nodes
// that branch, whose end nobody needs to be told the graph.
#include "runtime_program.h"
__global__ void add(int* p, int amount) { *p += amount; }
__global__ void step(cudaGraphConditionalHandle handle, const int* count, int end) {
  cudaGraphSetConditional(handle, *count < end);
}

static cudaGraph_t body_of(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                           cudaGraphConditionalNodeType type, const cudaGraphNode_t* after,
                           size_t count, cudaGraphNode_t& node) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = 1;
  R(cudaGraphAddNode(&node, graph, after, nullptr, count, &params));
  return params.conditional.phGraph_out[0];
}

static void launch(cudaGraph_t graph, cudaStream_t stream, const int* p) {
  cudaGraphExec_t executable;
  R(cudaGraphInstantiate(&executable, graph, 0));
  R(cudaGraphLaunch(executable, stream));
  R(cudaStreamSynchronize(stream));
  std::printf("%d %d %d\n", p[0], p[1], p[2]);
  R(cudaGraphExecDestroy(executable));
}

int main() {
  int* p;
  cudaMallocManaged(&p, 64);
  cudaStream_t stream, other;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&other);
  cudaGraph_t graph, ended;
  cudaGraphConditionalHandle handle, inner;
  cudaGraphNode_t node, within;

  // A loop with a branch in it.
  R(cudaGraphCreate(&graph, 0));
  R(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  R(cudaGraphConditionalHandleCreate(&inner, graph, 0, cudaGraphCondAssignDefault));
  const cudaGraph_t loop = body_of(graph, handle, cudaGraphCondTypeWhile, nullptr, 0, node);
  R(cudaStreamBeginCaptureToGraph(stream, loop, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, stream>>>(p, 1);
  step<<<1, 1, 0, stream>>>(inner, p, 3);
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* last;
  size_t count;
  cudaGraph_t captured;
  R(cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, &last, nullptr, &count));
  std::printf("%d %d %zu\n", status == cudaStreamCaptureStatusActive, captured == loop, count);
  const cudaGraph_t branch = body_of(loop, inner, cudaGraphCondTypeIf, last, count, within);
  R(cudaStreamUpdateCaptureDependencies(stream, &within, nullptr, 1,
                                        cudaStreamSetCaptureDependencies));
  R(cudaStreamBeginCaptureToGraph(other, branch, nullptr, nullptr, 0,
                                  cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, other>>>(p + 1, 10);
  R(cudaStreamEndCapture(other, nullptr));
  step<<<1, 1, 0, stream>>>(handle, p, 5);
  R(cudaStreamEndCapture(stream, &ended));
  I(ended == loop);
  size_t nodes;
  R(cudaGraphGetNodes(loop, nullptr, &nodes));
  I(nodes);
  launch(graph, stream, p);
  R(cudaGraphDestroy(graph));

  // A branch that is put into a capture under way: its graph is the stream's until it ends.
  p[0] = p[1] = 0;
  R(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  R(cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, &last, nullptr, &count));
  R(cudaGraphConditionalHandleCreate(&handle, captured, 0, cudaGraphCondAssignDefault));
  step<<<1, 1, 0, stream>>>(handle, p, 1);
  R(cudaStreamGetCaptureInfo(stream, &status, nullptr, &captured, &last, nullptr, &count));
  const cudaGraph_t body = body_of(captured, handle, cudaGraphCondTypeIf, last, count, node);
  R(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                        cudaStreamSetCaptureDependencies));
  R(cudaStreamBeginCaptureToGraph(other, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  add<<<1, 1, 0, other>>>(p + 2, 7);
  R(cudaStreamEndCapture(other, nullptr));
  add<<<1, 1, 0, stream>>>(p, 2);
  R(cudaStreamEndCapture(stream, &graph));
  launch(graph, stream, p);
  launch(graph, stream, p);
  R(cudaGraphDestroy(graph));

  // The program's own graph, behind a node that it has.
  p[0] = p[1] = p[2] = 0;
  R(cudaGraphCreate(&graph, 0));
  R(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  R(cudaStreamBeginCaptureToGraph(stream, graph, &node, nullptr, 1, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(p, 4);
  R(cudaStreamEndCapture(stream, nullptr));
  size_t edges;
  R(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  I(edges);
  launch(graph, stream, p);
  R(cudaGraphDestroy(graph));
}
