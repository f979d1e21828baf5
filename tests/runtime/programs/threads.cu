// SPDX-License-Identifier: MIT
// Several host threads with streams of their own, and a child that was forked before any use of
// CUDA and one that starts the program anew.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
__global__ void add(int* sum, int value) { atomicAdd(sum, value); }

int sum_of(int value) {
  int *sum = nullptr, result = 0;
  cudaStream_t stream = nullptr;
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int i = 0; i < 10; ++i) add<<<2, 32, 0, stream>>>(sum, value);
  cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(sum);
  return result;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    std::printf("started anew: %d\n", sum_of(5));
    return 0;
  }
  std::fflush(stdout);
  if (fork() == 0) {
    std::printf("forked: %d\n", sum_of(7));
    std::fflush(stdout);
    _exit(0);
  }
  wait(nullptr);
  if (fork() == 0) {
    execl(argv[0], argv[0], "again", nullptr);
    _exit(1);
  }
  wait(nullptr);
  std::vector<int> results(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&results, i] { results[i] = sum_of(i); });
  for (std::thread& thread : threads) thread.join();
  std::printf("threads: %d %d %d %d\n", results[0], results[1], results[2], results[3]);
}
