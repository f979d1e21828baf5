// SPDX-License-Identifier: MIT
// Loads that find a part of what they read unset, and code that computes with that part. "!": has
// to be found, "?!": may be (README.md).
__global__ void sum_of_four_of_which_one_is_set(float* scratch, float* out) {
  const int t = threadIdx.x;
  scratch[4 * t] = t;
  __syncthreads();
  const float4 v = reinterpret_cast<const float4*>(scratch)[31 - t];
  out[t] = v.x + v.y + v.z + v.w;  // ! uninitialised read
}

__global__ void sum_of_two_of_which_one_is_set(float* scratch, float* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  __syncthreads();
  const float2 v = reinterpret_cast<const float2*>(scratch)[31 - t];
  out[t] = v.x + v.y;  // ! uninitialised read
}

__global__ void shared_vectors_of_which_one_part_is_set(float* out) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  reinterpret_cast<float*>(tile)[4 * t] = t;
  __syncthreads();
  const float4 v = tile[31 - t];
  out[t] = v.x + v.y + v.z + v.w;  // ! uninitialised read
}

// As many threads as vectors fill a quarter of the numbers. A part of two vectors is set.
__global__ void fewer_threads_than_numbers(float* out) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  if (t < 30) reinterpret_cast<float*>(tile)[t] = 1;
  __syncthreads();
  const float4 v = tile[t & 7];
  out[t] = v.x * v.y * v.z * v.w;  // ! uninitialised read
}

__global__ void every_number_of_a_vector_is_doubled(float* scratch, float2* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  __syncthreads();
  const float2 v = reinterpret_cast<const float2*>(scratch)[31 - t];
  out[t] = make_float2(2 * v.x, 2 * v.y);  // ! uninitialised read
}

// The copies are none, the sum of what was copied is.
__global__ void copied_before_it_is_added(int* scratch, int* out) {
  __shared__ int4 tile[32];
  const int t = threadIdx.x;
  scratch[4 * t] = t;
  scratch[4 * t + 1] = t;
  __syncthreads();
  tile[t] = reinterpret_cast<const int4*>(scratch)[31 - t];
  __syncthreads();
  const int4 v = tile[31 - t];
  out[t] = v.x + v.y + v.z;  // ! uninitialised read
}

__global__ void copied_and_read_alone(int* scratch, int* out) {
  __shared__ int4 tile[32];
  const int t = threadIdx.x;
  scratch[4 * t] = t;
  __syncthreads();
  tile[t] = reinterpret_cast<const int4*>(scratch)[31 - t];
  __syncthreads();
  out[t] = reinterpret_cast<const int*>(tile)[4 * (31 - t) + 2];  // ! uninitialised read
}

__global__ void counts_by_a_part_that_is_not_set(int* scratch, int* bins, const int* in) {
  const int t = threadIdx.x;
  scratch[2 * t] = in[t];
  __syncthreads();
  const int2 v = reinterpret_cast<const int2*>(scratch)[31 - t];
  bins[t] = v.x;
  atomicAdd(&bins[32], v.y);  // ! uninitialised read
}

__global__ void another_lanes_part(float* scratch, float* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  if (t < 16) scratch[2 * t + 1] = t;
  __syncthreads();
  const float2 v = reinterpret_cast<const float2*>(scratch)[t];
  const float others = __shfl_xor_sync(~0u, v.y, 16);
  out[t] = v.x + others;  // ! uninitialised read
}

__global__ void decides_by_a_part(int* scratch, int* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  __syncthreads();
  const int2 v = reinterpret_cast<const int2*>(scratch)[31 - t];
  out[t] = v.x;
  if (v.y > 7) atomicAdd(out, 1);  // ! uninitialised read
}
