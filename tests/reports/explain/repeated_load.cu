// SPDX-License-Identifier: MIT
// Kernels whose one fault is a load that each iteration repeats, because a store in the loop might
// have changed what it reads. Rewritten, a local variable holds it.
// The store to prefixes might change the sum.
__global__ void sums_in_memory(float* sums, float* prefixes, const float* a, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  sums[i] = 0;
  for (int k = 0; k < m; k++) {
    sums[i] += a[k * n + i];  // cause: sums_in_memory
    prefixes[k * n + i] = sums[i];
  }
}

__global__ void sums_in_register(float* sums, float* prefixes, const float* a, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < m; k++) {
    sum += a[k * n + i];
    prefixes[k * n + i] = sum;
  }
  sums[i] = sum;
}

// The bound of the loop through a pointer.
__global__ void bound_by_pointer(int* out, const int* in, const int* rows, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int y = 0; y < *rows; ++y) {  // cause: bound_by_pointer
    out[y * width + x] = 2 * in[y * width + x];
  }
}

__global__ void bound_in_register(int* out, const int* in, const int* rows, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = *rows;
#pragma unroll 1
  for (int y = 0; y < count; ++y) {
    out[y * width + x] = 2 * in[y * width + x];
  }
}

// A coefficient in a struct.
struct Options {
  float scale, offset;
};

template <typename T>
__global__ void coefficient_by_pointer(T* out, const T* in, const Options* options,
                                       unsigned count) {
  const unsigned stride = gridDim.x * blockDim.x;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const T scale = options->scale;  // cause: coefficient_by_pointer
    out[i] = in[i] * scale;
  }
}

template <typename T>
__global__ void coefficient_in_register(T* __restrict__ out, const T* __restrict__ in,
                                        const Options* __restrict__ options, unsigned count) {
  const unsigned stride = gridDim.x * blockDim.x;
  const T scale = options->scale;
#pragma unroll 1
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    out[i] = in[i] * scale;
  }
}

// A limit that nobody changes, through a pointer that says somebody might.
__global__ void volatile_limit(float* out, const float* in, const volatile float* limit,
                               int count) {
  const int stride = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const float value = in[i];
    const float most = *limit;  // cause: volatile_limit
    out[i] = value < most ? value : most;
  }
}
