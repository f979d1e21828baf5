// SPDX-License-Identifier: MIT
// One kernel, whose loads lie as far apart as the data say: four times next to each other, three
// times 8 floats apart.
#include <cuda_runtime.h>

__global__ void load(float* out, const float* in, const int* step) {
  out[threadIdx.x] = in[threadIdx.x * *step];
}

int main() {
  float *out = nullptr, *in = nullptr;
  int* step = nullptr;
  cudaMalloc(&out, 128);
  cudaMalloc(&in, 1024);
  cudaMalloc(&step, 4);
  cudaMemset(in, 0, 1024);
  const int near = 1, far = 8;
  cudaMemcpy(step, &near, 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 4; ++i) load<<<1, 32>>>(out, in, step);
  cudaMemcpy(step, &far, 4, cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) load<<<1, 32>>>(out, in, step);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
