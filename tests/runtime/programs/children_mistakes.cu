// SPDX-License-Identifier: MIT
// The messages about mistakes of kernels that launch kernels, and about those of the host.
#include "runtime_program.h"
__global__ void nothing() {}
__global__ void add(int* p) { atomicAdd(p, 1); }
__global__ void big_shared(int* p) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  atomicAdd(p, s[threadIdx.x]);
}
__global__ void __launch_bounds__(64) few() {}
__global__ void traps() { __trap(); }
__global__ void wild(int* p) { *p = 1; }

__global__ void mistakes(long long* answers, int* p) {
  int n = 0;
  const auto say = [&](long long value) { answers[n++] = value; };
  const auto ask = [&] {
    say(cudaPeekAtLastError());
    say(cudaGetLastError());
    say(cudaGetLastError());
  };
  nothing<<<0, 1>>>();
  ask();
  nothing<<<1, 0>>>();
  ask();
  nothing<<<1, 1025>>>();
  ask();
  nothing<<<dim3(1, 65536), 1>>>();
  ask();
  nothing<<<1, dim3(1, 1, 65)>>>();
  ask();
  few<<<1, 65>>>();
  ask();
  big_shared<<<1, 32, 48 * 1024>>>(p);
  ask();
  big_shared<<<1, 32, 48 * 1024 + 1>>>(p);
  ask();
  big_shared<<<1, 32, 300 * 1024>>>(p);
  ask();
  cudaStream_t s;
  say(cudaStreamCreateWithFlags(&s, cudaStreamDefault));
  say(cudaStreamCreateWithFlags(&s, 7));
  say(cudaStreamCreateWithFlags(nullptr, cudaStreamNonBlocking));
  say(cudaStreamDestroy(0));
  say(cudaStreamDestroy(cudaStreamTailLaunch));
  cudaEvent_t e;
  say(cudaEventCreateWithFlags(&e, 0));
  say(cudaEventCreateWithFlags(&e, cudaEventBlockingSync));
  say(cudaEventCreateWithFlags(nullptr, cudaEventDisableTiming));
  say(cudaMalloc(nullptr, 4));
  void* q = p;
  say(cudaMalloc(&q, 0)), say(q == nullptr);
  say(cudaMalloc(&q, size_t{1} << 40)), say(q == nullptr);
  say(cudaMemcpyAsync(p + 8, p, 4, cudaMemcpyHostToDevice, 0));
  say(cudaMemcpyAsync(p + 8, p, 4, cudaMemcpyDefault, 0));
  say(cudaMemcpyAsync(p + 8, p, 0, cudaMemcpyDeviceToDevice, 0));
  say(cudaMemsetAsync(nullptr, 0, 0, 0));
  int i = 0;
  say(cudaGetDevice(nullptr));
  say(cudaDeviceGetAttribute(&i, cudaDevAttrWarpSize, 1));
  say(cudaDeviceGetAttribute(&i, (cudaDeviceAttr)9999, 0));
  say(cudaGetLastError());
  say(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  add<<<1, 1, 0, s>>>(p);
  say(cudaStreamDestroy(s));
  say(cudaGetLastError());
}

__global__ void many(int* p, int count, int* answers) {
  for (int i = 0; i < count; ++i) {
    add<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
    const cudaError_t failed = cudaGetLastError();
    if (failed != cudaSuccess) {
      answers[0] = i;
      answers[1] = failed;
      return;
    }
  }
}

__global__ void deeper(int* levels, int level, int most) {
  levels[level] = 1;
  if (level + 1 < most) deeper<<<1, 1>>>(levels, level + 1, most);
  levels[100 + level] = cudaGetLastError();
}

__global__ void launches_trap() { traps<<<1, 1>>>(); }
__global__ void launches_wild(int* p) { wild<<<1, 1>>>(p); }
__global__ void passes_local(int* out) {
  int own = 3;
  wild<<<1, 1>>>(&own);
  out[0] = cudaGetLastError();
}

int main(int argc, char** argv) {
  long long* answers;
  int* p;
  cudaMalloc(&p, 1 << 20);
  cudaMallocManaged(&answers, 100 * sizeof(long long));
  int* numbers;
  cudaMallocManaged(&numbers, 1000 * sizeof(int));
  if (argc > 1 && argv[1][0] == 't') {
    launches_trap<<<1, 1>>>();
    R(cudaDeviceSynchronize());
    return 0;
  }
  if (argc > 1 && argv[1][0] == 'w') {
    launches_wild<<<1, 1>>>(reinterpret_cast<int*>(16));
    R(cudaDeviceSynchronize());
    return 0;
  }
  if (argc > 1 && argv[1][0] == 'l') {
    passes_local<<<1, 1>>>(numbers);
    R(cudaDeviceSynchronize());
    I(numbers[0]);
    return 0;
  }
  if (argc > 1 && argv[1][0] == 'm') {
    numbers[0] = numbers[1] = -1;
    many<<<1, 1>>>(p, 6000, numbers);
    R(cudaDeviceSynchronize());
    std::printf("%d pending, then %d\n", numbers[0], numbers[1]);
    int done = 0;
    cudaMemcpy(&done, p, 4, cudaMemcpyDeviceToHost);
    I(done);
    R(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
    size_t limit = 0;
    R(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
    I(limit);
    return 0;
  }
  mistakes<<<1, 1>>>(answers, p);
  R(cudaDeviceSynchronize());
  for (int i = 0; i < 54; ++i) std::printf("%lld%s", answers[i], i % 3 == 2 ? "\n" : " ");
  std::printf("\n");
  deeper<<<1, 1>>>(numbers, 0, 40);
  R(cudaDeviceSynchronize());
  for (int i = 0; i < 40; ++i) std::printf("%d:%d ", numbers[i], numbers[100 + i]);
  std::printf("\n");
}
