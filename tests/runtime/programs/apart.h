// SPDX-License-Identifier: MIT
typedef int (*op)(int);
extern __device__ op table[2];
extern __device__ int across(int x);
extern __device__ int shared_total;
extern __constant__ int factors[4];
template <class T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}
void second(int* d);
