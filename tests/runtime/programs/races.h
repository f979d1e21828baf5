// SPDX-License-Identifier: MIT
// Cases of programs with several streams: each is a function that leaves nothing under way, so that
// one program holds many.
#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define CHECKED(call)                                                \
  do {                                                               \
    const cudaError_t status = call;                                 \
    if (status != cudaSuccess) {                                     \
      std::printf("%d: %s\n", __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                  \
    }                                                                \
  } while (false)

constexpr int count = 1024;
constexpr std::size_t bytes = count * sizeof(int);

__global__ void fill(int* to, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = value + i;
}

__global__ void add(int* to, const int* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] += from[i];
}

__global__ void move(int* to, const int* from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

/// Every second element, from the first or the second on.
__global__ void fill_every_second(int* to, int n, int first) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + first;
  if (i < n) to[i] = i;
}

inline int blocks(int n) { return (n + 127) / 128; }

/// Buffers and two streams, which are gone behind the case.
struct Case {
  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  int *x = nullptr, *y = nullptr;  ///< set on the device
  int* pinned = nullptr;
  int* host = static_cast<int*>(std::calloc(count, sizeof(int)));

  explicit Case(unsigned flags = cudaStreamDefault) {
    CHECKED(cudaStreamCreateWithFlags(&a, flags));
    CHECKED(cudaStreamCreateWithFlags(&b, flags));
    CHECKED(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECKED(cudaMalloc(&x, bytes));
    CHECKED(cudaMalloc(&y, bytes));
    CHECKED(cudaMallocHost(&pinned, bytes));
    for (int i = 0; i < count; ++i) pinned[i] = i;
    CHECKED(cudaMemset(x, 0, bytes));
    CHECKED(cudaMemset(y, 0, bytes));
    CHECKED(cudaDeviceSynchronize());
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() {
    CHECKED(cudaDeviceSynchronize());
    CHECKED(cudaStreamDestroy(a));
    CHECKED(cudaStreamDestroy(b));
    CHECKED(cudaEventDestroy(event));
    CHECKED(cudaFree(x));
    CHECKED(cudaFree(y));
    CHECKED(cudaFreeHost(pinned));
    std::free(host);
  }
};

/// The work of a captured function on streams, made executable.
template <class Work>
cudaGraphExec_t captured(cudaStream_t stream, const Work& work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  CHECKED(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  work();
  CHECKED(cudaStreamEndCapture(stream, &graph));
  CHECKED(cudaGraphInstantiate(&executable, graph, 0));
  CHECKED(cudaGraphDestroy(graph));
  return executable;
}
