// SPDX-License-Identifier: MIT
// Kernels whose one fault is a bank conflict in shared memory, each with the same kernel as the
// remedy has it: rows padded by some words, columns exclusive-ored with the row (swizzle), or the
// array stored the other way round (transpose). All global accesses are whole rows.
#define TILE 32

// Columns of square tiles.

__global__ void column_of_square(float* out, const float* in, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];  // cause: column_of_square
}

__global__ void column_of_square_padded(float* out, const float* in, int n) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void column_of_square_swizzled(float* out, const float* in, int n) {
  __shared__ float tile[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

// A warp holds two rows of 16: padding by a word leaves two wavefronts to each request, the swizzle
// one.
__global__ void column_of_16(float* out, const float* in, int n) {
  __shared__ float block[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  block[ty][tx] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
  __syncthreads();
  float value = block[tx][ty];  // cause: column_of_16
  out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = value;
}

__global__ void column_of_16_swizzled(float* out, const float* in, int n) {
  __shared__ float block[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  block[ty][tx ^ ty] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
  __syncthreads();
  float value = block[tx][ty ^ tx];
  out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = value;
}

// A library's transpose: any type, rows of 8 threads that take four rows each.
template <typename T, int SIDE, int PAD>
__global__ void transpose_rows(T* __restrict__ out, const T* __restrict__ in, size_t width,
                               size_t height) {
  __shared__ T staged[SIDE][SIDE + PAD];
  const size_t x = static_cast<size_t>(blockIdx.x) * SIDE + threadIdx.x;
  const size_t y = static_cast<size_t>(blockIdx.y) * SIDE + threadIdx.y;
#pragma unroll
  for (int row = 0; row < SIDE; row += 8)
    staged[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  __syncthreads();
  const size_t to_x = static_cast<size_t>(blockIdx.y) * SIDE + threadIdx.x;
  const size_t to_y = static_cast<size_t>(blockIdx.x) * SIDE + threadIdx.y;
#pragma unroll
  for (int row = 0; row < SIDE; row += 8) {
    const T value =
        staged[threadIdx.x][threadIdx.y + row];  // cause: rows_int, rows_float, rows_double
    out[(to_y + row) * height + to_x] = value;
  }
}

__global__ void column_of_float2(float2* out, const float2* in, int n) {
  __shared__ float2 complex_tile[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  complex_tile[ty][tx] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
  __syncthreads();
  float2 z = complex_tile[tx][ty];  // cause: column_of_float2
  z.y = -z.y;
  out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = z;
}

__global__ void column_of_float2_padded(float2* out, const float2* in, int n) {
  __shared__ float2 complex_tile[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  complex_tile[ty][tx] = in[(blockIdx.y * 16 + ty) * n + blockIdx.x * 16 + tx];
  __syncthreads();
  float2 z = complex_tile[tx][ty];
  z.y = -z.y;
  out[(blockIdx.x * 16 + ty) * n + blockIdx.y * 16 + tx] = z;
}

// 32 rows of 128 bytes become 128 rows of 32; bytes move in fours between global memory and the
// tile.
template <int PITCH>
__global__ void transpose_bytes(unsigned* out, const unsigned* in) {
  __shared__ __align__(4) unsigned char bytes[32][PITCH];
  const int t = threadIdx.x;
  in += blockIdx.x * 1024;
  out += blockIdx.x * 1024;
  for (int i = t; i < 1024; i += 256)
    *reinterpret_cast<unsigned*>(&bytes[i / 32][i % 32 * 4]) = in[i];
  __syncthreads();
  for (int i = t; i < 1024; i += 256) {
    const int column = i / 8, first = i % 8 * 4;
    unsigned word = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      word |= bytes[first + k][column] << (8 * k);  // cause: bytes_in_columns
    out[i] = word;
  }
}

// Rectangles.

__global__ void rectangle_8x32(float* out, const float* in, int n) {
  __shared__ float tile[8][32];
  int t = threadIdx.y * 32 + threadIdx.x, first = blockIdx.x * 256;
  if (first + t >= n) return;
  tile[threadIdx.y][threadIdx.x] = in[first + t];
  __syncthreads();
  out[first + t] = tile[t % 8][t / 8];  // cause: rectangle_8x32
}

__global__ void rectangle_8x32_padded(float* out, const float* in, int n) {
  __shared__ float tile[8][36];
  int t = threadIdx.y * 32 + threadIdx.x, first = blockIdx.x * 256;
  if (first + t >= n) return;
  tile[threadIdx.y][threadIdx.x] = in[first + t];
  __syncthreads();
  out[first + t] = tile[t % 8][t / 8];
}

// Here padding by a word costs the stores a second wavefront, which the swizzle does not.
__global__ void rectangle_32x8(float* out, const float* in, int n) {
  __shared__ float tile[32][8];
  int t = threadIdx.y * 8 + threadIdx.x, first = blockIdx.x * 256;
  if (first + t >= n) return;
  tile[threadIdx.y][threadIdx.x] = in[first + t];
  __syncthreads();
  out[first + t] = tile[t % 32][t / 32];  // cause: rectangle_32x8
}

__global__ void rectangle_32x8_padded(float* out, const float* in, int n) {
  __shared__ float tile[32][9];
  int t = threadIdx.y * 8 + threadIdx.x, first = blockIdx.x * 256;
  if (first + t >= n) return;
  tile[threadIdx.y][threadIdx.x] = in[first + t];
  __syncthreads();
  out[first + t] = tile[t % 32][t / 32];
}

__global__ void rectangle_32x8_swizzled(float* out, const float* in, int n) {
  __shared__ float tile[32][8];
  int t = threadIdx.y * 8 + threadIdx.x, first = blockIdx.x * 256;
  if (first + t >= n) return;
  tile[threadIdx.y][threadIdx.x ^ (threadIdx.y >> 2)] = in[first + t];
  __syncthreads();
  int row = t % 32;
  out[first + t] = tile[row][t / 32 ^ (row >> 2)];
}

template <int PITCH>
__global__ void rows_of_64(float* __restrict__ out, const float* __restrict__ in) {
  __shared__ float plane[32 * PITCH];
  in += blockIdx.x * 2048u;
  out += blockIdx.x * 2048u;
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) plane[i / 64 * PITCH + i % 64] = in[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 2048; i += blockDim.x) {
    out[i] = plane[i % 32 * PITCH + i / 32];  // cause: rows_of_64
  }
}

// Stores, and loads and stores.

__global__ void store_to_column(int* out, const int* in, int n) {
  __shared__ int s[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  s[tx][ty] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];  // cause: store_to_column
  __syncthreads();
  out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = s[ty][tx];
}

__global__ void store_to_column_padded(int* out, const int* in, int n) {
  __shared__ int s[32][33];
  int tx = threadIdx.x, ty = threadIdx.y;
  s[tx][ty] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
  __syncthreads();
  out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = s[ty][tx];
}

__global__ void both_in_columns(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = (blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx;
  tile[tx][ty] = in[i];  // cause: both_in_columns
  __syncthreads();
  out[i] = tile[tx][31 - ty];  // cause: both_in_columns
}

__global__ void both_in_columns_transposed(float* out, const float* in, int n) {
  __shared__ float tile[32][32];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = (blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx;
  tile[ty][tx] = in[i];
  __syncthreads();
  out[i] = tile[31 - ty][tx];
}

// Arrays inside of something else.

struct Stage {
  int filled;
  float values[32][32];
};

struct PaddedStage {
  int filled;
  float values[32][33];
};

template <class S>
__global__ void tile_in_struct(float* out, const float* in, int n) {
  __shared__ S stage;
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (tx + ty == 0) stage.filled = n;
  stage.values[ty][tx] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
  __syncthreads();
  if (stage.filled != n) return;
  out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] =
      stage.values[tx][ty];  // cause: tile_in_struct
}

// One dynamic buffer, two arrays: only the first is read by columns.
__global__ void two_in_buffer(float* out, const float* in, int n, int pitch) {
  extern __shared__ float buffer[];
  float* tile = buffer;
  float* weights = buffer + 32 * pitch;
  int tx = threadIdx.x, ty = threadIdx.y;
  if (ty == 0) weights[tx] = tx + 1;
  tile[ty * pitch + tx] = in[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx];
  __syncthreads();
  float value = tile[tx * pitch + ty];  // cause: two_in_buffer
  out[(blockIdx.x * 32 + ty) * n + blockIdx.y * 32 + tx] = value * weights[tx];
}

// Rows of raw bytes taken as whatever type is wanted, with a grid-stride loop over tiles.
template <typename T>
__global__ void raw_bytes(T* __restrict__ out, const T* __restrict__ in, size_t tiles,
                          unsigned pitch) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* const rows = reinterpret_cast<T*>(raw);
  for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const T* const from = in + tile * 1024;
    T* const to = out + tile * 1024;
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x)
      rows[(i >> 5) * pitch + (i & 31)] = from[i];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) {
      to[i] = rows[(i & 31) * pitch + (i >> 5)];  // cause: raw_bytes
    }
    __syncthreads();
  }
}

// A class around the array: the access stands in its method, the mistake where that is called.
template <typename T, int ROWS, int COLUMNS>
struct Tile {
  T data[ROWS][COLUMNS];
  __device__ __forceinline__ T& at(int row, int column) {
    return data[row][column];  // cause: method
  }
};

template <typename T, int ROWS, int COLUMNS>
struct SwizzledTile {
  T data[ROWS][COLUMNS];
  __device__ __forceinline__ T& at(int row, int column) { return data[row][column ^ row]; }
};

template <class TileType>
__device__ __forceinline__ float column_element(TileType& tile) {
  return tile.at(threadIdx.x, threadIdx.y);  // cause: method
}

template <class TileType>
__global__ void method(float* __restrict__ out, const float* __restrict__ in, int n) {
  __shared__ TileType tile;
  tile.at(threadIdx.y, threadIdx.x) =
      in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  const float value = column_element(tile);  // cause: method
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = value;
}
