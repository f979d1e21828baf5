// SPDX-License-Identifier: MIT
// Kernels as in libraries and applications, one fault each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#include <type_traits>
namespace lib {

template <typename T, int R, int C>
class SharedMatrix {
  T storage_[R * C];

 public:
  __device__ T get(int r, int c) const { return storage_[r * C + c]; }  // cause: warp_colmax
  __device__ void set(int r, int c, T v) { storage_[r * C + c] = v; }
};

// Largest of each column, lane = row.
template <typename T>
__global__ void warp_colmax(T* __restrict__ out, const T* __restrict__ in, int ld) {
  __shared__ SharedMatrix<T, 32, 32> m;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int r = warp; r < 32; r += 8)
    m.set(r, lane, in[(blockIdx.y * 32 + r) * ld + blockIdx.x * 32 + lane]);
  __syncthreads();
  for (int c = warp; c < 32; c += 8) {
    T v = m.get(lane, c);  // cause: warp_colmax
    for (int d = 16; d > 0; d >>= 1) {
      T o = __shfl_xor_sync(0xffffffffu, v, d);
      v = o > v ? o : v;
    }
    if (lane == 0) out[blockIdx.y * ld + blockIdx.x * 32 + c] = v;
  }
}

// A functor with strided views.
template <typename T>
struct StridedView {
  T* data;
  long stride;
  __device__ T& operator[](long i) const { return data[i * stride]; }  // cause: axpy_views
};
template <typename T>
__global__ void axpy_views(StridedView<T> y, StridedView<const T> x, T a, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n;
       i += (long)gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];  // cause: axpy_views
}
__global__ void axpy_float(float* y, const float* x, float a, long n, long s) {
  StridedView<float> yv{y, s};
  StridedView<const float> xv{x, s};
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n;
       i += (long)gridDim.x * blockDim.x)
    yv[i] = a * xv[i] + yv[i];  // cause: axpy_views
}

// CSR with a thread a row.
__global__ void csr_scalar(int rows, const int* __restrict__ ptr, const int* __restrict__ col,
                           const double* __restrict__ val, const double* __restrict__ x,
                           double* __restrict__ y) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double s = 0;
  for (int j = r * 16; j < r * 16 + 16; ++j) s += val[j] * x[col[j]];  // cause: csr_scalar
  y[r] = s;
}

// bfloat16 to float, one each.
template <typename In, typename Out>
__global__ void convert(Out* __restrict__ out, const In* __restrict__ in, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<Out>(in[i]);  // cause: convert_bf16
}

// Rope: pairs of halves, taken one by one.
__global__ void rotary(__half* q, const float* cs, const float* sn) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float a = __half2float(q[2 * i]);      // cause: rotary
  const float b = __half2float(q[2 * i + 1]);  // cause: rotary
  const float c = cs[i % 64], s = sn[i % 64];
  q[2 * i] = __float2half(a * c - b * s);      // cause: rotary
  q[2 * i + 1] = __float2half(a * s + b * c);  // cause: rotary
}

// Attention scores: keys row by row for each thread.
template <int D>
__global__ void scores(float* s, const float* q, const float* k, int keys) {
  const int key = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0;
#pragma unroll 4
  for (int d = 0; d < D; ++d) acc += q[blockIdx.y * D + d] * k[key * D + d];  // cause: scores
  s[blockIdx.y * keys + key] = acc;
}

// Layer norm whose gamma is loaded by all the rows of a block.
__global__ void scale_shift(float* out, const float* in, const float* gamma, int cols,
                            int rows_per_block) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    for (int r = threadIdx.y; r < rows_per_block; r += blockDim.y)
      out[(blockIdx.x * rows_per_block + r) * cols + c] =
          in[(blockIdx.x * rows_per_block + r) * cols + c] * gamma[c];  // cause: scale_shift
}

// Compensated sums, stored every step for whoever wants to look.
template <typename T>
__global__ void kahan(T* sum, T* err, const T* x, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  T s = 0, c = 0;
  for (int k = 0; k < steps; ++k) {
    const T y = x[k * n + i] - c;
    const T t = s + y;
    c = (t - s) - y;
    s = t;
    sum[i] = s;  // cause: kahan
    err[i] = c;  // cause: kahan
  }
}

// A lookup table in shared memory of all threads, read at a stride of 8.
template <int STRIDE>
__global__ void lut_stride(int* out, const int* in) {
  __shared__ int table[256 * STRIDE];
  for (int i = threadIdx.x; i < 256 * STRIDE; i += 256) table[i] = in[i];
  __syncthreads();
  int v = 0;
  for (int k = 0; k < 16; ++k) v += table[((threadIdx.x + k) & 255) * STRIDE];  // cause: lut_stride
  out[blockIdx.x * 256 + threadIdx.x] = v;
}

// Roots to a tolerance: nearly all of these lanes take as many steps.
__device__ __forceinline__ float newton_root(float a) {
  float x = a > 1 ? a : 1.f;
  while (fabsf(x * x - a) > 1e-3f * a) x = 0.5f * (x + __fdividef(a, x));
  return x;
}
__global__ void roots(float* r, const float* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  r[i] = newton_root(a[i]);
}

