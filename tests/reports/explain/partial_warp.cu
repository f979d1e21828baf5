// SPDX-License-Identifier: MIT
// Launches whose one fault is the block: 48 threads are a warp and a half, 100 three warps and an
// eighth.
__global__ void add_48(float* c, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// 10 × 10 threads, two floats each.
__global__ void halve_10_by_10(float2* __restrict__ out, const float2* __restrict__ in) {
  const unsigned i = blockIdx.x * 100 + threadIdx.y * 10 + threadIdx.x;
  const float2 pair = in[i];
  out[i] = make_float2(0.5f * pair.x, 0.5f * pair.y);
}
