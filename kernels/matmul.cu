// c = a × b for row-major matrices: a is m × k, b is k × n, c is m × n; any of them. One thread an
// element of c, blocks of 16 × 16, so that a warp is two rows of sixteen.

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