// Work by type of the lane: odd lanes take the slow path.
template <bool SLOW>
__device__ float path(float v) {
  if (SLOW) {
#pragma unroll 1
    for (int k = 0; k < 16; ++k) v = sqrtf(v + k);
    return v;
  }
  return v * 2;
}
__global__ void two_paths(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (threadIdx.x & 1)  // cause: two_paths
    v = path<true>(v);
  else
    v = path<false>(v);
  x[i] = v;
}

// Queue of work: every thread asks for an item.
__global__ void work_queue(int* next, float* items, int n) {
  while (true) {
    const int i = atomicAdd(next, 1);  // cause: work_queue
    if (i >= n) return;
    items[i] = items[i] * 2 + 1;
  }
}

// Sums by key in shared memory with eight keys of floats.
template <int KEYS>
__global__ void sum_by_key(float* sums, const int* key, const float* value, int per) {
  __shared__ float acc[KEYS];
  if (threadIdx.x < KEYS) acc[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < per; ++k) {
    const int i = (blockIdx.x * per + k) * blockDim.x + threadIdx.x;
    atomicAdd(&acc[key[i]], value[i]);  // cause: sum_by_key
  }
  __syncthreads();
  if (threadIdx.x < KEYS) atomicAdd(&sums[threadIdx.x], acc[threadIdx.x]);
}

// Polynomial of doubles in a template that was meant for floats.
template <typename T>
__device__ T smoothstep(T a) {
  return a * a * (3.0 - 2.0 * a);  // cause: smooth
}
template <typename T>
__global__ void smooth(T* out, const T* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = smoothstep(in[i]);  // cause: smooth
}

// FIR with a delay line of the thread's own, indexed by a moving head.
template <int N>
struct DelayLine {
  float data[N];
  int head;
  __device__ void push(float v) {
    data[head] = v;  // cause: fir_state
    head = (head + 1) % N;
  }
  __device__ float tap(int k) const { return data[(head + k) % N]; }  // cause: fir_state
};
__global__ void fir_state(float* y, const float* x, int n, int steps, int head) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  DelayLine<12> line;
  line.head = head;
#pragma unroll
  for (int k = 0; k < 12; ++k) line.data[k] = 0;  // cause: fir_state
  for (int s = 0; s < steps; ++s) {
    line.push(x[s * n + i]);                                  // cause: fir_state
    y[s * n + i] = line.tap(0) * 0.5f + line.tap(5) * 0.25f;  // cause: fir_state
  }
}

// A pitched copy whose pitch is 4 bytes off.
template <typename T>
__global__ void copy_pitched(T* __restrict__ dst, size_t dpitch, const T* __restrict__ src,
                             size_t spitch, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += gridDim.y * blockDim.y) {
    const T* row = reinterpret_cast<const T*>(reinterpret_cast<const char*>(src) + y * spitch);
    T* out = reinterpret_cast<T*>(reinterpret_cast<char*>(dst) + y * dpitch);
    if (x < w) out[x] = row[x];  // cause: copy_pitched
  }
}

// Shared memory for two stages of 40 KB.
template <typename T, int N>
__global__ void staged(T* out, const T* in, int rounds) {
  extern __shared__ __align__(16) char raw[];
  T* a = reinterpret_cast<T*>(raw);
  T* b = a + N;
  for (int r = 0; r < rounds; ++r) {
    const int i = (blockIdx.x * rounds + r) * blockDim.x + threadIdx.x;
    (r & 1 ? b : a)[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = (r & 1 ? b : a)[threadIdx.x ^ 32];
  }
}

// A register-hungry fit.
__global__ void __launch_bounds__(512) poly_fit(float* out, const float* in, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float c[120];
#pragma unroll
  for (int k = 0; k < 120; ++k) c[k] = in[(k & 7) * n + i] + k;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int k = 0; k < 120; ++k) c[k] = c[k] * c[(k + 13) % 120] + 0.25f;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 120; ++k) s += c[k];
  out[i] = s;
}

__global__ void half_warp_blocks(float* o, const float* a, float f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = a[i] * f;
}

// ---- the same, rewritten as the first finding says

__global__ void rotary_vec(__half2* q, const float* cs, const float* sn) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half2 p = q[i];
  const float a = __low2float(p), b = __high2float(p);
  const float c = cs[i % 64], s = sn[i % 64];
  q[i] = __floats2half2_rn(a * c - b * s, a * s + b * c);
}

template <int STRIDE>
__global__ void lut_stride_pad(int* out, const int* in) {
  __shared__ int table[256 * STRIDE + 256];
  auto at = [](int i) { return i + i / 8; };
  for (int i = threadIdx.x; i < 256 * STRIDE; i += 256) table[at(i)] = in[i];
  __syncthreads();
  int v = 0;
  for (int k = 0; k < 16; ++k) v += table[at(((threadIdx.x + k) & 255) * STRIDE)];
  out[blockIdx.x * 256 + threadIdx.x] = v;
}

}  // namespace lib
