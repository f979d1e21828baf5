// SPDX-License-Identifier: MIT
// NVTX ranges of the program's own; one of them is opened before CUDA is touched.
#include <nvtx3/nvToolsExt.h>
__global__ void step(int* data) { data[threadIdx.x] += 1; }
int main() {
  nvtxRangePushA("whole");
  int* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 9;
  cudaMemset(data, 0, 4096);
  step<<<1, 32>>>(data);
  nvtxRangePushA("solve");
  step<<<1, 64>>>(data);
  step<<<1, 96>>>(data);
  nvtxRangePop();
  step<<<1, 128>>>(data);
  nvtxRangePop();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
