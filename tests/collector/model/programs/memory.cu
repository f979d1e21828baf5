// SPDX-License-Identifier: MIT
// Memory of every kind, and control flow that its contents decide.
#include <cstring>
struct Parameters {
  int values[64];
  double scale;
};
__constant__ float coefficients[4] = {0.5f, 1.5f, -2, 8};
__device__ int powers[3][4] = {{1, 2, 4, 8}, {1, 3, 9, 27}, {1, 5, 25}};
__device__ const char* const words[3] = {"a", "bc", "def"};
__device__ int drawn = 3;
__device__ int* counter = &drawn;
__managed__ int managed[4] = {10, 20, 30, 40};

extern "C" {
__global__ void by_reference(int* out, const __grid_constant__ Parameters p, int first) {
  const int* from = &p.values[first];
  out[threadIdx.x] = from[threadIdx.x % 4] * static_cast<int>(p.scale);
}
__global__ void by_value(int* out, Parameters p, int changed) {
  p.values[changed] = 1000;
  p.values[threadIdx.x] += changed;
  out[threadIdx.x] = p.values[(threadIdx.x + changed) % 64];
}
__global__ void variables(float* out) {
  const int i = threadIdx.x;
  out[i] = coefficients[i % 4] * powers[i % 3][i / 8] + words[i % 3][i % 3] + managed[i % 4];
  atomicAdd(counter, 2);
  __syncthreads();
  if (i == 0) out[32] = drawn;
}
__global__ void choices(int* out, const int* in) {
  int result = 0;
  switch (in[threadIdx.x]) {
    case 0:
      result = 3;
      break;
    case 1:
      result = in[5];
      break;
    case 2:
      result = in[6] * 3;
      break;
    case 3:
      result = -1;  // and on
    case 4:
      result += in[7];
      break;
    case 5:
      result = 7;
      break;
    case 6:
      result = in[1] / 3;
      break;
    case 7:
      return;
    default:
      result = 99;
  }
  out[threadIdx.x] = result;
}
__global__ void spaces(int* out, int* in) {
  __shared__ int shared[32];
  int local[4] = {1, 2, 3, 4};
  shared[threadIdx.x] = 7;
  __syncwarp();
  const void* any = threadIdx.x % 3 == 0 ? shared : threadIdx.x % 3 == 1 ? local : in;
  out[threadIdx.x] = __isShared(any) + 2 * __isGlobal(any) + 4 * __isLocal(any) +
                     10 * static_cast<const int*>(any)[threadIdx.x & 3];
}
__global__ void last_block(float* out, const float* in, unsigned* arrived) {
  __shared__ bool is_last;
  __shared__ float sums[128];
  const auto reduce = [&](float value) {
    sums[threadIdx.x] = value;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
      if (threadIdx.x < k) sums[threadIdx.x] += sums[threadIdx.x + k];
      __syncthreads();
    }
  };
  reduce(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) {
    out[blockIdx.x] = sums[0];
    __threadfence();
    is_last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  float value = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 128) value += static_cast<volatile float*>(out)[i];
  reduce(value);
  if (threadIdx.x == 0) out[gridDim.x] = sums[0];
}
__global__ void locked(int* out, int* lock) {
  bool is_done = false;
  while (!is_done) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    out[0] = out[0] * 3 % 1000 + 1;
    __threadfence();
    atomicExch(lock, 0);
    is_done = true;
  }
}
__global__ void spinning(int* out, int* lock) {  // for a lane of the same warp
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  out[0] = out[0] * 3 % 1000 + 1;
  __threadfence();
  atomicExch(lock, 0);
  __syncthreads();
  out[1 + threadIdx.x] = out[0] + threadIdx.x;
}
__global__ void early_exits(int* out, const int* in, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  __syncthreads();
  for (int k = 0; k < i; ++k) {
    if (in[k] < 20) break;
    if (in[k] > 900) continue;
    out[i] += in[k];
  }
}
__global__ void bytes(unsigned char* out, const unsigned char* in) {
  struct Packed {
    unsigned char a;
    short b;
    long long c;
    float d[3];
  } packed[2];
  memcpy(packed, in + 64 * threadIdx.x, 2 * sizeof(Packed));
  packed[0].b += packed[1].b;
  packed[1].c ^= packed[0].c >> 3;
  packed[1].a = packed[0].a + packed[1].a;
  memcpy(out + 64 * threadIdx.x, packed, 2 * sizeof(Packed));
}
}
