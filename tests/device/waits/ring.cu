// SPDX-License-Identifier: MIT
// Four ranks in four threads pass a token around in a ring, as collectives do: each kernel waits
// for its neighbour's.
#include <thread>
#include <vector>
#include "waiting.h"
constexpr int ranks = 4;
__global__ void pass_on(volatile int* token, int rank, int rounds, int* data) {
  for (int round = 0; round < rounds; ++round) {
    if (!wait_for(token, round * ranks + rank)) return;
    data[rank] += 10;
    __threadfence();
    *token = *token + 1;
  }
}
int main() {
  int *token = nullptr, *data = device_array();
  CHECK(cudaMalloc(&token, sizeof *token));
  CHECK(cudaMemset(token, 0, sizeof *token));
  CHECK(cudaDeviceSynchronize());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([=] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      pass_on<<<1, 1, 0, stream>>>(token, rank, 5, data);
      CHECK(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  finish(data);
}
