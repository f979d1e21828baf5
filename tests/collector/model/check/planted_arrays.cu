// SPDX-License-Identifier: MIT
// Accesses that run over from one array in shared memory into the one beside it. "!": has to be
// found, "?!": may be (README.md).
__global__ void written_past_the_end_into_the_next(int* out) {
  __shared__ int a[32], b[32];
  const int t = threadIdx.x;
  a[t] = t;
  b[t] = 7;
  __syncthreads();
  if (t < 4) a[t + 32] = 100 + t;  // ! out of bounds
  __syncthreads();
  out[t] = a[t] + b[t];
}

// A row is as long as the block is wide, and one more is read.
__global__ void neighbour_beyond_the_end(float* out, const float* in, int n) {
  __shared__ float line[32];
  __shared__ float weights[32];
  const int t = threadIdx.x;
  line[t] = in[t];
  weights[t] = 1;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += line[t + k] * weights[k];  // ! out of bounds
  out[t] = sum;
}

__global__ void counted_before_the_beginning(unsigned* out, const unsigned* in) {
  __shared__ unsigned first[32];
  __shared__ unsigned bins[32];
  const int t = threadIdx.x;
  first[t] = 0;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[static_cast<int>(in[t] % 32) - 1], 1u);  // ! out of bounds
  __syncthreads();
  out[t] = bins[t] + first[t];
}

__global__ void a_row_too_many_is_filled(float* out, int rows) {
  __shared__ float tile[8][32];
  __shared__ float sums[32];
  const int t = threadIdx.x;
  sums[t] = 0;
  for (int row = 0; row <= rows; ++row) tile[row][t] = row;  // ! out of bounds
  __syncthreads();
  for (int row = 0; row < rows; ++row) sums[t] += tile[row][31 - t];
  out[t] = sums[t];
}

// The static array is no part of the dynamic one.
__global__ void before_the_dynamic_array(float* out) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[32];
  const int t = threadIdx.x;
  fixed[t] = t;
  dynamic[t] = t;
  __syncthreads();
  out[t] = dynamic[t - 1] + fixed[t];  // ! out of bounds
}
