// SPDX-License-Identifier: MIT
// No mistake: everything is set, synchronised, freed and looked at.
#include <cstdio>
#include <vector>
__global__ void sums_of_blocks(const float* in, float* out, int n) {
  __shared__ float part[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

int main() {
  const int n = 1000, blocks = (n + 255) / 256;
  std::vector<float> in(n, 1.0f), out(blocks);
  float *d_in = nullptr, *d_out = nullptr, *pinned = nullptr;
  cudaMalloc(&d_in, n * sizeof(float));
  cudaMalloc(&d_out, blocks * sizeof(float));
  cudaMallocHost(&pinned, blocks * sizeof(float));
  cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sums_of_blocks<<<blocks, 256>>>(d_in, d_out, n);
  if (cudaGetLastError() != cudaSuccess) return 1;
  cudaMemcpy(pinned, d_out, blocks * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (int i = 0; i < blocks; ++i) sum += pinned[i];
  cudaFreeHost(pinned);
  cudaFree(d_in);
  cudaFree(d_out);
  std::printf("sum %g\n", sum);
  return sum == n ? 0 : 1;
}
