// SPDX-License-Identifier: MIT
// Eight host threads, each with a stream and memory of its own, launch all at once.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
constexpr int threads = 8, launches = 4;
__global__ void step(int* data) { data[threadIdx.x] += 1; }
int main() {
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([i, &wrong] {
      cudaStream_t stream;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      int *data = nullptr, value = 0;
      if (cudaMalloc(&data, 4096) != cudaSuccess) return void(wrong = 100);
      cudaMemsetAsync(data, 0, 4096, stream);
      for (int j = 0; j < launches; ++j) step<<<1, 32 * (i + 1), 0, stream>>>(data);
      cudaMemcpyAsync(&value, data, sizeof value, cudaMemcpyDeviceToHost, stream);
      cudaStreamSynchronize(stream);
      wrong += value != launches;
    });
  }
  for (std::thread& thread : all) thread.join();
  std::printf("%d wrong\n", wrong.load());
  return wrong == 0 ? 0 : 1;
}
