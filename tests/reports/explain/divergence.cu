// SPDX-License-Identifier: MIT
// Kernels whose one fault is that the lanes of a warp go different ways, or leave one of them to
// work alone: most instructions have few active lanes. Rewritten, lanes that do the same share a
// warp.
__device__ __forceinline__ int rotate(int value, int steps) {
#pragma unroll 1
  for (int k = 0; k < steps; k++) value = value * 5 + (value >> 3) + k;
  return value;
}

__device__ __forceinline__ int churn(int value, int steps) {
#pragma unroll 1
  for (int k = 0; k < steps; k++) value = (value * 9 + k) ^ (value >> 4);
  return value;
}

__global__ void even_and_odd(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  if (threadIdx.x % 2 == 0) {  // cause: even_and_odd
    value = rotate(value, 40);
  } else {
    value = churn(value, 30);
  }
  out[i] = value;
}

// The first half of the block takes the even elements; padding keeps the exchange free of bank
// conflicts.
__global__ void halves(int* out, const int* in) {
  __shared__ int line[8][33];
  const int t = threadIdx.x, first = blockIdx.x * 256;
  line[t / 32][t % 32] = in[first + t];
  __syncthreads();
  const int mine = t < 128 ? 2 * t : 2 * (t - 128) + 1;
  int value = line[mine / 32][mine % 32];
  if (t < 128) {
    value = rotate(value, 40);
  } else {
    value = churn(value, 30);
  }
  line[mine / 32][mine % 32] = value;
  __syncthreads();
  out[first + t] = line[t / 32][t % 32];
}

__global__ void first_lane_adds(int* sums, const int* in) {
  __shared__ int values[256];
  const int t = threadIdx.x;
  values[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  if (t % 32 == 0) {  // cause: first_lane_adds
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum = max(sum + values[t + k], sum ^ 1);
    sums[blockIdx.x * 8 + t / 32] = sum;
  }
}

// A serial search by thread 0 of each warp, and the sum that all lanes could do together.
template <typename T>
__global__ void leader_sums(T* __restrict__ sums, const T* __restrict__ in) {
  const unsigned lane = threadIdx.x & 31, warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  T value = in[warp * 32 + lane], sum = 0;
  __shared__ T staged[256];
  staged[threadIdx.x] = value;
  __syncwarp();
  if (lane == 0) {  // cause: leader_sums
#pragma unroll 1
    for (unsigned k = 0; k < 32; ++k) sum += staged[threadIdx.x + k];
  }
  sum = __shfl_sync(0xffffffffu, sum, 0);
  sums[warp * 32 + lane] = value - sum;
}

template <typename T>
__global__ void shuffled_sums(T* __restrict__ sums, const T* __restrict__ in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T value = in[i];
  T sum = value;
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  sums[i] = value - sum;
}

__global__ void triangle(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31, value = in[i];
#pragma unroll 1
  for (int k = 0; k <= 2 * lane; k++) {  // cause: triangle
    value = value * 3 + (value >> 5) + k;
  }
  out[i] = value;
}

__global__ void switch_by_lane(int* out, const int* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  switch (threadIdx.x & 3) {  // cause: switch_by_lane
    case 0:
      value = rotate(value, 25);
      break;
    case 1:
      value = churn(value, 20);
      break;
    case 2:
      value = rotate(value ^ 0x5555, 30) + 1;
      break;
    default:
      value = churn(value + 9, 15) ^ 77;
  }
  out[i] = value;
}

// As many steps as the data say.
__global__ void steps_by_data(int* out, const int* steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = steps[i];
  int value = i;
#pragma unroll 1
  for (int k = 0; k < count; ++k) {  // cause: steps_by_data
    value = value * 7 + (value >> 2);
  }
  out[i] = value;
}

// Who is odd stores beside who is even, and no vector does both.
__global__ void stores_of_both(float* out, const float* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = in[i];
  if (i & 1) {  // cause: stores_of_both
    out[i] = value * 2;
  } else {
    out[i] = sqrtf(value) + sinf(value) + expf(value);
  }
}
