// SPDX-License-Identifier: MIT
// Contexts that are made and reset, and what is left after a failed kernel: here, in another
// thread, in a fork, in a host function, of a stream that is destroyed with something to do.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

#include "runtime_program.h"
#define ASK(call) std::printf("%s = %s\n", #call, name_of(call))

static const char* name_of(CUresult result) {
  const char* name = nullptr;
  return cuGetErrorName(result, &name) == CUDA_SUCCESS ? name : "?";
}

__device__ int x = 3;
__global__ void k() { x++; }
__device__ int g;
__global__ void gg(int v) { atomicAdd(&g, v); }
__global__ void bad(int* p) { *p = 1; }
__global__ void okk(int* p) { *p = 2; }

static int cur() {
  CUcontext c = (CUcontext)1;
  cuCtxGetCurrent(&c);
  return c != nullptr;
}

static void contexts() {
  CUcontext c2;
  unsigned f;
  int act;
  CUdeviceptr p;
  ASK(cuInit(0));
  ASK(cuCtxPushCurrent(nullptr));
  K(cudaFree(0));
  ASK(cuDevicePrimaryCtxGetState(0, &f, &act));
  I(f);
  I(act);
  ASK(cuCtxCreate(&c2, nullptr, 0, 0));
  ASK(cuMemAlloc(&p, 64));
  CUcontext pc;
  ASK(cuPointerGetAttribute(&pc, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  I(pc == c2);
  ASK(cuCtxDestroy(c2));
  ASK(cuCtxCreate(&c2, nullptr, 0x4000, 0));
  for (const unsigned fl : {4u, 3u, 16u}) {
    ASK(cuCtxCreate(&c2, nullptr, fl, 0));
    ASK(cuCtxGetFlags(&f));
    I(f);
    ASK(cuCtxDestroy(c2));
  }
  int v = 0;
  k<<<1, 1>>>();
  K(cudaMemcpyFromSymbol(&v, x, 4));
  I(v);
  K(cudaDeviceReset());
  K(cudaMemcpyFromSymbol(&v, x, 4));
  I(v);
  K(cudaDeviceReset());
  K(cudaDeviceReset());
  ASK(cuDevicePrimaryCtxGetState(0, &f, &act));
  I(act);
  I(cur());
  ASK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
  K(cudaFree(0));
  unsigned fl;
  K(cudaGetDeviceFlags(&fl));
  I(fl);
}

static std::atomic<bool> gate{false};
static cudaError_t in_cb;

static void callbacks() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaLaunchHostFunc(
      s,
      [](void*) {
        int n;
        in_cb = cudaGetDeviceCount(&n);
      },
      nullptr);
  cudaStreamSynchronize(s);
  std::puts(cudaGetErrorName(in_cb));
  cudaLaunchHostFunc(
      s,
      [](void*) {
        while (!gate) {
        }
        std::printf("from the callback\n");
      },
      nullptr);
  K(cudaStreamDestroy(s));
  gate = true;
  K(cudaDeviceSynchronize());
}

/// A thread that has called nothing has nothing to reset.
static void other_thread() {
  int h = 0;
  gg<<<1, 80>>>(1);
  std::thread([] { K(cudaDeviceReset()); }).join();
  K(cudaMemcpyFromSymbol(&h, g, 4));
  I(h);
}

static void after_failure() {
  bad<<<1, 1>>>(nullptr);
  K(cudaGetLastError());
  K(cudaDeviceSynchronize());
  K(cudaPeekAtLastError());
  K(cudaGetLastError());
  K(cudaGetLastError());
  void* p;
  K(cudaMalloc(&p, 4));
  K(cudaEventQuery((cudaEvent_t)0));
  int n;
  char h[4];
  K(cudaGetDeviceCount(&n));
  cudaPointerAttributes pa;
  K(cudaPointerGetAttributes(&pa, h));
  size_t a, b;
  K(cudaMemGetInfo(&a, &b));
  K(cudaGetLastError());
  K(cudaDeviceReset());
  K(cudaGetLastError());
  K(cudaMalloc(&p, 4));
  K(cudaDeviceSynchronize());
}

// clang-format off
#line 15 "p07_assert.cu"
__global__ void a(int n) { printf("before %d\n", threadIdx.x); assert(n < 5); printf("after %d\n", threadIdx.x); }
// clang-format on

static void assertion() {
  a<<<1, 1>>>(9);
  K(cudaGetLastError());
  const cudaError_t e = cudaDeviceSynchronize();
  std::printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
  int* p;
  K(cudaMalloc(&p, 4));
  K(cudaDeviceReset());
  K(cudaGetLastError());
  K(cudaMalloc(&p, 4));
}

static void in_fork() {
  int n = -1;
  K(cudaGetDeviceCount(&n));
  void* q;
  K(cudaMalloc(&q, 4));
}

template <class Function>
static void in_child(Function function) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(1, 2);
    function();
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  in_child(after_failure);
  in_child(assertion);
  contexts();
  callbacks();
  other_thread();
  in_child(in_fork);
}
