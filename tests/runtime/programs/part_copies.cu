// SPDX-License-Identifier: MIT
// Asynchronous copies of which the source has fewer bytes: the rest is zero.
#include <cuda_pipeline_primitives.h>

#include <cstdio>
constexpr int most = 16;

template <int bytes, int zeros>
__global__ void copy(const char* from, char* to) {
  __shared__ alignas(most) char room[most];
  for (char& one : room) one = 77;
  __pipeline_memcpy_async(room, from, bytes, zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < most; ++i) to[i] = room[i];
}

template <int bytes, int zeros>
void show(const char* from, char* to) {
  copy<bytes, zeros><<<1, 1>>>(from, to);
  char host[most];
  cudaMemcpy(host, to, most, cudaMemcpyDeviceToHost);
  std::printf("%d of %d:", bytes - zeros, bytes);
  for (int i = 0; i < bytes; ++i) std::printf(" %d", host[i]);
  std::puts("");
}

template <int bytes, int zeros>
void show_all(const char* from, char* to) {
  show<bytes, zeros>(from, to);
  if constexpr (zeros < bytes) show_all<bytes, zeros + 1>(from, to);
}

int main() {
  char host[most], *from = nullptr, *to = nullptr;
  for (int i = 0; i < most; ++i) host[i] = static_cast<char>(i + 1);
  cudaMalloc(&from, most);
  cudaMalloc(&to, most);
  cudaMemcpy(from, host, most, cudaMemcpyHostToDevice);
  show_all<16, 0>(from, to);
  show_all<8, 0>(from, to);
  show_all<4, 0>(from, to);
}
