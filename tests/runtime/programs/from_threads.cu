// SPDX-License-Identifier: MIT
// Eight kernels, launched from as many host threads as the argument says.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
// Each kernel reads and writes with a stride of its own, in global and in shared memory, and its
// blocks meet in one sum.
template <int stride>
__global__ void strided(int* data, int* sum) {
  __shared__ int tile[32 * stride];
  const int at = threadIdx.x * stride;
  tile[at] = data[blockIdx.x * 32 * stride + at];
  __syncwarp();
  data[blockIdx.x * 32 * stride + at] = tile[at] + stride;
  if (threadIdx.x == 0) atomicAdd(sum, stride);
}

template <int stride>
void launch(int* result) {
  constexpr int blocks = 16;
  int* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaMalloc(&memory, (blocks * 32 * stride + 1) * sizeof(int));
  cudaMemset(memory, 0, (blocks * 32 * stride + 1) * sizeof(int));
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  strided<stride><<<blocks, 32, 0, stream>>>(memory, memory + blocks * 32 * stride);
  cudaMemcpyAsync(result, memory + blocks * 32 * stride, sizeof *result, cudaMemcpyDeviceToHost,
                  stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFree(memory);
}

int main(int, char** arguments) {
  constexpr int kernels = 8;
  void (*const launches[kernels])(int*) = {launch<1>, launch<2>, launch<3>,  launch<4>,
                                           launch<5>, launch<8>, launch<16>, launch<32>};
  int results[kernels] = {};
  const int count = std::atoi(arguments[1]);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < kernels; i += count) launches[i](&results[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int result : results) std::printf("%d\n", result);
}
