// SPDX-License-Identifier: MIT
// Lanes that leave a loop in different rounds, and where the warp is together again: behind a loop
// that others leave further, behind one that hardware lets them leave one by one, and behind a copy
// of an unrolled one that ptxas put no BSYNC behind.
#include <cuda_runtime.h>

#include <cstdio>
constexpr int numbers = 4096, threads = 256, blocks = 4;

__device__ int my_place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void goto_behind(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int sum = 0, k = 0;
  do {
    sum += a[(i + k * 33) % numbers];
    if (sum > 300) goto end;
  } while (++k < rounds[i]);
  sum += a[i];
end:
  out[i] = sum;
}

__global__ void all_at_once(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int sum = 0, k = 0;
  do {
    sum += a[(i + k * 33) % numbers];
    if (rounds[k] > 300) goto end;
  } while (++k < rounds[0]);
  sum += a[i];
end:
  out[i] = sum;
}

__global__ void return_inside(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int sum = 0;
#pragma unroll 1
  for (int x = 0; x < 4; ++x) {
#pragma unroll 1
    for (int k = 0; k < rounds[i]; ++k) {
      sum += a[(i + k * 33 + x) % numbers];
      if (sum > 600) {
        out[i] = sum;
        return;
      }
    }
    sum += a[(i + x) % numbers];
  }
  out[i] = sum;
}

__global__ void division_and_atomic(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int at = a[i];
  float sum = 0;
  for (int k = 0; k < rounds[i]; ++k) {
    at = a[at];
    sum += 3.5f / (static_cast<float>(at) + sum);
    atomicAdd(&out[numbers + at % 32], 1);
  }
  out[i] = static_cast<int>(static_cast<float>(at) + sum);
}

__device__ __noinline__ int step(int number) { return (number * 5 + 3) % numbers; }

__global__ void call_and_atomic(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int at = a[i];
  for (int k = 0; k < rounds[i]; ++k) {
    at = step(a[at]);
    atomicAdd(&out[numbers + at % 32], 1);
  }
  out[i] = at;
}

__global__ void atomic_alone(const int* a, const int* rounds, int* out) {
  const int i = my_place();
  int at = a[i];
  for (int k = 0; k < rounds[i]; ++k) {
    at = a[at];
    atomicAdd(&out[numbers + at % 32], 1);
  }
  out[i] = at;
}

__global__ void copies_of_a_loop(const int* a, const int* b, int* out) {
  const int i = my_place();
  int sum = 0, at = a[i], way = b[i];
  for (int k = 0; k < 4; ++k) {
    if (way > 68) {
      sum += b[way % numbers];
      int round = 0;
      do {
        if (way < 83) {
          way = a[(at + 35) % numbers];
        } else {
          at = b[(i * 3) % numbers];
        }
      } while (++round < at % 8 + 1 && at > 16);
    }
  }
  out[i] = sum + at;
}

int main() {
  int *a, *rounds, *out;
  cudaMallocManaged(&a, numbers * sizeof(int));
  cudaMallocManaged(&rounds, numbers * sizeof(int));
  cudaMalloc(&out, 2 * numbers * sizeof(int));
  unsigned number = 1;
  for (int i = 0; i < numbers; ++i) {
    number = number * 1664525 + 1013904223;
    a[i] = static_cast<int>(number >> 24);
    rounds[i] = i % 8 + 1;
  }
  all_at_once<<<blocks, threads>>>(a, rounds, out);
  atomic_alone<<<blocks, threads>>>(a, rounds, out);
  goto_behind<<<blocks, threads>>>(a, rounds, out);
  return_inside<<<blocks, threads>>>(a, rounds, out);
  division_and_atomic<<<blocks, threads>>>(a, rounds, out);
  call_and_atomic<<<blocks, threads>>>(a, rounds, out);
  copies_of_a_loop<<<blocks, threads>>>(a, a, out);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
