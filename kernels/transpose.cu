// Four ways through an out-of-place transpose of a row-major matrix, one thread an element, blocks
// of 16 × 16. A warp is two rows of its block: lanes 0–15 are one row of the tile, 16–31 the next.
//
// The matrix has `height` rows of `width` elements; the result has `width` rows of `height`. Both
// may be anything: threads outside the matrix load and store nothing, but reach every barrier.

#include <cstddef>

constexpr int tile_side = 16;

// No transpose at all: both sides coalesced. What the others could reach at best.
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
