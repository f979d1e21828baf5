// SPDX-License-Identifier: MIT
// Kernels as a course's students and a library's authors write them, one fault each.
// ---- of students

struct Particle {
  float x, y, z;
  float mass;
  float vx, vy, vz;
  int cell;
};

// Kinetic energy of each particle, out of an array of structures.
__global__ void kinetic(const Particle* particles, float* energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Particle& p = particles[i];
  energy[i] = 0.5f * p.mass * (p.vx * p.vx + p.vy * p.vy + p.vz * p.vz);  // cause: kinetic
}

// A volume of depth × height × width, a thread a column of depth: x is the slowest of the threads.
__global__ void project(const float* volume, float* image, int width, int height, int depth) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float best = 0.0f;
  for (int z = 0; z < depth; ++z) {
    best = fmaxf(best, volume[(z * height + y) * width + x]);  // cause: project
  }
  image[y + x * height] = best;
}

// A smooth step over many rounds: one literal of them all lacks its f.
__global__ void relax(float* out, const float* in, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], b = in[i] + 1.0f, c = 0.25f, d = 2.0f;
  for (int r = 0; r < rounds; ++r) {
    a = a * b + c;
    b = fmaf(b, c, a);
    c = c * 0.75f + d * 0.125f;
    d = fabsf(d - a) * 0.25f + c;
    a = fminf(a, 8.0f) + d * c;
    b = b * 0.5f - a * 0.0625f;
    c = fmaxf(c, -b) * 0.3;  // cause: relax
    d = d * c + b * a;
  }
  out[i] = a + b + c + d;
}

// Letters of a text, counted in one table.
__global__ void letters(const unsigned char* text, int* count, int length) {
  int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += stride) {
    atomicAdd(&count[text[i] % 4], 1);  // cause: letters
  }
}

// Odd threads do much more than even ones.
__device__ float polish(float x) {
  for (int i = 0; i < 24; ++i) x = 0.5f * (x + 3.0f / x);
  return x;
}
__global__ void every_second(float* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = data[i];
  if (threadIdx.x % 2 == 1) {  // cause: every_second
    x = polish(x);
  }
  data[i] = x + 1.0f;
}

// The last values of a thread, in a ring.
__global__ void ring_mean(const float* in, float* out, int count, int start) {
  float ring[96];
  for (int k = 0; k < 96; ++k) ring[k] = 0.0f;
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int threads = gridDim.x * blockDim.x;
  int head = start;
  float sum = 0.0f;
  for (int k = 0; k < count; ++k) {
    float value = in[k * threads + thread];
    sum += value - ring[head];  // cause: ring_mean
    ring[head] = value;         // cause: ring_mean
    head = (head + 1 + (value > 4.0f)) % 96;
    out[k * threads + thread] = sum / 96.0f;
  }
}

// ---- of libraries

namespace detail {
// A tile of a matrix in shared memory, with its rows next to each other.
template <typename T, int Rows, int Columns>
struct Tile {
  T cells[Rows * Columns];
  __device__ T& at(int row, int column) { return cells[row * Columns + column]; }
};
}  // namespace detail

// Sums of columns, each warp a column of the tile after the block has read it by rows.
template <typename T, int N>
__global__ void column_sums(const T* __restrict__ matrix, T* __restrict__ sums, int width) {
  __shared__ detail::Tile<T, N, N> tile;
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int row = warp; row < N; row += blockDim.y) {
    tile.at(row, lane) = matrix[(blockIdx.y * N + row) * width + blockIdx.x * N + lane];
  }
  __syncthreads();
  for (int column = warp; column < N; column += blockDim.y) {
    T value = tile.at(lane, column);  // cause: column_sums
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
    if (lane == 0) sums[blockIdx.y * width + blockIdx.x * N + column] = value;
  }
}

// Two arrays in one dynamic buffer: keys as they come, and sixteen counters a thread.
__global__ void private_counts(const int* __restrict__ keys, int* __restrict__ counts,
                               int of_thread) {
  extern __shared__ int buffer[];
  int* staged = buffer;
  int* own = buffer + blockDim.x;
  for (int bin = 0; bin < 16; ++bin) own[bin * blockDim.x + threadIdx.x] = 0;
  for (int k = 0; k < of_thread; ++k) {
    const int at = (blockIdx.x * of_thread + k) * blockDim.x + threadIdx.x;
    const int place = threadIdx.x * 4 % blockDim.x + threadIdx.x * 4 / blockDim.x;
    staged[place] = keys[at];  // cause: private_counts
    __syncthreads();
    own[(k & 15) * blockDim.x + threadIdx.x] += staged[threadIdx.x];
    __syncthreads();
  }
  for (int bin = 0; bin < 16; ++bin) {
    counts[(blockIdx.x * 16 + bin) * blockDim.x + threadIdx.x] =
        own[bin * blockDim.x + threadIdx.x];
  }
}

