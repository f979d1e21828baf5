// SPDX-License-Identifier: MIT
// Which lane's value stays where lanes of one store write to the same place: CUDA leaves it open,
// programs print it. One line a case: memory, bytes a lane, pattern, and the lane that stayed at
// each of the first places.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
template <class T>
__device__ T value_of(unsigned lane) {
  T v;
  memset(&v, 0, sizeof v);
  *reinterpret_cast<unsigned char*>(&v) = static_cast<unsigned char>(lane + 1);
  return v;
}

__device__ unsigned place_of(int pattern, unsigned lane) {
  switch (pattern) {
    case 0:
      return 0;  // all at one place
    case 1:
      return lane / 2;  // neighbours
    case 2:
      return lane % 16;  // halves
    case 3:
      return lane % 4;
    case 4:
      return (lane * 7) % 5;
    case 5:
      return lane < 16 ? lane : 31 - lane;
    default:
      return (lane * 33) % 64 / 8;
  }
}

template <class T>
__global__ void conflict(T* out, int pattern, unsigned mask, bool shared) {
  __shared__ T cells[64];
  const unsigned lane = threadIdx.x;
  if (mask >> lane & 1) {
    if (shared)
      cells[place_of(pattern, lane)] = value_of<T>(lane);
    else
      out[place_of(pattern, lane)] = value_of<T>(lane);
  }
  __syncwarp();
  if (shared && lane < 32) out[lane] = cells[lane];
}

template <class T>
void show(const char* memory, bool shared) {
  T* out;
  cudaMalloc(&out, 64 * sizeof(T));
  for (int pattern = 0; pattern < 7; ++pattern) {
    for (unsigned mask : {~0u, 0xfffffff0u, 0x0f0f0f0fu, 0x80000001u, 0x12345678u}) {
      cudaMemset(out, 0, 64 * sizeof(T));
      conflict<T><<<1, 32>>>(out, pattern, mask, shared);
      T host[32];
      cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
      std::printf("%s %zu %d %08x:", memory, sizeof(T), pattern, mask);
      for (int i = 0; i < 16; ++i)
        std::printf(" %d", *reinterpret_cast<unsigned char*>(&host[i]) - 1);
      std::printf("\n");
    }
  }
  cudaFree(out);
}

struct alignas(16) Wide {
  unsigned words[4];
};

int main() {
  for (bool shared : {true, false}) {
    const char* memory = shared ? "shared" : "global";
    show<unsigned char>(memory, shared);
    show<unsigned short>(memory, shared);
    show<unsigned>(memory, shared);
    show<unsigned long long>(memory, shared);
    show<Wide>(memory, shared);
  }
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
