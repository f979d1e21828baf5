// SPDX-License-Identifier: MIT
// A program that looks at memory of its heap which it never set: on its own it finds zeros before
// its first call of CUDA.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>
__global__ void nothing() {}

int main() {
  // The stream that a program writes to has a buffer in its heap.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  constexpr std::size_t link_bytes =
      16;  // the link bytes of a block that was freed and not given again
  int set = 0;
  for (const std::size_t bytes : {40, 100, 400, 1000, 4000, 16000, 64000, 200000}) {
    for (int block = 0; block < 8; ++block) {
      const auto* const data = static_cast<const volatile char*>(std::malloc(bytes));
      for (std::size_t i = link_bytes; i < bytes; ++i) set += data[i] != 0;
    }
  }
  std::printf("%d bytes are not zero\n", set);
  nothing<<<1, 1>>>();
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
