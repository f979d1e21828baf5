// SPDX-License-Identifier: MIT
// Kernels whose one fault is that few warps fit on a multiprocessor at a time: a block of two warps
// with much shared memory, or very many registers a thread. No line of the source is to blame.
__global__ void large_tile(float* out, const float* in) {
  __shared__ float tile[10 * 1024];
  const int t = threadIdx.x;
  tile[t + 64 * (t % 32)] = in[blockIdx.x * 64 + t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = 2 * tile[t + 64 * (t % 32)];
}

__global__ void __launch_bounds__(256)
    many_registers(float* out, const float* in, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[160];
#pragma unroll
  for (int k = 0; k < 160; k++) v[k] = in[(k & 3) * n + i] * (k + 0.5f);
#pragma unroll 1
  for (int round = 0; round < rounds; round++) {
#pragma unroll
    for (int k = 0; k < 160; k++) v[k] = fmaf(v[k], v[(k + 1) % 160], v[(k + 7) % 160]);
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 160; k++) sum += v[k];
  out[i] = sum;
}
