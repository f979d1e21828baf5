// SPDX-License-Identifier: MIT
// Kernels whose one fault is double precision by oversight: a literal without f, or a function that
// has only a double to go by. Rewritten, literals end in f and the function is of floats.
__global__ void scale_literal(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 0.1 + 2.5;  // cause: scale_literal
}

__global__ void scale_literal_f(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 0.1f + 2.5f;
}

__global__ void square_by_pow(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = pow(in[i], 2.0);  // cause: square_by_pow
}

__global__ void square_by_product(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = in[i] * in[i];
}

template <typename T>
__device__ __forceinline__ T gauss(T x) {
  return exp(-0.5 * x * x);  // cause: bell
}

template <typename T>
__global__ void bell(T* __restrict__ out, const T* __restrict__ in, size_t count) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count;
       i += size_t{gridDim.x} * blockDim.x) {
    out[i] = gauss(in[i]);  // cause: bell
  }
}

// Horner's rule with a series of doubles.
__global__ void series(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 1.0 + x * (0.3 + x * (0.07 + x * 0.011));  // cause: series
}

__global__ void series_f(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = 1.0f + x * (0.3f + x * (0.07f + x * 0.011f));
}
