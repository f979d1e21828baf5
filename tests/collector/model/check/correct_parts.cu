// SPDX-License-Identifier: MIT
// Loads that find a part of what they read unset, and code that does nothing with it: none of it is
// a mistake.
// The fourth number of each vector is there to fill it.
__global__ void three_of_four_are_used(float4* points, float* out) {
  const int t = threadIdx.x;
  float* const own = reinterpret_cast<float*>(points + t);
  own[0] = t, own[1] = 2 * t, own[2] = 3 * t;
  __syncthreads();
  const float4 v = points[31 - t];
  out[t] = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
}

__global__ void three_of_four_in_shared_memory(float4* out) {
  __shared__ float4 points[32];
  const int t = threadIdx.x;
  float* const own = reinterpret_cast<float*>(points + t);
  own[0] = t, own[1] = 2 * t, own[2] = 3 * t;
  __syncthreads();
  const float4 a = points[31 - t], b = points[t];
  out[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, 0);
}

// As libraries of vectors do, which know nothing of the gap.
__global__ void the_gap_is_moved_along(float4* points, float4* out) {
  const int t = threadIdx.x;
  float* const own = reinterpret_cast<float*>(points + t);
  own[0] = t, own[1] = 2 * t, own[2] = 3 * t;
  __syncthreads();
  const float4 a = points[31 - t], b = points[t];
  out[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

struct alignas(16) Record {
  double weight;
  short kind;
  char flag;  // and five bytes of nothing
};

__global__ void records_are_copied(Record* records, Record* sorted, double* out) {
  __shared__ Record kept[32];
  const int t = threadIdx.x;
  records[t].weight = t;
  records[t].kind = 1;
  records[t].flag = 2;
  __syncthreads();
  kept[t] = records[31 - t];
  __syncthreads();
  sorted[t] = kept[31 - t];
  out[t] = kept[t ^ 1].weight * kept[t ^ 1].kind + kept[t ^ 1].flag;
}

__global__ void bytes_of_records_are_copied(Record* records, uint4* sorted, double* out) {
  const int t = threadIdx.x;
  records[t].weight = t;
  records[t].kind = 1;
  records[t].flag = 2;
  __syncthreads();
  sorted[t] = reinterpret_cast<const uint4*>(records)[31 - t];
  __syncthreads();
  const Record& moved = reinterpret_cast<const Record*>(sorted)[t ^ 1];
  out[t] = moved.weight * moved.kind + moved.flag;
}

struct alignas(16) Either {
  int kind;
  union {
    float one;
    float three[3];
  };
};

__global__ void a_union_holds_less(Either* values, Either* copies, float* out) {
  const int t = threadIdx.x;
  values[t].kind = t & 1;
  values[t].one = t;
  if ((t & 1) != 0) values[t].three[1] = values[t].three[2] = 1;
  __syncthreads();
  const Either v = values[31 - t];
  copies[t] = v;
  out[t] = v.kind == 0 ? v.one : v.one + v.three[1] + v.three[2];
}

// Elements beyond a row's end are loaded with it, and not chosen.
__global__ void parts_beyond_the_end_are_not_chosen(float* scratch, float* out, int n) {
  const int t = threadIdx.x;
  for (int i = t; i < n; i += blockDim.x) scratch[i] = i;
  __syncthreads();
  if (4 * t >= n) return;
  const float4 v = reinterpret_cast<const float4*>(scratch)[t];
  float sum = v.x;
  sum += 4 * t + 1 < n ? v.y : 0;
  sum += 4 * t + 2 < n ? v.z : 0;
  sum += 4 * t + 3 < n ? v.w : 0;
  out[t] = sum;
}

__global__ void set_bytes_are_masked(unsigned char* scratch, unsigned* out) {
  const int t = threadIdx.x;
  scratch[16 * t] = t;
  scratch[16 * t + 5] = t;
  scratch[16 * t + 10] = t;
  scratch[16 * t + 12] = t;
  scratch[16 * t + 15] = t;
  __syncthreads();
  const uint4 v = reinterpret_cast<const uint4*>(scratch)[31 - t];
  out[t] =
      (v.x & 255) + (v.y >> 8 & 255) * 3 + max(v.z >> 16 & 255, 7u) + __byte_perm(v.w, 0, 0x4430);
}

// A lane that has nothing gives what nobody takes.
__global__ void nobody_takes_it(float* scratch, float* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  if (t < 8) scratch[2 * t + 1] = t;
  __syncthreads();
  const float2 v = reinterpret_cast<const float2*>(scratch)[t];
  const float others = __shfl_sync(~0u, v.y, t & 7);
  out[t] = v.x + others;
}

// Set before the next round reads it.
__global__ void set_in_another_round(float* scratch, float* out) {
  const int t = threadIdx.x;
  scratch[2 * t] = t;
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    const float2 v = reinterpret_cast<const float2*>(scratch)[t];
    sum += v.x;
    if (round > 0) sum += v.y;
    scratch[2 * t + 1] = sum;
  }
  out[t] = sum;
}
