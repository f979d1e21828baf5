// SPDX-License-Identifier: MIT
// Calls of CUDA from small stacks: of threads, of memory that the program gives a thread, of
// coroutines, and of a signal handler. One after the other, so that the lines come in order.
#include <cuda.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int count = 64;
const char* place = "";

__global__ void add(int* numbers, int summand) {
  numbers[threadIdx.x] += summand;
  if (threadIdx.x == 0) printf("  a kernel prints %d\n", numbers[0]);
}

// The driver compiles it as the program runs.
const char* const code = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .entry twice(.param .u64 numbers) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<3>;
  ld.param.u64 %rd0, [numbers];
  cvta.to.global.u64 %rd1, %rd0;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, %r1;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

int sum_of(const int* numbers) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += numbers[i];
  return sum;
}

void* use_cuda(void*) {
  static int numbers[count];
  for (int i = 0; i < count; ++i) numbers[i] = i;
  int* memory = nullptr;
  cudaMalloc(&memory, sizeof numbers);
  cudaMemcpy(memory, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  for (int i = 1; i <= 2; ++i) add<<<1, count>>>(memory, i);
  cudaDeviceSynchronize();

  CUmodule module = nullptr;
  CUfunction twice = nullptr;
  cuModuleLoadData(&module, code);
  cuModuleGetFunction(&twice, module, "twice");
  void* arguments[] = {&memory};
  cuLaunchKernel(twice, 1, 1, 1, count, 1, 1, 0, nullptr, arguments, nullptr);
  cudaMemcpy(numbers, memory, sizeof numbers, cudaMemcpyDeviceToHost);
  cuModuleUnload(module);
  cudaFree(memory);
  std::printf("%s: %d, %s\n", place, sum_of(numbers), cudaGetErrorName(cudaGetLastError()));
  std::fflush(stdout);
  cudaSetDevice(1000);
  std::printf("%s: %s\n", place, cudaGetErrorName(cudaGetLastError()));  // this thread's own
  std::fflush(stdout);
  return nullptr;
}

void on_thread(const char* name, std::size_t bytes, void* memory = nullptr) {
  place = name;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const int refused = memory != nullptr ? pthread_attr_setstack(&attributes, memory, bytes)
                                        : pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread{};
  if (refused != 0 || pthread_create(&thread, &attributes, use_cuda, nullptr) != 0) {
    std::printf("%s: no thread\n", name);
    return;
  }
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

ucontext_t caller, coroutine;

void run_coroutine() { use_cuda(nullptr); }

void on_coroutine(const char* name, std::size_t bytes) {
  place = name;
  char* stack = new char[bytes];
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = bytes;
  coroutine.uc_link = &caller;
  makecontext(&coroutine, run_coroutine, 0);
  swapcontext(&caller, &coroutine);
  delete[] stack;
}

void* coroutine_on_thread(void*) {
  on_coroutine("a thread's coroutine", 32 << 10);
  return nullptr;
}

void in_signal_handler(const char* name, std::size_t bytes) {
  place = name;
  stack_t own{};
  own.ss_sp = new char[bytes];
  own.ss_size = bytes;
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { use_cuda(nullptr); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
}

void on_memory_of_the_program(const char* name, std::size_t bytes) {
  constexpr std::size_t below = 2 << 20;
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, below + bytes) != 0) return;
  char* const begin = static_cast<char*>(memory);
  std::memset(begin, 'b', below);
  on_thread(name, bytes, begin + below);
  for (std::size_t i = 0; i < below; ++i) {
    if (begin[i] == 'b') continue;
    std::printf("%s: the memory below has changed\n", name);
    break;
  }
  std::free(memory);
}

constexpr std::size_t kib = 1 << 10;
void (*const places[])() = {
    [] { on_thread("16 KiB and the least", PTHREAD_STACK_MIN + 16 * kib); },
    [] { on_thread("32 KiB", 32 * kib); },
    [] { on_thread("64 KiB", 64 * kib); },
    [] { on_thread("96 KiB", 96 * kib); },
    [] { on_thread("256 KiB", 256 * kib); },
    [] { on_thread("1 MiB", 1024 * kib); },
    [] { on_memory_of_the_program("memory of the program", 64 * kib); },
    [] { on_coroutine("a coroutine", 32 * kib); },
    [] {
      pthread_t thread{};
      pthread_create(&thread, nullptr, coroutine_on_thread, nullptr);
      pthread_join(thread, nullptr);
    },
    [] { in_signal_handler("a signal handler", 32 * kib); },
};

}  // namespace

/// The argument is the number of the only place, from 0 on; without it there are all.
int main(int arguments, char** words) {
  if (arguments > 1) {
    places[std::atoi(words[1])]();
    return 0;
  }
  for (void (*const use)() : places) use();
}
