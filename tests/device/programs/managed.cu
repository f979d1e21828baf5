// SPDX-License-Identifier: MIT
// Memory of every other kind, changed in place: managed, from a pool, mapped from the host, and a
// variable of the module.
#include <cstdio>
__device__ int total;
__global__ void step(int* data) {
  data[threadIdx.x] += 1;
  if (threadIdx.x == 0) atomicAdd(&total, 1);
}
int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *managed = nullptr, *pooled = nullptr, *mapped = nullptr, value = 0, launches = 0;
  if (cudaMallocManaged(&managed, 4096) != cudaSuccess) return 9;
  if (cudaMallocAsync(&pooled, 4096, stream) != cudaSuccess) return 9;
  if (cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped) != cudaSuccess) return 9;
  for (int i = 0; i < 1024; ++i) managed[i] = mapped[i] = 0;
  cudaMemsetAsync(pooled, 0, 4096, stream);
  for (int i = 0; i < 3; ++i) {
    for (int* data : {managed, pooled, mapped}) step<<<1, 256, 0, stream>>>(data);
  }
  cudaMemcpyAsync(&value, pooled, sizeof value, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpyFromSymbol(&launches, total, sizeof launches);
  std::printf("%d %d %d %d\n", managed[0], value, mapped[0], launches);
  return managed[0] == 3 && value == 3 && mapped[0] == 3 && launches == 9 ? 0 : 1;
}
