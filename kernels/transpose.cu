// SPDX-License-Identifier: MIT
// Ways through an out-of-place transpose of a row-major matrix. The first four give a thread one
// element, in blocks of 16 × 16: a warp is two rows of its block, one in lanes 0–15, one in 16–31.
//
// The matrix has `height` rows of `width` elements; the result has `width` rows of `height`. Both
// may be anything: threads outside the matrix load and store nothing, but reach every barrier.
#include <cstddef>

constexpr int tile_side = 16;

// No transpose at all: both sides coalesced, as naive as can be.
extern "C" __global__ void transpose_copy(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * tile_side + threadIdx.x;
  const int y = blockIdx.y * tile_side + threadIdx.y;
  if (x >= width || y >= height) return;

  out[static_cast<std::size_t>(y) * width + x] = in[static_cast<std::size_t>(y) * width + x];
}

// Reads rows, writes columns: each store of a warp touches sixteen rows of the result.
extern "C" __global__ void transpose_naive(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * tile_side + threadIdx.x;
  const int y = blockIdx.y * tile_side + threadIdx.y;
  if (x >= width || y >= height) return;

  out[static_cast<std::size_t>(x) * height + y] = in[static_cast<std::size_t>(y) * width + x];
}

// Turns the tile round in shared memory, so that both global sides are coalesced. The column read
// then meets every second row of the tile in the same bank.
extern "C" __global__ void transpose_tiled(float* out, const float* in, int width, int height) {
  __shared__ float tile[tile_side][tile_side];

  const int x = blockIdx.x * tile_side + threadIdx.x;
  const int y = blockIdx.y * tile_side + threadIdx.y;
  if (x < width && y < height) {
    tile[threadIdx.y][threadIdx.x] = in[static_cast<std::size_t>(y) * width + x];
  }
  __syncthreads();

  const int out_x = blockIdx.y * tile_side + threadIdx.x;
  const int out_y = blockIdx.x * tile_side + threadIdx.y;
  if (out_x < height && out_y < width) {
    out[static_cast<std::size_t>(out_y) * height + out_x] = tile[threadIdx.x][threadIdx.y];
  }
}

// As above, with a row of 17 words: a column of the tile now lies in sixteen banks.
extern "C" __global__ void transpose_tiled_padded(float* out, const float* in, int width,
                                                  int height) {
  __shared__ float tile[tile_side][tile_side + 1];

  const int x = blockIdx.x * tile_side + threadIdx.x;
  const int y = blockIdx.y * tile_side + threadIdx.y;
  if (x < width && y < height) {
    tile[threadIdx.y][threadIdx.x] = in[static_cast<std::size_t>(y) * width + x];
  }
  __syncthreads();

  const int out_x = blockIdx.y * tile_side + threadIdx.x;
  const int out_y = blockIdx.x * tile_side + threadIdx.y;
  if (out_x < height && out_y < width) {
    out[static_cast<std::size_t>(out_y) * height + out_x] = tile[threadIdx.x][threadIdx.y];
  }
}

// As above with tiles of 32 × 32, and four rows of eight threads' distance for each thread: four
// loads are under way before the first is waited for. A warp is one row of the tile, so that its
// column in rows of 33 words lies in 32 banks.
constexpr int large_side = 32;
constexpr int rows_together = 8;  // blockDim.y

extern "C" __global__ void transpose_tiled_rows(float* out, const float* in, int width,
                                                int height) {
  __shared__ float tile[large_side][large_side + 1];

  const int x = blockIdx.x * large_side + threadIdx.x;
  const int y = blockIdx.y * large_side + threadIdx.y;
#pragma unroll
  for (int row = 0; row < large_side; row += rows_together) {
    if (x < width && y + row < height) {
      tile[threadIdx.y + row][threadIdx.x] = in[static_cast<std::size_t>(y + row) * width + x];
    }
  }
  __syncthreads();

  const int out_x = blockIdx.y * large_side + threadIdx.x;
  const int out_y = blockIdx.x * large_side + threadIdx.y;
#pragma unroll
  for (int row = 0; row < large_side; row += rows_together) {
    if (out_x < height && out_y + row < width) {
      out[static_cast<std::size_t>(out_y + row) * height + out_x] =
          tile[threadIdx.x][threadIdx.y + row];
    }
  }
}

