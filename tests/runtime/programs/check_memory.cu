// SPDX-License-Identifier: MIT
// Memory of the device, managed and pinned memory that is never freed; memory that is freed twice,
// and memory that cannot be freed.
#include <cstdio>
struct Buffers {
  float* weights = nullptr;
};

int main() {
  Buffers buffers;
  float *d_twice = nullptr, *managed = nullptr, *pinned = nullptr, here = 0;
  for (int i = 0; i < 3; ++i) cudaMalloc(&buffers.weights, 4096);
  cudaMallocManaged(&managed, 100);
  cudaMallocHost(&pinned, 200);
  cudaMalloc(&d_twice, 4096);
  cudaFree(d_twice);
  const cudaError_t twice = cudaFree(d_twice);
  const cudaError_t inside = cudaFree(buffers.weights + 1);
  const cudaError_t of_host = cudaFree(&here);
  std::printf("%d %d %d\n", twice, inside, of_host);
  return 0;
}
