// SPDX-License-Identifier: MIT
// A program as CUDA 12 builds it: linked with libcudart.so.12, whose functions of these names have
// other parameters than today's.
#include <cstdio>
#include <cstring>
using Stream = struct CUstream_st*;

extern "C" {
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, Stream stream);
int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device);
int cudaThreadSynchronize();
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, std::size_t count);
int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, std::size_t count);
int cudaGraphGetEdges(void* graph, void** from, void** to, std::size_t* count);
int cudaGraphNodeGetDependencies(void* node, void** nodes, std::size_t* count);
int cudaGraphicsUnregisterResource(void* resource);
}

int main() {
  struct {
    unsigned char bytes[1032];
    unsigned char behind[64];
  } properties;
  std::memset(&properties, 0xa5, sizeof properties);
  const auto number_at = [&](std::size_t offset) {
    int number = 0;
    std::memcpy(&number, properties.bytes + offset, sizeof number);
    return number;
  };
  std::printf("%d\n", cudaGetDeviceProperties_v2(properties.bytes, 0));
  constexpr std::size_t warp_size = 308, clock_rate = 348, major = 360, multiprocessors = 388;
  std::printf("%d %d %d %d, behind it %x\n", number_at(warp_size), number_at(clock_rate),
              number_at(major), number_at(multiprocessors), properties.behind[0]);
  void* pointer = nullptr;
  std::printf("%d\n", cudaMallocManaged(&pointer, 4096, 1));
  std::printf("%d\n", cudaMemPrefetchAsync(pointer, 4096, 0, nullptr));
  std::printf("%d\n", cudaMemPrefetchAsync(&properties, 64, 0, nullptr));
  std::printf("%d\n", cudaMemAdvise(pointer, 4096, 1, 0));
  std::printf("%d\n", cudaThreadSynchronize());
  void *graph = nullptr, *a = nullptr, *b = nullptr, *from = nullptr, *to = nullptr;
  std::size_t edges = 1, before = 0;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&a, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&b, graph, nullptr, 0);
  std::printf("%d\n", cudaGraphAddDependencies(graph, &a, &b, 1));
  std::printf("%d\n", cudaGraphGetEdges(graph, &from, &to, &edges));
  std::printf("%d\n", cudaGraphNodeGetDependencies(b, nullptr, &before));
  std::printf("%zu from %d to %d, %zu before\n", edges, from == a, to == b, before);
  std::printf("%d\n", cudaGraphicsUnregisterResource(nullptr));
}
