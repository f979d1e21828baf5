// SPDX-License-Identifier: MIT
// Kernels whose work grows with `repeats` alone: products in registers, and copies through device
// memory. A second launch on the same buffers does the same.
extern "C" __global__ void products(float4* to, const float4* from, int vectors, int repeats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = from[i].x, other = sum + 1;
  for (int repeat = 0; repeat < 256 * repeats; ++repeat) {
#pragma unroll
    for (int step = 0; step < 64; ++step) {
      sum = fmaf(other, 0.5f, sum);  // a rotation: neither grows nor fades
      other = fmaf(sum, -0.5f, other);
    }
  }
  if (i < vectors) to[i].x = sum + other;
}

extern "C" __global__ void copies(float4* to, const float4* from, int vectors, int repeats) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
      to[i] = from[i];
    }
    __syncthreads();
  }
}
