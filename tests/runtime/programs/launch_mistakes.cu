// SPDX-License-Identifier: MIT
// Launches that are refused, what kernels are asked for, and how many of their blocks fit.
#include <cstdio>

#include "runtime_program.h"
#define LAUNCH(...)                                                                            \
  do {                                                                                         \
    __VA_ARGS__;                                                                               \
    const cudaError_t peeked = cudaPeekAtLastError(), first = cudaGetLastError();              \
    const cudaError_t second = cudaGetLastError();                                             \
    std::printf("%s: peek %s get %s get %s sync %s\n", #__VA_ARGS__, cudaGetErrorName(peeked), \
                cudaGetErrorName(first), cudaGetErrorName(second),                             \
                cudaGetErrorName(cudaDeviceSynchronize()));                                    \
  } while (0)

__global__ void k(int* p) {
  if (p) p[0] = 1;
}
__global__ void sh() {
  extern __shared__ int s[];
  s[threadIdx.x] = 0;
}
__global__ void plain(int* p) { atomicAdd(p, 1); }
__global__ void valid(int* p) { p[0] = gridDim.x; }
__global__ void tiny() {}
__global__ void st(float* p) {
  __shared__ float s[3000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}

static void grids() {
  // clang-format off
  LAUNCH(k<<<1, 1>>>(nullptr));
  LAUNCH(k<<<0, 1>>>(nullptr));
  LAUNCH(k<<<1, 1025>>>(nullptr));
  LAUNCH(k<<<1, -1>>>(nullptr));
  LAUNCH(k<<<dim3(1, 65536), 1>>>(nullptr));
  LAUNCH(k<<<0x80000000u, 1>>>(nullptr));
  LAUNCH(k<<<1, dim3(1, 1, 65)>>>(nullptr));
  LAUNCH(sh<<<1, 32, 48 * 1024>>>());
  LAUNCH(sh<<<1, 32, 48 * 1024 + 1>>>());
  LAUNCH(sh<<<1, 32, 232448>>>());
  // clang-format on
}

static void no_kernels() {
  static int x;
  cudaFuncAttributes fa;
  R(cudaFuncGetAttributes(&fa, (const void*)nullptr));
  R(cudaFuncGetAttributes(nullptr, k));
  R(cudaFuncGetAttributes(&fa, (const void*)&x));
  R(cudaFuncSetAttribute(k, (cudaFuncAttribute)99, 1));
  R(cudaFuncSetAttribute((const void*)&x, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  void* args[] = {nullptr};
  R(cudaLaunchKernel((const void*)nullptr, 1, 1, args, 0, 0));
  cudaFunction_t fn;
  cudaKernel_t kk;
  R(cudaGetFuncBySymbol(nullptr, (const void*)k));
  R(cudaGetFuncBySymbol(&fn, nullptr));
  R(cudaGetKernel(nullptr, (const void*)k));
  R(cudaGetKernel(&kk, nullptr));
  R(cudaFuncGetName(nullptr, (const void*)k));
}

static void cooperative() {
  int* d;
  cudaMalloc(&d, 64);
  void* a[] = {&d};
  int sm = 0;
  cudaDeviceGetAttribute(&sm, cudaDevAttrMultiProcessorCount, 0);
  R(cudaLaunchCooperativeKernel((const void*)plain, 100000, 1024, a, 0, 0));
  R(cudaLaunchCooperativeKernel((const void*)plain, 0, 64, a, 0, 0));
  R(cudaLaunchCooperativeKernel((const void*)plain, 1, 1025, a, 0, 0));
  R(cudaLaunchCooperativeKernel((const void*)plain, 1, 64, a, 50000, 0));
  R(cudaLaunchCooperativeKernel((const void*)nullptr, 1, 64, a, 0, 0));
  R(cudaLaunchCooperativeKernel((const void*)plain, sm * 32, 32, a, 0, 0));
  R(cudaLaunchCooperativeKernel((const void*)plain, sm * 32 + 1, 32, a, 0, 0));
  cudaLaunchAttribute at = {};
  at.id = cudaLaunchAttributeCooperative;
  at.val.cooperative = 1;
  cudaLaunchConfig_t c = {};
  c.gridDim = sm * 64 + 1;
  c.blockDim = 32;
  c.attrs = &at;
  c.numAttrs = 1;
  R(cudaLaunchKernelEx(&c, valid, d));
  c.gridDim = 1;
  at.id = cudaLaunchAttributePriority;
  at.val.priority = -99;
  R(cudaLaunchKernelEx(&c, valid, d));
  at.id = (cudaLaunchAttributeID)77;
  R(cudaLaunchKernelEx(&c, valid, d));
  at.id = cudaLaunchAttributeIgnore;
  R(cudaLaunchKernelEx(&c, valid, d));
}

template <class F>
static void fits(const char* name, F kernel) {
  for (const int b : {1, 33, 128, 1024}) {
    std::printf("%s b%d:", name, b);
    for (const size_t s : {0, 1, 1024, 5000, 16384, 40000, 49152, 49153, 102400, 232448}) {
      int n = -1;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, b, s);
      std::printf(" %d", n);
    }
    std::printf("\n");
  }
  int least, block;
  const cudaError_t e = cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      &least, &block, kernel, [](int threads) { return threads * 40; });
  std::printf("%s variable %s %d %d\n", name, cudaGetErrorName(e), least, block);
  for (const int blocks : {1, 2, 4, 32}) {
    size_t bytes = 77;  // the value stays where it fails
    const cudaError_t known = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, blocks, 64);
    std::printf("%s dyn %d %s %zu\n", name, blocks, cudaGetErrorName(known), bytes);
  }
}

static void occupancy() {
  // Its own shared memory counts among the 48 KiB that a block may have without being asked for.
  fits("st", st);
  cudaFuncSetAttribute(tiny, cudaFuncAttributePreferredSharedMemoryCarveout, 25);
  fits("tiny carve 25", tiny);
  int n = 5;
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, tiny, 0, 0));
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, tiny, 32, 0));
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void*)nullptr, 32, 0));
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, tiny, 32, 0, 1));
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, tiny, 32, 0, 5));
  R(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, tiny, 32, (size_t)1 << 40));
  I(n);
}

static void attributes() {
  int x = 0;
  R(cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  R(cudaFuncSetAttribute(k, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
  R(cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1));
  R(cudaFuncSetCacheConfig(k, (cudaFuncCache)9));
  R(cudaFuncSetCacheConfig((const void*)&x, cudaFuncCachePreferL1));
  cudaFunction_t fn;
  cudaKernel_t kk;
  R(cudaGetFuncBySymbol(&fn, (const void*)&x));
  R(cudaGetKernel(&kk, (const void*)&x));
}

/// The graph that would have been captured is lost.
static void captured() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  k<<<0, 1, 0, s>>>(nullptr);
  std::printf("cudaGetLastError() = %s\n", cudaGetErrorName(cudaGetLastError()));
  cudaGraph_t g = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(s, &g);
  std::printf("end %s graph %s\n", cudaGetErrorName(ended), g == nullptr ? "null" : "set");
  cudaGetLastError();
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  grids();
  no_kernels();
  cooperative();
  occupancy();
  attributes();
  captured();
  // The launch's bytes count by 32 bits: here there are none, and the kernel leaves them.
  LAUNCH(sh<<<1, 32, (size_t)1 << 40>>>());
}