// Four neighbours of a row that is `width` long, from column x on: one access of 16 bytes where
// every row begins at a multiple of 16 bytes, else one by one. Elements outside are zero, and is
// not stored.
__device__ __forceinline__ float4 load_four(const float* row, int x, int width) {
  float4 four = {0, 0, 0, 0};
  if (width % 4 == 0) {
    if (x < width) four = *reinterpret_cast<const float4*>(row + x);
  } else {
    if (x < width) four.x = row[x];
    if (x + 1 < width) four.y = row[x + 1];
    if (x + 2 < width) four.z = row[x + 2];
    if (x + 3 < width) four.w = row[x + 3];
  }
  return four;
}

__device__ __forceinline__ void store_four(float* row, int x, int width, float4 four) {
  if (width % 4 == 0) {
    if (x < width) *reinterpret_cast<float4*>(row + x) = four;
  } else {
    if (x < width) row[x] = four.x;
    if (x + 1 < width) row[x + 1] = four.y;
    if (x + 2 < width) row[x + 2] = four.z;
    if (x + 3 < width) row[x + 3] = four.w;
  }
}

// Tiles of 64 × 64 as 16 × 16 squares of 4 × 4, a square a thread. The thread loads its square in
// four rows of 16 bytes, turns it round in registers, and puts the four columns into rows of the
// turned tile; the block then stores whole rows of that, 16 bytes a thread again. Where in its row
// a square's four words lie is exchanged with the row (exclusive or), so that neither side meets a
// bank twice: 512 bytes of a warp take four transactions, the fewest there can be.
constexpr int squares = 16;  // along a side of the tile
constexpr int square_threads = squares * squares;

extern "C" __global__ void __launch_bounds__(square_threads)
    transpose_tiled_float4(float* out, const float* in, int width, int height) {
  __shared__ float4 turned[4 * squares][squares];
  const int left = blockIdx.x * 4 * squares, top = blockIdx.y * 4 * squares;
  const int across = threadIdx.x % squares, down = threadIdx.x / squares;

  float4 row[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    row[i] = {0, 0, 0, 0};
    const int y = top + 4 * down + i;
    if (y < height) {
      row[i] = load_four(in + static_cast<std::size_t>(y) * width, left + 4 * across, width);
    }
  }
  const int place = down ^ across;
  turned[4 * across + 0][place] = {row[0].x, row[1].x, row[2].x, row[3].x};
  turned[4 * across + 1][place] = {row[0].y, row[1].y, row[2].y, row[3].y};
  turned[4 * across + 2][place] = {row[0].z, row[1].z, row[2].z, row[3].z};
  turned[4 * across + 3][place] = {row[0].w, row[1].w, row[2].w, row[3].w};
  __syncthreads();

#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int turned_row = squares * i + down;
    const int y = left + turned_row;
    if (y < width) {
      store_four(out + static_cast<std::size_t>(y) * height, top + 4 * across, height,
                 turned[turned_row][across ^ (turned_row / 4)]);
    }
  }
}

// A copy with 16 bytes a thread and no rows at all: what the memory gives, and so what the others
// could reach at best.
extern "C" __global__ void transpose_copy_float4(float* out, const float* in, int width,
                                                 int height) {
  const std::size_t count = static_cast<std::size_t>(width) * height;
  const std::size_t i = 4 * (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x);
  if (i + 4 <= count) {
    *reinterpret_cast<float4*>(out + i) = *reinterpret_cast<const float4*>(in + i);
  } else {
    if (i < count) out[i] = in[i];
    if (i + 1 < count) out[i + 1] = in[i + 1];
    if (i + 2 < count) out[i + 2] = in[i + 2];
  }
}
