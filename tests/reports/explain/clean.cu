// SPDX-License-Identifier: MIT
// Kernels without a fault, in the styles of courses and of libraries: what explain must leave in
// peace. Global accesses are whole rows, shared ones free of bank conflicts, no lane works alone
// for long, and there are blocks enough.
__global__ void vector_add(float* c, const float* a, const float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

template <typename T>
__global__ void saxpy(size_t count, T a, const T* __restrict__ x, T* __restrict__ y) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += stride)
    y[i] = a * x[i] + y[i];
}

__global__ void copy_float4(float4* __restrict__ out, const float4* __restrict__ in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

#define TILE 32
#define ROWS 8

__global__ void transpose_padded(float* out, const float* in, int n) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += ROWS) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T, unsigned SIDE>
__global__ void transpose_swizzled(T* __restrict__ out, const T* __restrict__ in, size_t width,
                                   size_t height) {
  __shared__ T tile[SIDE * SIDE];
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  tile[ty * SIDE + (tx ^ ty)] = in[(blockIdx.y * SIDE + ty) * width + blockIdx.x * SIDE + tx];
  __syncthreads();
  out[(blockIdx.x * SIDE + ty) * height + blockIdx.y * SIDE + tx] = tile[tx * SIDE + (ty ^ tx)];
}

__global__ void __launch_bounds__(1024, 2)
    product_tiled(float* c, const float* a, const float* b, int n, int depth) {
  __shared__ float As[TILE][TILE + 1], Bs[TILE][TILE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  float sum = 0;
  for (int first = 0; first < depth; first += TILE) {
    As[ty][tx] = a[y * depth + first + tx];
    Bs[ty][tx] = b[(first + ty) * n + x];
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// Reductions.

__device__ __forceinline__ float sum_of_warp(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance >>= 1)
    value += __shfl_down_sync(0xffffffffu, value, distance);
  return value;
}

__global__ void sum_by_shuffles(float* __restrict__ sums, const float* __restrict__ in) {
  __shared__ float of_warps[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = sum_of_warp(in[blockIdx.x * 256 + threadIdx.x]);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = sum_of_warp(lane < 8 ? of_warps[lane] : 0);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

// The third kernel of the well-known talk on reductions.
__global__ void block_sum(int* out, const int* in) {
  __shared__ int sdata[256];
  unsigned int tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void dot(float* partial, const float* x, const float* y, int n) {
  __shared__ float cache[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i] * y[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int i = blockDim.x / 2; i != 0; i /= 2) {
    if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = cache[0];
}

__global__ void argmax_of_warp(int* where, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float most = in[i];
  int place = i;
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, most, distance);
    const int other_place = __shfl_xor_sync(0xffffffffu, place, distance);
    const bool better = other > most || (other == most && other_place < place);
    most = better ? other : most;
    place = better ? other_place : place;
  }
  where[i] = place;
}

// Scans.

__global__ void block_scan(int* out, const int* in) {
  __shared__ int buffers[2][256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t, now = 0;
  buffers[0][t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    int value = buffers[now][t];
    if (t >= distance) value += buffers[now][t - distance];
    buffers[1 - now][t] = value;
    now = 1 - now;
    __syncthreads();
  }
  out[i] = buffers[now][t];
}

template <typename T>
__global__ void warp_scan(T* __restrict__ out, const T* __restrict__ in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  T sum = in[i];
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance <<= 1) {
    const T before = __shfl_up_sync(0xffffffffu, sum, distance);
    sum += lane >= distance ? before : T(0);
  }
  out[i] = sum;
}

// Element by element.

__global__ void move_particles(float* __restrict__ x, float* __restrict__ y,
                               const float* __restrict__ vx, const float* __restrict__ vy,
                               int count, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  x[i] += vx[i] * dt;
  y[i] += vy[i] * dt;
}

__global__ void fill(int* out, int value, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = value;
}

__global__ void iota(unsigned* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = i;
}

__global__ void clamp(float* data, float low, float high, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = fminf(fmaxf(data[i], low), high);
}

__global__ void axpby(float2* out, const float2* x, const float2* y, float a, float b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 u = x[i], v = y[i];
  out[i] = make_float2(a * u.x + b * v.x, a * u.y + b * v.y);
}

__global__ void count_bits(int* counts, const unsigned* words, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) counts[i] = __popc(words[i]);
}

__global__ void choose(int* out, const int* a, const int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int left = a[i], right = b[i];
  out[i] = left % 2 == 0 ? left - right : left + right;
}

template <typename T, int DEGREE>
__global__ void polynomial(T* __restrict__ out, const T* __restrict__ in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = in[i];
  T y = T(1);
#pragma unroll
  for (int k = DEGREE; k > 0; --k) y = y * x + T(k);
  out[i] = y;
}

// Through shared memory.

__global__ void reverse_blocks(float* out, const float* in) {
  __shared__ float line[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  line[t] = in[i];
  __syncthreads();
  out[i] = line[255 - t];
}

#define RADIUS 4

__global__ void stencil_shared(int* out, const int* in) {
  __shared__ int temp[256 + 2 * RADIUS];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  temp[t] = in[i];
  if (t < 2 * RADIUS) temp[t + 256] = in[i + 256];
  __syncthreads();
  int result = 0;
  for (int offset = 0; offset <= 2 * RADIUS; offset++) result += temp[t + offset];
  out[i] = result;
}

__constant__ float taps[8];

__global__ void convolve_constant(float* __restrict__ out, const float* __restrict__ in) {
  extern __shared__ float line[];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  line[t] = in[i];
  if (t < 8) line[t + blockDim.x] = in[i + blockDim.x];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += taps[k] * line[t + k];
  out[i] = sum;
}

// Counters of each thread a row apart, so that no two lanes meet; then a warp adds up a bin.
__global__ void histogram_of_8(int* counts, const int* in, int per_thread) {
  __shared__ int bins[8][256];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
#pragma unroll
  for (int b = 0; b < 8; b++) bins[b][t] = 0;
  for (int k = 0; k < per_thread; k++) bins[in[(blockIdx.x * per_thread + k) * 256 + t] & 7][t]++;
  __syncthreads();
  int sum = 0;
  for (int k = lane; k < 256; k += 32) sum += bins[warp][k];
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (lane == 0) counts[blockIdx.x * 8 + warp] = sum;
}

// A row of 128 by a warp, four numbers a lane.
__global__ void softmax(float4* __restrict__ out, const float4* __restrict__ in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 v = in[i];
  float most = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, distance));
  v.x = __expf(v.x - most), v.y = __expf(v.y - most), v.z = __expf(v.z - most),
  v.w = __expf(v.w - most);
  float sum = v.x + v.y + v.z + v.w;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  const float scale = 1.0f / sum;
  out[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
}
