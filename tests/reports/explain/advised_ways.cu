// SPDX-License-Identifier: MIT
// Kernels, each followed by itself rewritten as explain advises in words: kinds of findings whose
// change explain does not try itself. The finding foretells what the accesses would cost at best.
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)

// ---- global memory

/// The values begin behind a header of one word.
__global__ void behind_header(float* out, const float* in) { out[HERE] = in[HERE + 1]; }
__global__ void behind_padded_header(float* out, const float* in) { out[HERE] = in[HERE + 8]; }

/// Five points: all but the first were in sectors that the warp has fetched.
__global__ void five_points(float* out, const float* in) {
  const float* at = in + HERE + 2;
  out[HERE] = at[-2] + at[-1] + at[0] + at[1] + at[2];
}
/// A warp brings its 36 values once.
__global__ void five_points_in_tile(float* out, const float* in) {
  __shared__ float tile[8][36];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  tile[warp][lane] = in[HERE];
  if (lane < 4) tile[warp][32 + lane] = in[HERE + 32];
  __syncwarp();
  float sum = 0;
  for (int k = 0; k < 5; k++) sum += tile[warp][lane + k];
  out[HERE] = sum;
}

/// All eight warps of a block fetch the same 32 rows.
__global__ void with_all_rows(float* out, const float* in) {
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = 0; k < 32; k++)
    sum += in[blockIdx.x * 1024 + k * 32 + lane] * (threadIdx.x / 32 + k);
  out[HERE] = sum;
}
__global__ void with_all_rows_in_tile(float* out, const float* in) {
  __shared__ float rows[1024];
  const int lane = threadIdx.x % 32;
  for (int k = threadIdx.x; k < 1024; k += 256) rows[k] = in[blockIdx.x * 1024 + k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 32; k++) sum += rows[k * 32 + lane] * (threadIdx.x / 32 + k);
  out[HERE] = sum;
}

/// The store may be to what `in` points to, so that each round loads again.
__global__ void powers(float* out, const float* in, int n) {
#pragma unroll 1
  for (int k = 0; k < 8; k++) out[k * n + HERE] = in[HERE] * k;
}
__global__ void powers_of_variable(float* out, const float* in, int n) {
  const float value = in[HERE];
#pragma unroll 1
  for (int k = 0; k < 8; k++) out[k * n + HERE] = value * k;
}

/// Each round stores the sum so far.
__global__ void running_sums(float* out, const float* in, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) {
    sum += in[k * n + HERE];
    out[HERE] = sum;
  }
}
__global__ void running_sums_of_register(float* out, const float* in, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += in[k * n + HERE];
  out[HERE] = sum;
}

/// 1,229 is prime to 4,096: neighbouring lanes are far apart.
__global__ void without_order(float* out, const float* in, const int* place) {
  out[HERE] = in[place[HERE] * 1229 % 4096];
}
__global__ void in_order(float* out, const float* in, const int* place) {
  out[HERE] = in[place[HERE]];
}

// ---- execution

/// The odd elements work longer.
__global__ void odd_lanes(float* out, const float* in) {
  float v = in[HERE];
  if (threadIdx.x % 2 == 1) {
#pragma unroll 1
    for (int k = 0; k < 64; k++) v = v * 0.5f + 1;
  }
  out[HERE] = v;
}
/// They lie together: all lanes of every other warp.
__global__ void odd_warps(float* out, const float* in) {
  float v = in[HERE];
  if (threadIdx.x / 32 % 2 == 1) {
#pragma unroll 1
    for (int k = 0; k < 64; k++) v = v * 0.5f + 1;
  }
  out[HERE] = v;
}

__global__ void by_literal(float* out, const float* in) {
  float v = in[HERE];
#pragma unroll 1
  for (int k = 0; k < 16; k++) v = v * 0.5 + 1.5;
  out[HERE] = v;
}
__global__ void by_float_literal(float* out, const float* in) {
  float v = in[HERE];
#pragma unroll 1
  for (int k = 0; k < 16; k++) v = v * 0.5f + 1.5f;
  out[HERE] = v;
}

/// A loop that is not unrolled: its index is not known, and the array lies in local memory.
__global__ void polynomial(float* out, const float* in) {
  float factors[8];
#pragma unroll 1
  for (int k = 0; k < 8; k++) factors[k] = in[k * 4096 + HERE];
  float sum = 0;
#pragma unroll 1
  for (int k = 7; k >= 0; k--) sum = sum * 3 + factors[k];
  out[HERE] = sum;
}
__global__ void polynomial_unrolled(float* out, const float* in) {
  float factors[8];
#pragma unroll
  for (int k = 0; k < 8; k++) factors[k] = in[k * 4096 + HERE];
  float sum = 0;
#pragma unroll
  for (int k = 7; k >= 0; k--) sum = sum * 3 + factors[k];
  out[HERE] = sum;
}

/// 96 values that all rounds use, and 64 registers for them.
template <int VALUES>
__device__ void products_around(float* out, const float* in) {
  float v[VALUES];
#pragma unroll
  for (int k = 0; k < VALUES; k++) v[k] = in[k * 4096 + HERE];
#pragma unroll 1
  for (int round = 0; round < 4; round++) {
#pragma unroll
    for (int k = 0; k < VALUES; k++) v[k] = v[k] * v[(k + 1) % VALUES] + v[(k + 5) % VALUES];
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < VALUES; k++) sum += v[k];
  out[HERE] = sum;
}
__global__ void __launch_bounds__(1024) without_registers(float* out, const float* in) {
  products_around<96>(out, in);
}
__global__ void __launch_bounds__(256) with_registers(float* out, const float* in) {
  products_around<96>(out, in);
}

/// 48,000 bytes of shared memory, of which 256 are used.
__global__ void large_share(float* out, const float* in) {
  __shared__ float room[12000];
  room[threadIdx.x] = in[HERE];
  __syncthreads();
  float v = 0;
#pragma unroll 1
  for (int k = 0; k < 64; k++) v += room[(threadIdx.x + k) % blockDim.x];
  out[HERE] = v;
}
__global__ void small_share(float* out, const float* in) {
  __shared__ float room[64];
  room[threadIdx.x] = in[HERE];
  __syncthreads();
  float v = 0;
#pragma unroll 1
  for (int k = 0; k < 64; k++) v += room[(threadIdx.x + k) % blockDim.x];
  out[HERE] = v;
}

/// By blocks of 40 threads and of 64; by 100 blocks of 256 and by 200 of 128.
__global__ void scaled(float* out, const float* in, int n) {
  const int i = HERE;
  if (i < n) out[i] = in[i] * 3;
}

/// Four neighbours go to one place: a warp to eight.
__global__ void most_of_key(int* out, const int* key, const int* in) {
  atomicMax(&out[key[HERE] / 4 % 64], in[HERE]);
}
__global__ void most_of_key_of_warp(int* out, const int* key, const int* in) {
  const int place = key[HERE] / 4 % 64;
  const unsigned mask = __match_any_sync(~0u, place);
  const int most = __reduce_max_sync(mask, in[HERE]);
  if (__ffs(mask) - 1 == threadIdx.x % 32) atomicMax(&out[place], most);
}
