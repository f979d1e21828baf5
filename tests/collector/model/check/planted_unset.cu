// SPDX-License-Identifier: MIT
// Reads of memory that nobody has set. "!": has to be found, "?!": may be (README.md).
__global__ void bins_never_cleared(unsigned* out, const unsigned* in) {
  __shared__ unsigned bins[16];
  atomicAdd(&bins[in[threadIdx.x] % 16], 1u);  // ! uninitialised read
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];  // ?! uninitialised read
}

__global__ void right_halo_not_loaded(float* out, const float* in) {
  __shared__ float line[66];
  const int t = threadIdx.x;
  line[t + 1] = in[t];
  if (t == 0) line[0] = 0;
  __syncthreads();
  out[t] = (line[t] + line[t + 1] + line[t + 2]) / 3;  // ! uninitialised read
}

// Beyond the edge of the input, a tile has to be filled as well.
__global__ void tile_not_filled_beyond_the_edge(float* out, const float* in, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i < n) tile[t] = in[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += tile[(t + 16 * k) % 64];  // ! uninitialised read
  if (i < n) out[i] = sum;
}

__global__ void accumulates_into_what_is_not_set(float* sums, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[i] += in[i];  // ! uninitialised read
}

__global__ void atomic_on_what_is_not_set(int* total, const int* in) {
  atomicAdd(total, in[blockIdx.x * blockDim.x + threadIdx.x]);  // ! uninitialised read
}

struct Pair {
  int key, value;
};
__global__ void one_field_of_two(Pair* pairs, int* out, const int* in) {
  const int t = threadIdx.x;
  pairs[t].key = in[t];
  __syncthreads();
  out[t] = pairs[63 - t].key + pairs[63 - t].value;  // ! uninitialised read
}

__global__ void even_ones_alone_are_written(int* scratch, int* out, const int* in) {
  const int t = threadIdx.x;
  if (t % 2 == 0) scratch[t] = in[t];
  __syncthreads();
  out[t] = scratch[t ^ 2] + scratch[t ^ 1];  // ! uninitialised read
}

__global__ void local_array_half_filled(int* out, const int* in, int k) {
  int own[16];
  for (int i = 0; i < 8; ++i) own[(in[i] & 7)] = i;
  out[threadIdx.x] = own[k & 15];  // ! uninitialised read
}

// Which of them are set depends on the numbers: with iota, all are.
// fills: zeros, 1, random
__global__ void local_array_set_by_value(int* out, const int* in) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[in[i] & 7] = i;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += own[(i * 3 + threadIdx.x) & 7];  // ! uninitialised read
  out[threadIdx.x] = sum;                                             // ! uninitialised read
}

// fills: zeros, iota, random
__global__ void register_set_on_one_path(int* out, const int* in) {
  const int v = in[threadIdx.x], odd = v & 1;
  int result;
  // clang-format off
  asm volatile("{ .reg .pred p; .reg .s32 kept; setp.ne.s32 p, %1, 0;"  // ! uninitialised read
               " @p mov.s32 kept, %2; add.s32 %0, kept, 1; }" : "=r"(result) : "r"(odd), "r"(v));
  // clang-format on
  out[threadIdx.x] = result;  // ! uninitialised read
}

__global__ void register_never_set(int* out) {
  int result;
  asm volatile("{ .reg .s32 none; add.s32 %0, none, 1; }" : "=r"(result));  // ! uninitialised read
  out[threadIdx.x] = result;                                                // ! uninitialised read
}

// The loop that fills stops one short, the one that adds does not.
template <typename T, int count>
__global__ void last_element_not_filled(T* out, const T* in) {
  __shared__ T kept[count];
  for (int i = threadIdx.x; i < count - 1; i += blockDim.x) kept[i] = in[i];
  __syncthreads();
  T sum = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += kept[i];  // ! uninitialised read
  out[threadIdx.x] = sum;
}
template __global__ void last_element_not_filled<double, 96>(double*, const double*);

__global__ void byte_of_a_word_not_set(unsigned* out, const unsigned char* in) {
  __shared__ unsigned words[32];
  const int t = threadIdx.x;
  unsigned char* bytes = reinterpret_cast<unsigned char*>(&words[t]);
  bytes[0] = in[t];
  bytes[1] = in[t] + 1;
  bytes[3] = in[t] + 3;
  __syncthreads();
  out[t] = words[31 - t];  // ! uninitialised read
}

__global__ void mask_of_the_copy_too_short(float4* out, const float4* in) {
  __shared__ float4 tile[32];
  const int t = threadIdx.x;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  if (t % 4 != 3) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + t) : "memory");
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  out[t] = tile[31 - t];  // ! uninitialised read
}
