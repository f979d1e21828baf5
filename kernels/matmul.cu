// SPDX-License-Identifier: MIT
// c = a × b for row-major matrices: a is m × k, b is k × n, c is m × n; any of them. The first two
// give a thread one element of c, in blocks of 16 × 16: a warp is two rows. The others give it
// more.
#include <cstddef>

constexpr int tile_side = 16;

// Everything from global memory: each element of a row of a serves sixteen lanes at once, each row
// of b is read again by every row of c.
extern "C" __global__ void matmul_naive(float* c, const float* a, const float* b, int m, int k,
                                        int n) {
  const int col = blockIdx.x * tile_side + threadIdx.x;
  const int row = blockIdx.y * tile_side + threadIdx.y;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += a[static_cast<std::size_t>(row) * k + i] * b[static_cast<std::size_t>(i) * n + col];
  }
  c[static_cast<std::size_t>(row) * n + col] = sum;
}

// Walks along k in tiles that the block loads together, coalesced. Outside the matrices a tile
// holds zeros, which add nothing; threads outside c load and wait like the others.
extern "C" __global__ void matmul_tiled_16(float* c, const float* a, const float* b, int m, int k,
                                           int n) {
  __shared__ float tile_a[tile_side][tile_side];
  __shared__ float tile_b[tile_side][tile_side];
  const int col = blockIdx.x * tile_side + threadIdx.x;
  const int row = blockIdx.y * tile_side + threadIdx.y;

  float sum = 0;
  for (int base = 0; base < k; base += tile_side) {
    const int a_col = base + threadIdx.x;
    const int b_row = base + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] =
        row < m && a_col < k ? a[static_cast<std::size_t>(row) * k + a_col] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        b_row < k && col < n ? b[static_cast<std::size_t>(b_row) * n + col] : 0.0f;
    __syncthreads();

    for (int i = 0; i < tile_side; ++i) {
      sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    }
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<std::size_t>(row) * n + col] = sum;
}

// From here on a thread keeps a square of c in registers: what it loads from shared memory then
// serves a row or a column of the square, not one product. All accesses are of 16 bytes.

// Four neighbours of a row, from `col` on; what lies outside the matrix is zero. Rows of a multiple
// of four elements begin at multiples of 16 bytes, and four neighbours are inside or outside
// together.
__device__ __forceinline__ float4 load_four(const float* matrix, int row, int col, int rows,
                                            int cols) {
  float4 four = {0, 0, 0, 0};
  if (row >= rows) return four;
  const float* from = matrix + static_cast<std::size_t>(row) * cols + col;
  if (cols % 4 == 0) {
    if (col < cols) four = *reinterpret_cast<const float4*>(from);
  } else {
    if (col < cols) four.x = from[0];
    if (col + 1 < cols) four.y = from[1];
    if (col + 2 < cols) four.z = from[2];
    if (col + 3 < cols) four.w = from[3];
  }
  return four;
}

__device__ __forceinline__ void store_four(float* matrix, int row, int col, int rows, int cols,
                                           const float* four) {
  if (row >= rows) return;
  float* to = matrix + static_cast<std::size_t>(row) * cols + col;
  if (cols % 4 == 0) {
    if (col < cols) *reinterpret_cast<float4*>(to) = {four[0], four[1], four[2], four[3]};
  } else {
    if (col < cols) to[0] = four[0];
    if (col + 1 < cols) to[1] = four[1];
    if (col + 2 < cols) to[2] = four[2];
    if (col + 3 < cols) to[3] = four[3];
  }
}

