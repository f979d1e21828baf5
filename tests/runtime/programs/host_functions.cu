// SPDX-License-Identifier: MIT
// Host functions: in the order of their stream, beside the host thread, without the API; one waits
// for what the host does after what its stream was given, and a stream for another that is slow.
#include <unistd.h>

#include <atomic>
#include <cstdio>
__global__ void add(int* data) { ++*data; }

static std::atomic<int> gate{0};
static int seen = 0;
static cudaError_t inside = cudaSuccess;

static void CUDART_CB wait_for_gate(void*) {
  while (gate.load() == 0) {
  }
}
static void CUDART_CB look(void* data) { seen = *static_cast<int*>(data); }
static void CUDART_CB call(void*) {
  void* memory;
  inside = cudaMalloc(&memory, 4);
}
static void CUDART_CB report(cudaStream_t, cudaError_t status, void* text) {
  std::printf("%s: %s\n", static_cast<const char*>(text), cudaGetErrorName(status));
}

static std::atomic<bool> was_slow{false};
static void CUDART_CB be_slow(void*) {
  usleep(50000);
  was_slow = true;
}

int main() {
  int* data;
  cudaMallocManaged(&data, sizeof(int));
  *data = 0;
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreate(&event);

  // A kernel is loaded when it is first named, which waits for what runs: not behind the gate.
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, add);

  cudaLaunchHostFunc(stream, wait_for_gate, nullptr);
  add<<<1, 1, 0, stream>>>(data);
  cudaLaunchHostFunc(stream, look, data);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event, 0);
  add<<<1, 1, 0, other>>>(data);
  std::printf("query: %s\n", cudaGetErrorName(cudaStreamQuery(stream)));
  std::printf("event: %s\n", cudaGetErrorName(cudaEventQuery(event)));
  std::printf("other: %s\n", cudaGetErrorName(cudaStreamQuery(other)));
  gate = 1;
  cudaStreamSynchronize(other);
  std::printf("seen %d, then %d\n", seen, *data);
  std::printf("query: %s\n", cudaGetErrorName(cudaStreamQuery(stream)));

  cudaLaunchHostFunc(stream, call, nullptr);
  cudaStreamSynchronize(stream);
  std::printf("inside: %s\n", cudaGetErrorName(inside));
  cudaStreamAddCallback(stream, report, const_cast<char*>("callback"), 0);
  std::printf("wait: %s\n", cudaGetErrorName(cudaStreamSynchronize(stream)));

  // In a graph, in the order of its edges.
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t kernel, host;
  cudaKernelNodeParams parameters{};
  void* arguments[] = {&data};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &parameters);
  cudaHostNodeParams function{look, data};
  cudaGraphAddHostNode(&host, graph, &kernel, 1, &function);
  cudaGraphExec_t exec;
  cudaGraphInstantiate(&exec, graph, 0);
  for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, stream);
  std::printf("end: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("seen %d, then %d\n", seen, *data);

  // A stream that follows another, and was given nothing itself, waits all the same.
  cudaLaunchHostFunc(stream, be_slow, nullptr);
  cudaEventRecord(event, stream);
  cudaStreamWaitEvent(other, event, 0);
  std::printf("other: %s\n", cudaGetErrorName(cudaStreamQuery(other)));
  std::printf("other: %s\n", cudaGetErrorName(cudaStreamSynchronize(other)));
  std::printf("was slow: %d\n", was_slow.load());
}
