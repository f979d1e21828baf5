// SPDX-License-Identifier: MIT
// Graphs that branch: nodes that run their bodies if, while or as a kernel says.
#include "runtime_program.h"
__global__ void set(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void add(int* p, int amount) { *p += amount; }
__global__ void step(cudaGraphConditionalHandle handle, int* left, int* sum) {
  *sum += *left;
  cudaGraphSetConditional(handle, --*left > 0);
}

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, const void* function,
                              void** arguments) {
  cudaKernelNodeParams params = {};
  params.func = const_cast<void*>(function);
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  R(cudaGraphAddKernelNode(&node, graph, after ? &after : nullptr, after ? 1 : 0, &params));
  return node;
}

static cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  return params;
}

int main() {
  int* p;
  cudaMallocManaged(&p, 64);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle handle;
  const auto run = [&](const char* name, int a) {
    p[0] = a, p[1] = p[2] = p[3] = 0;
    K(cudaGraphLaunch(exec, stream));
    K(cudaStreamSynchronize(stream));
    std::printf("%s %d: %d %d %d %d\n", name, a, p[0], p[1], p[2], p[3]);
  };
  int *value = p, *first = p + 1, *second = p + 2;
  int one = 1, ten = 10;
  // If.
  K(cudaGraphCreate(&graph, 0));
  R(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  void* set_arguments[] = {&handle, &value};
  cudaGraphNode_t before = kernel(graph, nullptr, (const void*)set, set_arguments);
  cudaGraphNodeParams params = conditional(handle, cudaGraphCondTypeIf, 1);
  cudaGraphNode_t node;
  R(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &params));
  void* add_arguments[] = {&first, &one};
  kernel(params.conditional.phGraph_out[0], nullptr, (const void*)add, add_arguments);
  void* after_arguments[] = {&second, &ten};
  kernel(graph, node, (const void*)add, after_arguments);
  R(cudaGraphInstantiate(&exec, graph, 0));
  run("if", 0);
  run("if", 1);
  run("if", 5);
  cudaGraphNodeType type;
  R(cudaGraphNodeGetType(node, &type));
  I(type);
  size_t count = 0;
  R(cudaGraphGetNodes(graph, nullptr, &count));
  I(count);
  K(cudaGraphExecDestroy(exec));
  K(cudaGraphDestroy(graph));
  // If and else.
  K(cudaGraphCreate(&graph, 0));
  R(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  params = conditional(handle, cudaGraphCondTypeIf, 2);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  kernel(params.conditional.phGraph_out[0], nullptr, (const void*)add, add_arguments);
  kernel(params.conditional.phGraph_out[1], nullptr, (const void*)add, after_arguments);
  R(cudaGraphInstantiate(&exec, graph, 0));
  run("by default", 3);
  K(cudaGraphExecDestroy(exec));
  K(cudaGraphDestroy(graph));
  // While.
  K(cudaGraphCreate(&graph, 0));
  R(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  params = conditional(handle, cudaGraphCondTypeWhile, 1);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  void* step_arguments[] = {&handle, &value, &first};
  kernel(params.conditional.phGraph_out[0], nullptr, (const void*)step, step_arguments);
  R(cudaGraphInstantiate(&exec, graph, 0));
  run("while", 5);
  run("while", 1);
  K(cudaGraphExecDestroy(exec));
  K(cudaGraphDestroy(graph));
  // Switch.
  K(cudaGraphCreate(&graph, 0));
  R(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  before = kernel(graph, nullptr, (const void*)set, set_arguments);
  params = conditional(handle, cudaGraphCondTypeSwitch, 2);
  R(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &params));
  kernel(params.conditional.phGraph_out[0], nullptr, (const void*)add, add_arguments);
  kernel(params.conditional.phGraph_out[1], nullptr, (const void*)add, after_arguments);
  R(cudaGraphInstantiate(&exec, graph, 0));
  run("switch", 0);
  run("switch", 1);
  run("switch", 2);
  K(cudaGraphExecDestroy(exec));
  // Mistakes.
  cudaGraphConditionalHandle other;
  R(cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0));
  R(cudaGraphConditionalHandleCreate(&other, nullptr, 0, 0));
  R(cudaGraphConditionalHandleCreate(&other, graph, 0, 7));
  params = conditional(handle, cudaGraphCondTypeIf, 1);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  R(cudaGraphConditionalHandleCreate(&other, graph, 0, 0));
  params = conditional(other, cudaGraphCondTypeIf, 3);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  params = conditional(other, cudaGraphCondTypeWhile, 2);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  params = conditional(other, (cudaGraphConditionalNodeType)9, 1);
  R(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t copy;
  R(cudaGraphClone(&copy, graph));
  K(cudaGraphDestroy(graph));
}
