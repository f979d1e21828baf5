// SPDX-License-Identifier: MIT
// Kernels whose one fault is a stride: the lanes of a warp lie in more sectors than their bytes
// fill. Rewritten, lanes go along a row, through a shared tile where the result needs another
// order, or the structure of arrays takes the place of the array of structures.
__global__ void naive_store(float* out, const float* in, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];  // cause: naive_store
}

template <typename T>
__global__ void naive_load(T* __restrict__ out, const T* __restrict__ in, size_t n) {
  const size_t x = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t y = blockIdx.y;
  if (x >= n) return;
  const T value = in[x * n + y];  // cause: naive_load
  out[y * n + x] = value;
}

__global__ void through_tile(float* out, const float* in, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

struct Particle {
  float position[3];
  float mass;
  float velocity[3];
  float charge;
  int cell, kind, bonds, flags;
  float force[3], age;
};

__global__ void masses_of_structures(float* energy, const Particle* particles, int count,
                                     float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) energy[i] = factor * particles[i].mass;  // cause: masses_of_structures
}

__global__ void masses_of_arrays(float* energy, const float* mass, int count, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) energy[i] = factor * mass[i];
}

__global__ void age_structures(Particle* particles, int count) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    particles[i].flags = count;  // cause: age_structures
  }
}

// A row a thread: the lanes are a row's length apart.
#define COLUMNS 16

__global__ void sums_of_rows(int* sums, const int* matrix, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (int column = 0; column < COLUMNS; column++) {
    sum += matrix[row * COLUMNS + column];  // cause: sums_of_rows
  }
  sums[row] = sum;
}

template <int STRIDE>
__global__ void add_every(float* __restrict__ c, const float* __restrict__ a,
                          const float* __restrict__ b, size_t count) {
  const size_t i = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * STRIDE;
  if (i >= count) return;
  const float left = a[i];   // cause: add_every_2, add_every_8
  const float right = b[i];  // cause: add_every_2, add_every_8
  c[i] = left + right;       // cause: add_every_2, add_every_8
}

__global__ void chunk_of_thread(float* y, const float* x, float a, int per_thread) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  for (int i = first; i < first + per_thread; i++) {
    y[i] = a * x[i];  // cause: chunk_of_thread
  }
}

__global__ void chunk_of_grid(float* y, const float* x, float a, int per_thread) {
  int threads = gridDim.x * blockDim.x;
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < threads * per_thread; i += threads) {
    y[i] = a * x[i];
  }
}

// A tile four columns wide: the lanes are in eight rows of it. 16,384 warps touch half of each of 8
// sectors: 131,072, and 65,536 would do.
__global__ void narrow_tile(float* out, const float* in, int width) {
  const int lane = threadIdx.x % 32, tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int row = 8 * (tile / (width / 4)) + lane / 4, column = 4 * (tile % (width / 4)) + lane % 4;
  out[tile * 32 + lane] = in[row * width + column];  // cause: narrow_tile
}
