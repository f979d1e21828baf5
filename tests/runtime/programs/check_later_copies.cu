// SPDX-License-Identifier: MIT
// A copy that comes behind a host function runs while the program is in another call.
#include <cuda_runtime.h>

#include <chrono>
#include <thread>

void rest(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

int main() {
  int *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  cudaMalloc(&from, 64);
  cudaMallocHost(&to, 64);
  cudaStreamCreate(&stream);
  cudaLaunchHostFunc(stream, rest, nullptr);
  cudaMemcpyAsync(to, from, 64, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(from);
  cudaFreeHost(to);
}
