// SPDX-License-Identifier: MIT
// Kernels that launch kernels: order within a stream, streams of the device, tails, recursion, and
// what a kernel may ask of the device's runtime.
#include <cstring>

#include "runtime_program.h"
struct Wide {
  double a;
  char b;
  short c[3];
};

__global__ void append(int* list, int value) {
  const int at = atomicAdd(list, 1);
  list[1 + at] = value;
}

__global__ void scaled(const float* in, float* out, int n, Wide w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[64];
  s[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x ^ 1] * static_cast<float>(w.a) + w.b + w.c[2];
}

// The work of a stream runs in its order; the parent's writes before a launch are seen.
__global__ void in_order(int* list) {
  list[0] = 0;
  for (int i = 0; i < 5; ++i) append<<<1, 1>>>(list, i);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 100);
  append<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 101);
}

__global__ void with_geometry(const float* in, float* out, int n) {
  const Wide w = {2.5, 1, {0, 0, 7}};
  if (threadIdx.x == 0) scaled<<<(n + 63) / 64, 64>>>(in, out, n, w);
}

__global__ void dynamic_shared(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = threadIdx.x * 3;
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + gridDim.y * 1000 + blockDim.y * 100;
}
__global__ void with_dynamic(int* out) { dynamic_shared<<<dim3(1, 3, 1), 32, 128>>>(out); }

// Each level launches the next.
__global__ void deeper(int* levels, int level, int most) {
  levels[level] = level + 1;
  if (level + 1 < most) deeper<<<1, 1>>>(levels, level + 1, most);
}

// A tail launch of the same kernel: a loop without the host.
__global__ void again(int* count, int most) {
  if (++*count < most) again<<<1, 1, 0, cudaStreamTailLaunch>>>(count, most);
}

__global__ void halves(int* data, int n) {
  if (n == 1) {
    data[0] += 1;
    return;
  }
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  halves<<<1, 1>>>(data, n / 2);
  halves<<<1, 1, 0, s>>>(data + n / 2, n - n / 2);
  cudaStreamDestroy(s);
}

// The parent is complete when its children are, whatever stream they were given to.
__global__ void forgotten(int* sum) {
  append<<<1, 1, 0, cudaStreamFireAndForget>>>(sum, 7);
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  atomicAdd(sum + 20, 1);
  dynamic_shared<<<1, 32, 128, s>>>(sum + 32);
  cudaEventRecord(e, s);
  cudaStreamWaitEvent(0, e, 0);
  cudaMemcpyAsync(sum + 64, sum + 32, 128, cudaMemcpyDeviceToDevice, 0);
  cudaEventDestroy(e);
  cudaStreamDestroy(s);
}

__global__ void each_thread(int* list) { append<<<1, 1>>>(list, 5); }

__device__ int marks[4];
__constant__ int factor = 3;
__global__ void mark(int i) { marks[i] = factor * i; }
__global__ void marked() {
  for (int i = 0; i < 4; ++i) mark<<<1, 1>>>(i);
}

__global__ void asked(long long* answers) {
  int i = 0, n = 0;
  const auto say = [&](long long value) { answers[n++] = value; };
  say(cudaGetDeviceCount(&i)), say(i);
  say(cudaGetDevice(&i)), say(i);
  say(cudaDeviceGetAttribute(&i, cudaDevAttrWarpSize, 0)), say(i);
  say(cudaDeviceGetAttribute(&i, cudaDevAttrMultiProcessorCount, 0)), say(i);
  say(cudaDeviceGetAttribute(&i, cudaDevAttrComputeCapabilityMajor, 0)), say(i);
  say(cudaDeviceGetAttribute(&i, cudaDevAttrMaxSharedMemoryPerBlock, 0)), say(i);
  say(cudaRuntimeGetVersion(&i)), say(i);
  cudaFuncAttributes a = {};
  say(cudaFuncGetAttributes(&a, scaled)), say(a.sharedSizeBytes), say(a.maxThreadsPerBlock);
  say(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&i, append, 32, 0)), say(i);
  say(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&i, scaled, 1024, 0)), say(i);
  void* p = nullptr;
  say(cudaMalloc(&p, 1000)), say(p != nullptr);
  static_cast<char*>(p)[999] = 5;
  say(static_cast<char*>(p)[999]);
  say(cudaFree(p)), say(cudaFree(nullptr));
  size_t limit = 0;
  say(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize)), say(limit);
  say(cudaGetLastError());
  say(cudaGetErrorString(cudaErrorInvalidValue)[0]),
      say(cudaGetErrorName(cudaErrorInvalidValue)[4]);
}

int main() {
  int* list;
  cudaMalloc(&list, 4096);
  int host[256];
  const auto get = [&](const char* name, int from, int count) {
    const cudaError_t failed = cudaDeviceSynchronize();
    cudaMemcpy(host, list + from, count * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%s %s:", name, cudaGetErrorName(failed));
    for (int i = 0; i < count; ++i) std::printf(" %d", host[i]);
    std::printf("\n");
    cudaMemset(list, 0, 4096);
  };
  cudaMemset(list, 0, 4096);
  in_order<<<1, 1>>>(list);
  get("in order", 0, 8);
  float *in, *out;
  cudaMallocManaged(&in, 1000 * sizeof(float));
  cudaMallocManaged(&out, 1000 * sizeof(float));
  for (int i = 0; i < 1000; ++i) in[i] = static_cast<float>(i);
  with_geometry<<<1, 32>>>(in, out, 1000);
  R(cudaDeviceSynchronize());
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += out[i];
  std::printf("scaled %g %g %g\n", out[0], out[999], sum);
  with_dynamic<<<1, 1>>>(list);
  get("dynamic", 0, 4);
  deeper<<<1, 1>>>(list, 0, 12);
  get("deeper", 0, 13);
  again<<<1, 1>>>(list, 40);
  get("again", 0, 1);
  halves<<<1, 1>>>(list, 13);
  get("halves", 0, 14);
  forgotten<<<1, 1>>>(list);
  get("forgotten", 0, 102);
  each_thread<<<3, 40>>>(list);
  get("each thread", 0, 122);
  marked<<<1, 1>>>();
  int seen[4];
  R(cudaMemcpyFromSymbol(seen, marks, sizeof(seen)));
  std::printf("marks %d %d %d %d\n", seen[0], seen[1], seen[2], seen[3]);
  long long* answers;
  cudaMallocManaged(&answers, 64 * sizeof(long long));
  asked<<<1, 1>>>(answers);
  R(cudaDeviceSynchronize());
  for (int i = 0; i < 36; ++i) std::printf("%lld ", answers[i]);
  std::printf("\n");
  size_t limit = 0;
  R(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  I(limit);
  R(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimeSyncDepth));
  I(limit);
}
