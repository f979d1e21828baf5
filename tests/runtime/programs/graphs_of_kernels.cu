// SPDX-License-Identifier: MIT
// Graphs that kernels of other graphs launch: beside them, behind them, again and again; and what
// is refused.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime_program.h"
__global__ void scale(int* number, int factor, int more) { *number = *number * factor + more; }
__global__ void count(int* number) { atomicAdd(number, 1); }
__global__ void launch_one(cudaGraphExec_t graph, cudaStream_t how, int* results) {
  results[0] = cudaGraphLaunch(graph, how);
}
__global__ void launch_two(cudaGraphExec_t first, cudaGraphExec_t second, cudaStream_t how,
                           int* results) {
  results[0] = cudaGraphLaunch(first, how);
  results[1] = cudaGraphLaunch(second, how);
}
__global__ void again(int* number, int most, int* results) {
  if (++*number < most)
    results[0] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
__global__ void again_beside(int* results) {
  results[0] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphFireAndForget);
}
__global__ void who(cudaGraphExec_t expected, int* results) {
  results[0] = cudaGetCurrentGraphExec() == expected;
  results[1] = cudaGetCurrentGraphExec() == nullptr;
}
__global__ void launches_kernel(int* number) { count<<<1, 1>>>(number); }

namespace {

int* number;   // the number of the device
int* results;  // managed

using Nodes = std::vector<cudaGraphNode_t>;

template <class... Arguments>
cudaGraphNode_t add(cudaGraph_t graph, Nodes after, void (*kernel)(Arguments...),
                    Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(kernel);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(1);
  parameters.kernelParams = pointers;
  cudaGraphNode_t node = nullptr;
  K(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
  return node;
}

/// A graph of one kernel.
template <class... Arguments>
cudaGraph_t graph_of(void (*kernel)(Arguments...), Arguments... arguments) {
  cudaGraph_t graph = nullptr;
  K(cudaGraphCreate(&graph, 0));
  add(graph, {}, kernel, arguments...);
  return graph;
}
cudaGraphExec_t executable(cudaGraph_t graph, unsigned flags) {
  cudaGraphExec_t made = nullptr;
  K(cudaGraphInstantiate(&made, graph, flags));
  return made;
}
/// For kernels, and where they find it.
template <class... Arguments>
cudaGraphExec_t for_kernels(void (*kernel)(Arguments...), Arguments... arguments) {
  cudaGraphExec_t made =
      executable(graph_of(kernel, arguments...), cudaGraphInstantiateFlagDeviceLaunch);
  K(cudaGraphUpload(made, nullptr));
  return made;
}

void begin(int value) {
  results[0] = results[1] = -1;
  K(cudaMemcpy(number, &value, sizeof value, cudaMemcpyHostToDevice));
}
void run(cudaGraphExec_t graph) {
  K(cudaGraphLaunch(graph, nullptr));
  K(cudaDeviceSynchronize());
}
void show(const char* what) {
  int value = 0;
  K(cudaMemcpy(&value, number, sizeof value, cudaMemcpyDeviceToHost));
  std::printf("%s: %d, results %d %d\n", what, value, results[0], results[1]);
}

void launches() {
  const cudaGraphExec_t twice = for_kernels(scale, number, 2, 0),
                        more = for_kernels(scale, number, 1, 1);
  // As the host's.
  begin(5);
  run(twice);
  show("launched by the host");

  begin(5);
  run(executable(graph_of(launch_one, twice, cudaStreamGraphFireAndForget, results), 0));
  show("beside");
  begin(5);
  run(executable(graph_of(launch_one, twice, cudaStreamGraphTailLaunch, results), 0));
  show("behind");
  begin(5);
  run(executable(graph_of(launch_one, twice, cudaStreamGraphFireAndForgetAsSibling, results), 0));
  show("as a sibling");
  begin(5);
  run(executable(graph_of(launch_two, twice, more, cudaStreamGraphTailLaunch, results), 0));
  show("two behind");

  // The graph that a launched graph launches behind itself comes before all that follows it.
  const cudaGraphExec_t nested =
      for_kernels(launch_one, twice, cudaStreamGraphTailLaunch, results + 4);
  begin(5);
  run(executable(graph_of(launch_two, nested, more, cudaStreamGraphTailLaunch, results), 0));
  show("behind one behind");

  // The tail waits for what runs beside, and for the graph's other nodes.
  const cudaGraphExec_t beside =
      for_kernels(launch_one, more, cudaStreamGraphFireAndForget, results + 4);
  cudaGraph_t graph = nullptr;
  K(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t first =
      add(graph, {}, launch_one, twice, cudaStreamGraphTailLaunch, results);
  const cudaGraphNode_t second =
      add(graph, {first}, launch_one, beside, cudaStreamGraphFireAndForget, results + 2);
  const cudaGraphNode_t third = add(graph, {second}, count, number);
  add(graph, {third}, count, number);
  begin(5);
  run(executable(graph, 0));
  show("beside and behind");

  begin(0);
  run(executable(graph_of(again, number, 5, results), cudaGraphInstantiateFlagDeviceLaunch));
  show("again and again");

  // With a copy and a set in it.
  cudaGraph_t mixed = nullptr;
  K(cudaGraphCreate(&mixed, 0));
  cudaGraphNode_t set = nullptr, copy = nullptr;
  cudaMemsetParams wanted{};
  wanted.dst = number + 1;
  wanted.value = 7;
  wanted.elementSize = 4;
  wanted.width = 1;
  wanted.height = 1;
  K(cudaGraphAddMemsetNode(&set, mixed, nullptr, 0, &wanted));
  K(cudaGraphAddMemcpyNode1D(&copy, mixed, &set, 1, number, number + 1, 4,
                             cudaMemcpyDeviceToDevice));
  add(mixed, {copy}, scale, number, 3, 1);
  const cudaGraphExec_t all = executable(mixed, cudaGraphInstantiateFlagDeviceLaunch);
  K(cudaGraphUpload(all, nullptr));
  begin(0);
  run(executable(graph_of(launch_one, all, cudaStreamGraphFireAndForget, results), 0));
  show("with a set and a copy");

  // Kernels know the graph that they run in.
  cudaGraph_t asks = nullptr;
  K(cudaGraphCreate(&asks, 0));
  cudaGraphExec_t none = nullptr;
  cudaGraphNode_t asking = add(asks, {}, who, none, results);
  cudaGraphExec_t asked = executable(asks, cudaGraphInstantiateFlagDeviceLaunch);
  void* arguments[] = {&asked, &results};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(who);
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  K(cudaGraphExecKernelNodeSetParams(asked, asking, &parameters));
  begin(0);
  run(asked);
  show("in a graph for kernels");
  asked = executable(asks, 0);
  K(cudaGraphExecKernelNodeSetParams(asked, asking, &parameters));
  begin(0);
  run(asked);
  show("in a graph of the host");
  begin(0);
  who<<<1, 1>>>(asked, results);
  K(cudaDeviceSynchronize());
  show("in no graph");
  unsigned long long flags = 99;
  K(cudaGraphExecGetFlags(all, &flags));
  std::printf("flags %llu\n", flags);
}

/// Each in a process of its own: most end its work.
void mistake(int number_of_case) {
  const cudaGraphExec_t twice = for_kernels(scale, number, 2, 0);
  cudaGraphExec_t none = nullptr;
  const auto by_graph = [&](cudaGraphExec_t launched, cudaStream_t how) {
    const cudaGraphExec_t made = executable(graph_of(launch_one, launched, how, results), 0);
    begin(5);
    run(made);
  };
  switch (number_of_case) {
    case 1:
      begin(5);
      launch_one<<<1, 1>>>(twice, cudaStreamGraphFireAndForget, results);
      K(cudaGetLastError());
      K(cudaDeviceSynchronize());
      break;
    case 2:
      by_graph(executable(graph_of(scale, number, 2, 0), 0), cudaStreamGraphFireAndForget);
      break;
    case 3:
      by_graph(executable(graph_of(scale, number, 2, 0), cudaGraphInstantiateFlagDeviceLaunch),
               cudaStreamGraphTailLaunch);
      break;
    case 4:
      by_graph(none, cudaStreamGraphFireAndForget);
      break;
    case 5:
    case 6: {
      const cudaStream_t how =
          number_of_case == 5 ? cudaStreamGraphFireAndForget : cudaStreamGraphTailLaunch;
      const cudaGraphExec_t made = executable(graph_of(launch_two, twice, twice, how, results), 0);
      begin(5);
      run(made);
      break;
    }
    case 7:
      by_graph(twice, nullptr);
      break;
    case 8:
      by_graph(twice, reinterpret_cast<cudaStream_t>(0x0400000000000000ull));
      break;
    case 9: {
      const cudaGraphExec_t made =
          executable(graph_of(again_beside, results), cudaGraphInstantiateFlagDeviceLaunch);
      begin(5);
      run(made);
      break;
    }
    case 10: {
      const cudaGraphExec_t made =
          executable(graph_of(launch_one, twice, cudaStreamGraphFireAndForget, results),
                     cudaGraphInstantiateFlagDeviceLaunch);
      begin(5);
      run(made);
      run(made);
      break;
    }
    case 11:
      by_graph(reinterpret_cast<cudaGraphExec_t>(0x1234), cudaStreamGraphFireAndForget);
      break;
    case 12: {
      const cudaGraphExec_t made =
          executable(graph_of(scale, number, 2, 0), cudaGraphInstantiateFlagDeviceLaunch);
      run(made);  // which uploads it
      by_graph(made, cudaStreamGraphTailLaunch);
      break;
    }
  }
  show("then");
  K(cudaGetLastError());
}

void CUDART_CB on_host(void*) {}

void made(const char* what, cudaGraph_t graph,
          unsigned flags = cudaGraphInstantiateFlagDeviceLaunch) {
  cudaGraphExec_t result = nullptr;
  cudaGraphInstantiateParams parameters{};
  parameters.flags = flags;
  const cudaError_t error = cudaGraphInstantiateWithParams(&result, graph, &parameters);
  std::printf("%s = %s, %d, %s\n", what, cudaGetErrorName(error), parameters.result_out,
              parameters.errNode_out != nullptr ? "a node" : "no node");
  cudaGetLastError();
}

void what_cannot_be_made() {
  cudaGraph_t graph = nullptr;
  K(cudaGraphCreate(&graph, 0));
  made("nothing in it", graph);
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams host = {on_host, nullptr};
  K(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  made("a host function", graph);
  K(cudaGraphCreate(&graph, 0));
  K(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  made("an empty node", graph);
  K(cudaGraphCreate(&graph, 0));
  cudaEvent_t event;
  K(cudaEventCreate(&event));
  K(cudaGraphAddEventRecordNode(&node, graph, nullptr, 0, event));
  made("an event", graph);
  K(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory{};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = 1024;
  K(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
  made("an allocation", graph);
  K(cudaGraphCreate(&graph, 0));
  static int pageable;
  int* pinned = nullptr;
  K(cudaMallocHost(&pinned, 4));
  K(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, &pageable, number, 4,
                             cudaMemcpyDeviceToHost));
  made("a copy to the program's memory", graph);
  K(cudaGraphCreate(&graph, 0));
  K(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, pinned, number, 4, cudaMemcpyDeviceToHost));
  made("a copy to pinned memory", graph);
  cudaGraph_t outer = nullptr;
  K(cudaGraphCreate(&outer, 0));
  K(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph_of(scale, number, 2, 0)));
  made("a graph within", outer);
  graph = graph_of(launches_kernel, number);
  made("a kernel that launches kernels", graph);
  graph = graph_of(scale, number, 2, 0);
  made("freed at launches", graph,
       cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagAutoFreeOnLaunch);
  made("with priorities", graph,
       cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUseNodePriority);
  made("uploaded", graph, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload);
}

}  // namespace

int main(int argc, char** argv) {
  K(cudaMalloc(&number, 8));
  K(cudaMallocManaged(&results, 64));
  if (argc > 1) {
    mistake(std::atoi(argv[1]));
    return 0;
  }
  launches();
  what_cannot_be_made();
  K(cudaGetLastError());
}
