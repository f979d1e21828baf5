// SPDX-License-Identifier: MIT
// Launches whose one fault is the grid: of one block, and of four, however much there is to do.
__global__ void scale_all(float* out, const float* in, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = a * in[i];
}

template <typename T, int BLOCK>
__global__ void running_difference(T* __restrict__ out, const T* __restrict__ a,
                                   const T* __restrict__ b, size_t count) {
  for (size_t i = blockIdx.x * size_t{BLOCK} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * BLOCK) {
    out[i] = a[i] - b[i];
  }
}
