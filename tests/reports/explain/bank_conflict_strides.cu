// SPDX-License-Identifier: MIT
// Bank conflicts outside of tiles: strides, exchanges, chunks of a thread, volumes; each beside its
// remedy, as in bank_conflict.cu.
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
