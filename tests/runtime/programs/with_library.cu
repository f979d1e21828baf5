// SPDX-License-Identifier: MIT
// Is linked with library_of_kernels.cu, which is initialised before it.
#include <cstdio>

#include <cuda_runtime.h>
extern "C" int sum_of_library();

__global__ void of_program() {}

int main() {
  of_program<<<1, 1>>>();
  std::printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), sum_of_library());
}
