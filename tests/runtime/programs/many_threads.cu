// SPDX-License-Identifier: MIT
// Host threads with streams of their own, a device that others use too, and a child process.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <thread>
#include <vector>
__global__ void add(int* data, int value) { data[threadIdx.x] += value; }

int main() {
  constexpr int threads = 4, rounds = 20;
  int results[threads] = {};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([t, &results] {
      int* data;
      cudaMalloc(&data, 32 * sizeof(int));
      cudaStream_t stream;
      cudaStreamCreate(&stream);
      cudaMemsetAsync(data, 0, 32 * sizeof(int), stream);
      for (int i = 0; i < rounds; ++i) add<<<1, 32, 0, stream>>>(data, t + 1);
      cudaMemcpyAsync(&results[t], data + 31, sizeof(int), cudaMemcpyDeviceToHost, stream);
      cudaStreamSynchronize(stream);
      cudaStreamDestroy(stream);
      cudaFree(data);
    });
  }
  for (std::thread& thread : all) thread.join();
  for (int result : results) std::printf("%d\n", result);
  std::fflush(stdout);

  const pid_t child = fork();
  if (child == 0) {
    void* memory;
    std::printf("child: %s\n", cudaGetErrorName(cudaMalloc(&memory, 4)));
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::printf("parent: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
