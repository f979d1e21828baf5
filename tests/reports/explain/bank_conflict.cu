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

// Strides.

__global__ void pairs(float* out, const float2* in, float scale) {
  __shared__ float2 points[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  points[t] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 1; k <= 4; k++) sum += points[(t + k) & 255].x;  // cause: pairs
#pragma unroll 1
  for (int k = 1; k <= 4; k++) sum -= scale * points[(t + k) & 255].y;  // cause: pairs
  out[i] = sum;
}

__global__ void pairs_transposed(float* out, const float2* in, float scale) {
  __shared__ float points[2][256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  float2 point = in[i];
  points[0][t] = point.x;
  points[1][t] = point.y;
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 1; k <= 4; k++) sum += points[0][(t + k) & 255];
#pragma unroll 1
  for (int k = 1; k <= 4; k++) sum -= scale * points[1][(t + k) & 255];
  out[i] = sum;
}

// The second kernel of the well-known talk on reductions; the third, which has none of this, is
// block_sum of clean.cu.
__global__ void strided_reduction(int* out, const int* in) {
  __shared__ int sdata[256];
  unsigned int tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];  // cause: strided_reduction
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

// Counters of each thread side by side, and the most frequent bin of each thread.
__global__ void thread_histogram(int* out, const int* in, int n, int per_thread) {
  __shared__ int hist[256 * 16];
  int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
  for (int b = 0; b < 16; b++) hist[tid * 16 + b] = 0;  // cause: thread_histogram
  for (int k = 0; k < per_thread; k++) {
    int bin = in[k * n + i] & 15;
    hist[tid * 16 + bin]++;  // cause: thread_histogram
  }
  int best = 0, most = -1;
  for (int b = 0; b < 16; b++) {
    int count = hist[tid * 16 + b];  // cause: thread_histogram
    if (count > most) most = count, best = b;
  }
  out[i] = best;
}

__global__ void thread_histogram_transposed(int* out, const int* in, int n, int per_thread) {
  __shared__ int hist[16 * 256];
  int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
  for (int b = 0; b < 16; b++) hist[b * 256 + tid] = 0;
  for (int k = 0; k < per_thread; k++) {
    int bin = in[k * n + i] & 15;
    hist[bin * 256 + tid]++;
  }
  int best = 0, most = -1;
  for (int b = 0; b < 16; b++) {
    int count = hist[b * 256 + tid];
    if (count > most) most = count, best = b;
  }
  out[i] = best;
}

// A radix-8 step: each thread writes its eight results side by side.
#define POINTS 2048

__global__ void fft_exchange(float* out, const float* in) {
  __shared__ float line[POINTS / 32][32];
  int t = threadIdx.x;
  in += blockIdx.x * POINTS;
  out += blockIdx.x * POINTS;
  for (int k = 0; k < 8; k++) {
    int i = 8 * t + k;
    line[i / 32][i % 32] = in[t + 256 * k];  // cause: fft_exchange
  }
  __syncthreads();
  for (int k = 0; k < 8; k++) {
    int i = t + 256 * k;
    out[i] = line[i / 32][i % 32];
  }
}

__global__ void fft_exchange_padded(float* out, const float* in) {
  __shared__ float line[POINTS / 32][33];
  int t = threadIdx.x;
  in += blockIdx.x * POINTS;
  out += blockIdx.x * POINTS;
  for (int k = 0; k < 8; k++) {
    int i = 8 * t + k;
    line[i / 32][i % 32] = in[t + 256 * k];
  }
  __syncthreads();
  for (int k = 0; k < 8; k++) {
    int i = t + 256 * k;
    out[i] = line[i / 32][i % 32];
  }
}

// Butterflies over distances of 1, 2, … 16: each of both elements costs two wavefronts.
__global__ void butterflies(float* __restrict__ out, const float* __restrict__ in) {
  __shared__ float wave[512];
  const int t = threadIdx.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * 512;
  wave[t] = in[first + t];
  wave[t + 256] = in[first + t + 256];
  __syncthreads();
#pragma unroll 1
  for (int distance = 1; distance <= 16; distance *= 2) {
    const int i = t / distance * (2 * distance) + t % distance;
    const float a = wave[i];             // cause: butterflies
    const float b = wave[i + distance];  // cause: butterflies
    wave[i] = a + b;                     // cause: butterflies
    wave[i + distance] = a - b;          // cause: butterflies
    __syncthreads();
  }
  out[first + t] = wave[t];
  out[first + t + 256] = wave[t + 256];
}

