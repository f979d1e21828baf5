// SPDX-License-Identifier: MIT
// Kernels whose one fault is local memory: an array whose index is known at run time only, or more
// numbers than registers. Rewritten, all indices are constants, and the array lies in registers.
// Eight numbers of each thread, each stored where its rank says.
__global__ void select_of_8(int* out, const int* in, int n, int wanted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value[8], sorted[8];
#pragma unroll
  for (int k = 0; k < 8; k++) value[k] = in[k * n + i];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    int rank = 0;
#pragma unroll
    for (int other = 0; other < 8; other++) {
      rank += value[other] < value[k] || (value[other] == value[k] && other < k);
    }
    sorted[rank] = value[k];  // cause: select_of_8
  }
  out[i] = sorted[wanted];  // cause: select_of_8
}

__global__ void select_of_8_unrolled(int* out, const int* in, int n, int wanted) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sorted[8];
#pragma unroll
  for (int k = 0; k < 8; k++) sorted[k] = in[k * n + i];
#pragma unroll
  for (int round = 0; round < 8; round++) {
#pragma unroll
    for (int k = round & 1; k < 7; k += 2) {
      const int low = min(sorted[k], sorted[k + 1]);
      sorted[k + 1] = max(sorted[k], sorted[k + 1]);
      sorted[k] = low;
    }
  }
  int result = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) result = k == wanted ? sorted[k] : result;
  out[i] = result;
}

// A long history of each thread, read back by an index from the data.
template <typename T, int LENGTH>
__global__ void look_back(T* __restrict__ out, const T* __restrict__ in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  T history[LENGTH];
  T value = in[i];
#pragma unroll 1
  for (int k = 0; k < LENGTH; ++k) {
    history[k] = value;  // cause: look_back
    value = value * 5 + k;
  }
#pragma unroll 1
  for (int k = 0; k < LENGTH; ++k) {
    value += history[value & (LENGTH - 1)];  // cause: look_back
  }
  out[i] = value;
}

// 48 numbers in 32 registers: the compiler spills what this line needs.
__global__ void __launch_bounds__(1024, 2) spilled(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[48];
#pragma unroll
  for (int k = 0; k < 48; k++) v[k] = in[(k & 3) * n + i] * (k + 0.5f);
#pragma unroll 1
  for (int round = 0; round < 4; round++) {
#pragma unroll
    for (int k = 0; k < 48; k++)
      v[k] = fmaf(v[k], v[(k + 1) % 48], v[(k + 7) % 48]);  // cause: spilled
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 48; k++) sum += v[k];
  out[i] = sum;
}
