// SPDX-License-Identifier: MIT
// Sums of 1,024 doubles, one a block, in place: it goes to the block's first element. n may be
// anything; past it, all is zero. The first four go by a tree in shared memory: ten steps, or nine,
// that each halve what is left. They differ in which threads work in a step, and so in how many
// warps it keeps busy and which banks they meet. Every step reads both of its operands from the
// tile and writes the sum back. The steps end where the launch's block does, so that the compiler
// keeps them a loop. The last two sums go by shuffles within warps, which need neither shared
// memory nor barriers; `copy` is no sum at all.
constexpr int tile_size = 1024;  // blockDim.x

// Every (2 × stride)-th thread works: for five steps all 32 warps issue, with ever fewer lanes.
extern "C" __global__ void reduction_neighbored_divergent(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (t % (2 * stride) == 0) tile[t] += tile[t + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}

// The same sums by the first threads: whole warps work or rest, but meet in ever fewer banks.
extern "C" __global__ void reduction_neighbored_strided(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * t;
    if (index < blockDim.x) tile[index] += tile[index + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}

// The first threads, each with the element half of the rest away: neighbours in neighbouring banks.
extern "C" __global__ void reduction_interleaved(double* data, int n) {
  __shared__ double tile[tile_size];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  if (i < static_cast<unsigned>(n)) {
    tile[t] = data[i];
  } else {
    tile[t] = 0;
  }
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) tile[t] += tile[t + stride];
    __syncthreads();
  }
  if (t == 0) data[i] = tile[0];
}

// The same with half the threads: each adds two elements on the way into the tile (Mark Harris,
// Optimizing Parallel Reduction in CUDA, 2007), so that no thread has nothing to do after loading.
extern "C" __global__ void reduction_first_add(double* data, int n) {
  __shared__ double tile[tile_size / 2];
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * tile_size;
  const unsigned i = first + t, j = i + blockDim.x;
  double sum = i < static_cast<unsigned>(n) ? data[i] : 0;
  if (j < static_cast<unsigned>(n)) sum += data[j];
  tile[t] = sum;
  __syncthreads();

  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) tile[t] += tile[t + stride];
    __syncthreads();
  }
  if (t == 0) data[first] = tile[0];
}

// The sum of a warp's lanes, in its first lane.
__device__ __forceinline__ double warp_sum(double value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(0xFFFFFFFF, value, distance);
  }
  return value;
}

// An element a thread; each warp adds its 32, and the first warp adds what 32 warps found: one
// barrier in place of ten.
extern "C" __global__ void reduction_shuffle(double* data, int n) {
  __shared__ double of_warp[32];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  double sum = i < static_cast<unsigned>(n) ? data[i] : 0;
  sum = warp_sum(sum);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();

  if (t < 32) {
    sum = warp_sum(of_warp[t]);
    if (t == 0) data[i] = sum;
  }
}

// A quarter of the threads with four elements each, in two loads of 16 bytes that are both under
// way before either is waited for: eight such blocks fit on a multiprocessor where two of 1,024
// threads do, and while one waits at its barrier the others load.
constexpr unsigned pair_threads = 256;

extern "C" __global__ void __launch_bounds__(pair_threads)
    reduction_shuffle_double2(double* data, int n) {
  constexpr unsigned warps = pair_threads / 32;
  __shared__ double of_warp[warps];
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * 1024;
  double sum = 0;
  if (first + 1024 <= static_cast<unsigned>(n)) {
    const double2* pairs = reinterpret_cast<const double2*>(data + first);
    const double2 a = pairs[t], b = pairs[t + pair_threads];
    sum = (a.x + a.y) + (b.x + b.y);
  } else {
#pragma unroll
    for (unsigned i = 0; i < 1024; i += pair_threads) {
      if (first + i + t < static_cast<unsigned>(n)) sum += data[first + i + t];
    }
  }
  sum = warp_sum(sum);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();

  if (t == 0) {
    sum = 0;
#pragma unroll
    for (unsigned warp = 0; warp < warps; ++warp) sum += of_warp[warp];
    data[first] = sum;
  }
}

// No sum at all: the first half of the vector over the second, as many bytes through memory as a
// sum reads. The bound for the others.
extern "C" __global__ void reduction_copy(double* data, int n) {
  const unsigned half = static_cast<unsigned>(n) / 2;
  const unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (half % 2 == 0) {
    if (i < half) {
      *reinterpret_cast<double2*>(data + half + i) = *reinterpret_cast<const double2*>(data + i);
    }
  } else {
    if (i < half) data[half + i] = data[i];
    if (i + 1 < half) data[half + i + 1] = data[i + 1];
  }
}
