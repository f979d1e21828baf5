// SPDX-License-Identifier: MIT
// Several arrays in shared memory, reached in roundabout ways: nothing is to be found here.
__global__ void two_arrays_take_turns(float* out, const float* in, int n) {
  __shared__ float even[32], odd[32];
  const int t = threadIdx.x;
  float *from = even, *to = odd;
  from[t] = in[t];
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    to[t] = from[31 - t] + 1;
    __syncthreads();
    float* const next = from;
    from = to;
    to = next;
    __syncthreads();
  }
  out[t] = from[t];
}

__global__ void chosen_by_the_thread(int* out) {
  __shared__ int low[16], high[16];
  const int t = threadIdx.x;
  int* const own = t < 16 ? low + t : high + (t - 16);
  *own = t;
  __syncthreads();
  out[t] = t < 16 ? high[t] : low[t - 16];
}

// The pointer begins before its array, the accesses do not.
__global__ void counted_from_one(float* out, const float* in) {
  __shared__ float before[32];
  __shared__ float line[33];
  const int t = threadIdx.x;
  float* const from_one = line - 1;
  before[t] = in[t];
  from_one[t + 1] = in[t];
  if (t == 0) from_one[33] = 0;
  __syncthreads();
  for (int i = 0; i < 2; ++i) before[t] += from_one[t + 1 + i];
  out[t] = before[t];
}

struct Both {
  int keys[32];
  int values[32];
};

__global__ void one_member_after_the_other(int* out, int n) {
  __shared__ Both both;
  __shared__ int sums[32];
  const int t = threadIdx.x;
  int* const all = reinterpret_cast<int*>(&both);
  for (int i = t; i < 64; i += n) all[i] = i;
  sums[t] = 0;
  __syncthreads();
  for (int i = 0; i < 64; i += 32) sums[t] += all[i + t];
  out[t] = sums[t] + both.values[31 - t];
}

__device__ __noinline__ float sum_of(const float* array, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += array[i];
  return sum;
}

__global__ void arrays_are_passed_on(float* out, const float* in) {
  __shared__ float a[32], b[64];
  const int t = threadIdx.x;
  a[t] = in[t];
  b[t] = b[t + 32] = t;
  __syncthreads();
  out[t] = sum_of(a, t) + sum_of(b, 2 * t) + sum_of(t % 2 ? a : b, 32);
}

__global__ void static_and_dynamic(float* out, const float* in, int n) {
  extern __shared__ float dynamic[];
  __shared__ float sums[32];
  const int t = threadIdx.x;
  float *first = dynamic, *second = dynamic + n;
  first[t] = in[t];
  second[t] = 2;
  __syncthreads();
  sums[t] = 0;
  for (int i = 0; i < n; ++i) sums[t] += first[i] * second[n - 1 - i];
  out[t] = sums[t];
}

__global__ void wider_than_its_elements(float4* out) {
  __shared__ __align__(16) float a[128], b[128];
  const int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) a[4 * t + i] = b[t + 32 * i] = t;
  __syncthreads();
  const float4 v = reinterpret_cast<const float4*>(a)[31 - t];
  const float4 w = reinterpret_cast<const float4*>(b)[t];
  out[t] = make_float4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
}

// Columns are swapped so that banks differ.
__global__ void columns_are_swapped(int* out) {
  __shared__ int other[64];
  __shared__ int tile[32 * 32];
  const int t = threadIdx.x;
  other[t] = t;
  for (int row = 0; row < 32; ++row) tile[row * 32 + (t ^ row)] = row * t;
  __syncthreads();
  int sum = other[31 - t];
  for (int column = 0; column < 32; ++column) sum += tile[t * 32 + (column ^ t)];
  out[t] = sum;
}

// Each thread loads its element before it stores there; nobody loads it again.
__global__ void changes_in_place_what_it_has_loaded(int* a) {
  const int t = threadIdx.x;
  a[t] = __ldg(&a[t]) + 1;
}
