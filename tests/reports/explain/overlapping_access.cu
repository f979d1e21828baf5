// SPDX-License-Identifier: MIT
// Kernels whose one fault is that a warp's loads overlap: each neighbour comes from global memory
// in a load of its own, and these touch the same sectors. Rewritten, a block loads its part once
// into shared memory.
#define RADIUS 5

__global__ void stencil(int* out, const int* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) {
    sum += (k + 2) * in[i + k];  // cause: stencil
  }
  out[i] = sum;
}

__global__ void stencil_tiled(int* out, const int* in, int n) {
  __shared__ int tile[256 + 2 * RADIUS];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t] = in[i];
  if (t < 2 * RADIUS) tile[t + 256] = in[i + 256];
  __syncthreads();
  if (i >= n) return;
  int sum = 0;
  for (int k = 0; k <= 2 * RADIUS; k++) {
    sum += (k + 2) * tile[t + k];
  }
  out[i] = sum;
}

// 5 × 5 neighbours; a block is a part of one row, so that its warps share nothing but their edges.
// A warp fetches 4 + 4 × 5 sectors of each of 5 rows (at dx = 0 it begins where a sector does), and
// of each row 5 are new to it. There are 16,384 warps: 1,966,080 sectors, and 409,600 would do.
__global__ void convolve_5x5(float* out, const float* image, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float sum = 0;
  for (int dy = 0; dy < 5; dy++)
    for (int dx = 0; dx < 5; dx++) {
      sum += (dx * 5 + dy) * image[(y + dy) * (width + 8) + x + dx];  // cause: convolve_5x5
    }
  out[y * width + x] = sum;
}

// Weights by template, unrolled, as a library has it. The numbers on the right are 8 loads of a
// warp, the first of 4 sectors and the others, which begin in the middle of one, of 5: 39 sectors,
// and 5 would do. There are 16,384 warps: 638,976 sectors, and 81,920 would do. Each begins in the
// middle of a sector as well, which costs 14 of the 74 sectors of both sides. These are 1,212,416
// of all warps; the 46 numbers of both sides lie in 6 sectors: 98,304 would do.
template <typename T, int TAPS>
__global__ void finite_difference(T* __restrict__ out, const T* __restrict__ in, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    T sum{};
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
      const T right = in[i + 16 + k];  // cause: finite_difference
      const T left = in[i + 16 - k];   // cause: finite_difference
      sum += T(TAPS - k) * (right - left);
    }
    out[i] = sum;
  }
}
