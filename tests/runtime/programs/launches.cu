// SPDX-License-Identifier: MIT
// Plain use of the runtime: memory, symbols, streams, events, managed memory, printf.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>
__constant__ float factor;
__device__ int launches;

__global__ void scale(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) {
    launches += 1;
    printf("scaling %d numbers\n", n);
  }
  if (i < n) out[i] = factor * in[i];
}

int main() {
  constexpr int n = 1024;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<float>(i);
  float *in = nullptr, *out = nullptr, *managed = nullptr;
  const float three = 3;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMallocManaged(&managed, n * sizeof(float));
  cudaMemcpyToSymbol(factor, &three, sizeof three);
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale<<<n / 256, 256>>>(out, in, n);
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  cudaStreamCreate(&stream);
  cudaEventCreate(&done);
  scale<<<n / 256, 256, 0, stream>>>(managed, out, n);
  cudaEventRecord(done, stream);
  cudaStreamWaitEvent(nullptr, done, 0);
  cudaDeviceSynchronize();
  int count = 0;
  cudaMemcpyFromSymbol(&count, launches, sizeof count);
  std::printf("%g %g, %d launches, %s\n", managed[1], managed[n - 1], count,
              cudaGetErrorName(cudaGetLastError()));
}
