// SPDX-License-Identifier: MIT
// A barrier of the whole grid needs a cooperative launch. <<<>>> makes none: a kernel that asks is
// told so, one that does not ends at the barrier.
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void asks(int* valid) { *valid = cg::this_grid().is_valid(); }
__global__ void meets(int* out) {
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

int main() {
  int *d_valid = nullptr, *d_out = nullptr;
  cudaMalloc(&d_valid, sizeof(int));
  cudaMalloc(&d_out, 4 * sizeof(int));
  int valid = -1;
  void* arguments[] = {&d_valid};
  asks<<<1, 1>>>(d_valid);
  cudaMemcpy(&valid, d_valid, sizeof valid, cudaMemcpyDeviceToHost);
  std::printf("<<<>>>: %d\n", valid);
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(asks), dim3(1), dim3(1), arguments, 0,
                              nullptr);
  cudaMemcpy(&valid, d_valid, sizeof valid, cudaMemcpyDeviceToHost);
  std::printf("cooperative: %d\n", valid);
  arguments[0] = &d_out;
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(meets), dim3(4), dim3(32), arguments, 0,
                              nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  meets<<<4, 32>>>(d_out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(d_out);
  cudaFree(d_valid);
}
