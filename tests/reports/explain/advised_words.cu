// SPDX-License-Identifier: MIT
// Kernels of which explain has to keep back an advice.
// One block a row: the number of blocks is that of the rows, whatever a block's size is.
__global__ void row_sums(float* out, const float* in, int columns) {
  __shared__ float s[256];
  float v = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) v += in[blockIdx.x * columns + i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

__global__ void doubled(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

// Two passes over a row.
__global__ void shifted(const float* __restrict__ in, float* __restrict__ out, int columns) {
  __shared__ float s[256];
  const float* x = in + blockIdx.x * columns;
  float m = -1e30f, v = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) m = fmaxf(m, x[i]);
  s[threadIdx.x] = m;
  __syncthreads();
  for (int d = 128; d; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + d]);
    __syncthreads();
  }
  m = s[0];
  for (int i = threadIdx.x; i < columns; i += blockDim.x) v += expf(x[i] - m);
  if (v > 0) out[blockIdx.x * 256 + threadIdx.x] = v;
}

template <int SIZE>
__device__ void strided_places(float* out, const float* in) {
  __shared__ float places[SIZE];
  const int t = threadIdx.x;
  for (int i = t; i < SIZE; i += 256) places[i] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; k++) sum += places[(t * 16 + k) % SIZE];
  out[t] = sum;
}
__global__ void places_1000(float* out, const float* in) { strided_places<1000>(out, in); }
__global__ void places_1024(float* out, const float* in) { strided_places<1024>(out, in); }
__global__ void places_1030(float* out, const float* in) { strided_places<1030>(out, in); }

// Rows of 32 words, read by columns, in all the shared memory that a block can have.
__global__ void columns_of_all_memory(float* out, const float* in) {
  extern __shared__ float t[];
  for (int i = threadIdx.x; i < 58112; i += 256) t[i] = in[i % 2048];
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; k++) sum += t[threadIdx.x * 32 + k];
  out[threadIdx.x] = sum;
}

// Counters that lie apart on purpose: nobody touches the words between.
__global__ void counters_apart(int* out, const int* in) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(&out[i * 16], in[i]);
}

__global__ void squares_in_double(float* out, const float* in) {
  double sum = 0;
  for (int k = 0; k < 8; k++) {
    sum += (double)in[threadIdx.x + k] * (double)in[threadIdx.x + k];
  }
  out[threadIdx.x] = (float)sum;
}

__global__ void scaled_by_literal(float* out, const float* in) {
  for (int k = 0; k < 8; k++) {
    out[threadIdx.x + k * 256] = in[threadIdx.x + k] * 0.1;
  }
}
