// SPDX-License-Identifier: MIT
// Kernels whose one fault is that many lanes add to one word at once, which the hardware does one
// lane after another. Rewritten, a warp or a block agrees on one number first.
__global__ void add_to_one(int* total, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);  // cause: add_to_one
}

__global__ void add_blocks_to_one(int* total, const int* in, int n) {
  __shared__ int sums[8];
  int i = blockIdx.x * 256 + threadIdx.x;
  int sum = __reduce_add_sync(0xffffffffu, i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = __reduce_add_sync(0xffffffffu, threadIdx.x < 8 ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}

__global__ void add_float_to_one(float* total, const float* x, const float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i] * y[i]);  // cause: add_float_to_one
}

// Weights by four bins for a block, in shared memory.
__global__ void few_shared_bins(int* bins, const int* in, int per_thread) {
  __shared__ int sums[4];
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < per_thread; k++) {
    int value = in[(blockIdx.x * per_thread + k) * blockDim.x + threadIdx.x];
    atomicAdd(&sums[value & 3], value >> 2);  // cause: few_shared_bins
  }
  __syncthreads();
  if (threadIdx.x < 4) bins[blockIdx.x * 8 + threadIdx.x] = sums[threadIdx.x];
}

// Each lane keeps its own sum of each bin; at the end a warp adds them up.
__global__ void few_shared_bins_by_warp(int* bins, const int* in, int per_thread) {
  __shared__ int sums[4];
  if (threadIdx.x < 4) sums[threadIdx.x] = 0;
  __syncthreads();
  int own[4] = {0, 0, 0, 0};
  for (int k = 0; k < per_thread; k++) {
    int value = in[(blockIdx.x * per_thread + k) * blockDim.x + threadIdx.x];
#pragma unroll
    for (int bin = 0; bin < 4; bin++) own[bin] += (value & 3) == bin ? value >> 2 : 0;
  }
  const int lane = threadIdx.x % 32;
  int sum = 0;
#pragma unroll
  for (int bin = 0; bin < 4; bin++) {
    const int whole = __reduce_add_sync(0xffffffffu, own[bin]);
    if (lane == bin) sum = whole;
  }
  if (lane < 4) atomicAdd(&sums[lane], sum);
  __syncthreads();
  if (threadIdx.x < 4) bins[blockIdx.x * 8 + threadIdx.x] = sums[threadIdx.x];
}

template <typename T>
__global__ void few_global_bins(unsigned* __restrict__ bins, const T* __restrict__ in,
                                size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    const unsigned bin = in[i] & 7;
    atomicAdd(bins + bin, 1u);  // cause: few_global_bins
  }
}

__global__ void greatest(int* most, const int* in) {
  int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicMax(most, value);  // cause: greatest
}

__global__ void greatest_of_block(int* most, const int* in) {
  __shared__ int warps[8];
  int value = __reduce_max_sync(0xffffffffu, in[blockIdx.x * 256 + threadIdx.x]);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = __reduce_max_sync(0xffffffffu, warps[threadIdx.x % 8]);
    if (threadIdx.x == 0) atomicMax(most, value);
  }
}