// A view into a larger image begins one pixel in.
template <typename T>
struct View {
  const T* data;
  int pitch;
  __device__ const T& operator()(int x, int y) const { return data[y * pitch + x]; }
};
__global__ void copy_inner(const float* __restrict__ pixels, float* __restrict__ out, int width,
                           int height) {
  const View<float> image{pixels, width + 32};
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out[y * width + x] = 2.0f * image(x + 1, y + 1);  // cause: copy_inner
  }
}

// Rows of a table, chosen by a list.
template <typename Index>
__global__ void gather(const float* __restrict__ table, const Index* __restrict__ rows,
                       float* __restrict__ out, Index mask) {
  const Index i = blockIdx.x * blockDim.x + threadIdx.x;
  Index row = rows[i];
  row ^= row >> 5;
  row = row * Index{0x9e3779b1} ^ row << 7;
  row ^= row >> 11;
  out[i] = table[row & mask];  // cause: gather
}

// Half-precision bit patterns, negated one by one.
struct Negate {
  __device__ unsigned short operator()(unsigned short bits) const { return bits ^ 0x8000u; }
};
__global__ void negate_halves(unsigned short* __restrict__ out,
                              const unsigned short* __restrict__ in, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Negate op;
  if (i < count) out[i] = op(in[i]);  // cause: negate_halves
}

// Filter taps are read again by every thread for each of its outputs through a pointer that the
// compiler must take to be changed.
__global__ void filter_all(const float* signal, const float* taps, float* out, int outputs) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int o = 0; o < outputs; ++o) {
    float sum = 0.0f;
    for (int k = 0; k < 16; ++k)
      sum += taps[k * 32 + threadIdx.x % 32] * signal[o * threads + thread];  // cause: filter_all
    out[o * threads + thread] = sum;
  }
}

// ---- clean

__global__ void kinetic_of_arrays(const float* __restrict__ mass, const float* __restrict__ speed,
                                  float* __restrict__ energy, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) energy[i] = 0.5f * mass[i] * speed[i] * speed[i];
}

__global__ void project_by_rows(const float* __restrict__ volume, float* __restrict__ image,
                                int width, int height, int depth) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float best = 0.0f;
  for (int z = 0; z < depth; ++z) best = fmaxf(best, volume[(z * height + y) * width + x]);
  image[y * width + x] = best;
}

__global__ void relax_in_floats(float* __restrict__ out, const float* __restrict__ in, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], b = a + 1.0f, c = 0.25f;
  for (int r = 0; r < rounds; ++r) {
    a = a * b + c;
    b = fmaf(b, c, a) * 0.5f;
    c = fmaxf(c, -b) * 0.5f;
  }
  out[i] = a + b + c;
}

template <typename T, int N>
__global__ void column_sums_padded(const T* __restrict__ matrix, T* __restrict__ sums, int width) {
  __shared__ detail::Tile<T, N, N + 1> tile;
  const int lane = threadIdx.x, warp = threadIdx.y;
  for (int row = warp; row < N; row += blockDim.y) {
    tile.at(row, lane) = matrix[(blockIdx.y * N + row) * width + blockIdx.x * N + lane];
  }
  __syncthreads();
  T sum = 0;
  for (int row = 0; row < N; row += 8) sum += tile.at(row + warp, lane);
  tile.at(warp, lane) = sum;
  __syncthreads();
  if (warp == 0) {
    for (int k = 1; k < 8; ++k) sum += tile.at(k, lane);
    sums[blockIdx.y * width + blockIdx.x * N + lane] = sum;
  }
}

__global__ void whole_warps_part(const float* __restrict__ in, float* __restrict__ out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  if (threadIdx.x / 32 % 2 == 1) x = polish(x);
  out[i] = x + 1.0f;
}

template <typename T>
__global__ void saxpy_by_stride(T* __restrict__ y, const T* __restrict__ x, T a, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    y[i] = a * x[i] + y[i];
  }
}
