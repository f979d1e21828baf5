// SPDX-License-Identifier: MIT
// Accesses out of bounds, and misaligned ones. "!": has to be found, "?!": may be (README.md).
#include <cuda_pipeline.h>
__global__ void one_past_the_end(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + 1] - in[i];  // ! out of bounds
}

__global__ void one_before_the_beginning(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] - in[i - 1];  // ! out of bounds
}

__global__ void guard_with_less_or_equal(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 2 * in[i % n];  // ! out of bounds
}

// The pitch counts bytes, the index counts floats.
__global__ void pitch_in_bytes(float* out, const float* in, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[(y * gridDim.x * blockDim.x) + x] = in[y * pitch + x];  // ! out of bounds
}

// Rows and columns are swapped in the guard, not in the index.
__global__ void guard_with_swapped_sides(float* out, const float* in, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < height && y < width) out[y * width + x] = in[y * width + x] + 1;  // ! out of bounds
}

__global__ void shared_halo_too_small(float* out, const float* in) {
  __shared__ float line[64];
  const int t = threadIdx.x;
  line[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = line[t] + line[t + 1];  // ! out of bounds
}

__global__ void shared_written_past_the_end(float* out, const float* in) {
  __shared__ float line[64];
  const int t = threadIdx.x;
  line[t + 32] = in[blockIdx.x * 64 + t];  // ! out of bounds
  __syncthreads();
  out[blockIdx.x * 64 + t] = line[t / 2 + 32];
}

// The launch has memory for half as many floats.
__global__ void dynamic_shared_too_small(float* out, const float* in) {
  extern __shared__ float row[];
  const int t = threadIdx.x;
  row[t] = in[blockIdx.x * blockDim.x + t];  // ! out of bounds
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = row[t ^ 1];  // ! out of bounds
}

__global__ void local_index_too_large(int* out, const int* in, int k) {
  int own[16];
  for (int i = 0; i < 16; ++i) own[i] = in[i];
  own[k] = 5;  // ! out of bounds
  out[threadIdx.x] = own[in[3] & 15];
}

// Four floats at once, also where fewer are left.
__global__ void tail_of_a_vectorised_loop(float4* out, const float* in, int n) {
  for (int i = 4 * threadIdx.x; i < n; i += 4 * blockDim.x) {
    out[i / 4] = *reinterpret_cast<const float4*>(in + i);  // ! out of bounds
  }
}

// The wanted value is larger than all, and the end belongs to the range.
__global__ void search_that_includes_the_end(int* out, const int* sorted, int n, int key) {
  int low = 0, high = n;
  while (low <= high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {  // ! out of bounds
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  out[threadIdx.x] = low;
}

// A row ends where the next begins, and after the last there is none.
__global__ void rows_without_a_last_end(float* out, const int* begins, const float* values) {
  const int row = threadIdx.x;
  const int end = min(begins[row + 1], 64);  // ! out of bounds
  float sum = 0;
  for (int i = min(begins[row], 63); i < end; ++i) sum += values[i];
  out[row] = sum;
}

__global__ void nowhere_to_write(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;  // ! out of bounds
}

// Unsigned numbers have no -1.
__global__ void unsigned_distance(float* out, const float* in, unsigned back) {
  const unsigned i = threadIdx.x;
  out[i] = in[i - back];  // ! out of bounds
}

// The values index a table; only one of them is too large, and only in some inputs.
// fills: iota, random
__global__ void table_without_a_check(int* out, const int* in) {
  __shared__ int table[32];
  const int t = threadIdx.x;
  if (t < 32) table[t] = t * t;
  __syncthreads();
  out[t] = table[in[t]];  // ! out of bounds
}

__global__ void atomic_on_a_bin_too_many(unsigned* bins, int count) {
  atomicAdd(&bins[threadIdx.x % (count + 1)], 1u);  // ! out of bounds
}

__global__ void copied_past_the_end(float* out, const float* in) {
  __shared__ __align__(16) float tile[128];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[4 * t], &in[4 * t + 4], 16);  // ! out of bounds
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[3 * t + 2];  // ?! uninitialised read
}

__global__ void float_from_any_byte(float* out, const char* in) {
  const char* place = in + 4 * threadIdx.x + 2;
  out[threadIdx.x] = *reinterpret_cast<const float*>(place);  // ! misaligned
}

__global__ void vector_from_any_float(float4* out, const float* in) {
  out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1);  // ! misaligned
}

// Dynamic shared memory is cut into an odd number of floats, and doubles after them.
__global__ void doubles_after_an_odd_number_of_floats(double* out, const float* in, int n) {
  extern __shared__ float floats[];
  double* doubles = reinterpret_cast<double*>(floats + n);
  const int t = threadIdx.x;
  doubles[t] = in[t];  // ! misaligned
  __syncthreads();
  out[t] = doubles[t ^ 1];  // ! misaligned ?! uninitialised read
}

struct __attribute__((packed)) Record {
  char kind;
  int value;
};
__global__ void field_of_a_packed_record(int* out, Record* records) {
  int* value = reinterpret_cast<int*>(reinterpret_cast<char*>(records + threadIdx.x) + 1);
  *value = threadIdx.x;  // ! misaligned
  out[threadIdx.x] = records[threadIdx.x].kind;
}