// Each thread adds up a chunk of its own.
__global__ void own_chunk(int* out, const int* in, int n) {
  __shared__ int chunk[64][32];
  const int t = threadIdx.x;
  const int* const from = in + blockIdx.x * 2048;
  for (int i = t; i < 2048; i += 256) chunk[i / 32][i % 32] = from[i];
  __syncthreads();
  const int row = t % 64, first = t / 64 * 8;
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    sum = sum * 3 + chunk[row][first + k];  // cause: own_chunk
  }
  out[blockIdx.x * 256 + t] = sum;
}

__global__ void own_chunk_padded(int* out, const int* in, int n) {
  __shared__ int chunk[64][33];
  const int t = threadIdx.x;
  const int* const from = in + blockIdx.x * 2048;
  for (int i = t; i < 2048; i += 256) chunk[i / 32][i % 32] = from[i];
  __syncthreads();
  const int row = t % 64, first = t / 64 * 8;
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    sum = sum * 3 + chunk[row][first + k];
  }
  out[blockIdx.x * 256 + t] = sum;
}

__global__ void own_chunk_padded_by_4(int* out, const int* in, int n) {
  __shared__ int chunk[64][36];
  const int t = threadIdx.x;
  const int* const from = in + blockIdx.x * 2048;
  for (int i = t; i < 2048; i += 256) chunk[i / 32][i % 32] = from[i];
  __syncthreads();
  const int row = t % 64, first = t / 64 * 8;
  int sum = 0;
  for (int k = 0; k < 8; k++) {
    sum = sum * 3 + chunk[row][first + k];
  }
  out[blockIdx.x * 256 + t] = sum;
}

// Rows times rows: C = A * transpose(B), where a row of B's tile belongs to a lane.
template <int PITCH>
__global__ void __launch_bounds__(1024, 2)
    rows_times_rows(float* c, const float* a, const float* b, int n, int depth) {
  __shared__ float As[32][32], Bs[32][PITCH];
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int first = 0; first < depth; first += 32) {
    As[ty][tx] = a[(blockIdx.y * 32 + ty) * depth + first + tx];
    Bs[ty][tx] = b[(blockIdx.x * 32 + ty) * depth + first + tx];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += As[ty][k] * Bs[tx][k];  // cause: rows_times_rows
    __syncthreads();
  }
  c[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx] = sum;
}

// Three dimensions, the first and the last exchanged.

__global__ void cube(float* out, const float* in) {
  __shared__ float cells[8][8][8];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = blockIdx.x * 512 + (z * 8 + y) * 8 + x;
  cells[z][y][x] = in[i];
  __syncthreads();
  out[i] = cells[x][y][z];  // cause: cube
}

__global__ void cube_padded(float* out, const float* in) {
  __shared__ float cells[8][8 * 8 + 1];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = blockIdx.x * 512 + (z * 8 + y) * 8 + x;
  cells[z][y * 8 + x] = in[i];
  __syncthreads();
  out[i] = cells[x][y * 8 + z];
}

__global__ void cube_swizzled(float* out, const float* in) {
  __shared__ float cells[8][8][8];
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  const int i = blockIdx.x * 512 + (z * 8 + y) * 8 + x;
  cells[z][y][x ^ z] = in[i];
  __syncthreads();
  out[i] = cells[x][y][z ^ x];
}

// A plane of a volume, read along z.
template <typename T, int PAD>
__global__ void planes(T* __restrict__ out, const T* __restrict__ in, unsigned count) {
  __shared__ T volume[4][8][32 + PAD];
  const unsigned t = threadIdx.x;
  for (unsigned brick = blockIdx.x; brick < count; brick += gridDim.x) {
    const T* const from = in + brick * 1024u;
    for (unsigned i = t; i < 1024; i += 256) volume[i / 256][i / 32 % 8][i % 32] = from[i];
    __syncthreads();
    T* const to = out + brick * 1024u;
    for (unsigned i = t; i < 1024; i += 256) {
      to[i] = volume[i % 4][i / 4 % 8][i / 32];  // cause: planes
    }
    __syncthreads();
  }
}