// A thread has `squares` × `squares` squares of 4 × 4 elements of the block's tile of c, 16 rows
// and 32 columns from each other; a warp's 4 × 8 lanes lie between. Lanes 0, 2, 4, … 14 are beside
// each other and 1, 3, 5, … 15 below them: half a warp reads 128 neighbouring bytes of b and two
// words of 16 bytes of a, a transaction each.
//
// The block walks along k in steps of `depth`. While it multiplies one step, the loads of the next
// are under way to registers. The tile of a is turned round, so that what a thread needs of it lies
// side by side.
template <int squares, int warps_down, int warps_across, int depth>
__device__ __forceinline__ void multiply_in_registers(float* c, const float* a, const float* b,
                                                      int m, int k, int n) {
  constexpr int threads = 32 * warps_down * warps_across, side = 4 * squares;
  constexpr int warp_rows = 4 * side, warp_cols = 8 * side;
  constexpr int rows = warps_down * warp_rows, cols = warps_across * warp_cols;
  constexpr int loads_a = rows * depth / 4 / threads, loads_b = cols * depth / 4 / threads;
  __shared__ __align__(16) float tile_a[depth][rows + 4];
  __shared__ __align__(16) float tile_b[depth][cols];

  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int top = blockIdx.y * rows, left = blockIdx.x * cols;
  const int row = warp / warps_across * warp_rows + 4 * (lane % 2 + lane / 16 * 2);
  const int col = warp % warps_across * warp_cols + 4 * (lane / 2 % 8);

  float4 next_a[loads_a], next_b[loads_b];
  const auto load = [&](int base) {
#pragma unroll
    for (int i = 0; i < loads_a; ++i) {
      const int four = t + i * threads;
      next_a[i] = load_four(a, top + four / (depth / 4), base + four % (depth / 4) * 4, m, k);
    }
#pragma unroll
    for (int i = 0; i < loads_b; ++i) {
      const int four = t + i * threads;
      next_b[i] = load_four(b, base + four / (cols / 4), left + four % (cols / 4) * 4, k, n);
    }
  };
  const auto keep = [&] {
#pragma unroll
    for (int i = 0; i < loads_a; ++i) {
      const int four = t + i * threads, of_k = four % (depth / 4) * 4, of_m = four / (depth / 4);
      tile_a[of_k + 0][of_m] = next_a[i].x;
      tile_a[of_k + 1][of_m] = next_a[i].y;
      tile_a[of_k + 2][of_m] = next_a[i].z;
      tile_a[of_k + 3][of_m] = next_a[i].w;
    }
#pragma unroll
    for (int i = 0; i < loads_b; ++i) {
      const int four = t + i * threads;
      *reinterpret_cast<float4*>(&tile_b[four / (cols / 4)][four % (cols / 4) * 4]) = next_b[i];
    }
  };

  float sum[side][side] = {};
  load(0);
  for (int base = 0; base < k; base += depth) {
    keep();
    __syncthreads();
    load(base + depth);
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      float of_a[side], of_b[side];
#pragma unroll
      for (int s = 0; s < squares; ++s) {
        *reinterpret_cast<float4*>(of_a + 4 * s) =
            *reinterpret_cast<const float4*>(&tile_a[i][row + 16 * s]);
        *reinterpret_cast<float4*>(of_b + 4 * s) =
            *reinterpret_cast<const float4*>(&tile_b[i][col + 32 * s]);
      }
#pragma unroll
      for (int y = 0; y < side; ++y) {
#pragma unroll
        for (int x = 0; x < side; ++x) sum[y][x] += of_a[y] * of_b[x];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < side; ++y) {
#pragma unroll
    for (int s = 0; s < squares; ++s) {
      store_four(c, top + row + y / 4 * 16 + y % 4, left + col + 32 * s, m, n, sum[y] + 4 * s);
    }
  }
}

// Tiles of 64 × 64, a square of 4 × 4 a thread: eight values loaded for 16 products.
extern "C" __global__ void __launch_bounds__(256)
    matmul_registers_64x64(float* c, const float* a, const float* b, int m, int k, int n) {
  multiply_in_registers<1, 4, 2, 16>(c, a, b, m, k, n);
}

// Tiles of 64 × 128, 8 × 8 a thread: 16 values loaded for 64 products. Three blocks of 128 threads
// on a multiprocessor, small enough to give all of them work at 1,024.
extern "C" __global__ void __launch_bounds__(128, 3)
    matmul_registers_64x128(float* c, const float* a, const float* b, int m, int k, int n) {
  multiply_in_registers<2, 2, 2, 16>(c, a, b, m, k, n);
}

// Tiles of 128 × 128, 8 × 8 a thread: each element of a and b is loaded by fewer blocks. Worth it
// where there are enough tiles for every multiprocessor.
extern "C" __global__ void __launch_bounds__(256, 2)
    matmul_registers_128x128(float* c, const float* a, const float* b, int m, int k, int n) {
  multiply_in_registers<2, 4, 2, 8>(c, a, b, m, k, n);
}
