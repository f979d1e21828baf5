// SPDX-License-Identifier: MIT
// The stack limits that a device takes, and how it rounds them.
#include <cstddef>
#include <cstdio>
int main() {
  for (const std::size_t bytes : {0, 1, 15, 16, 17, 100, 1000, 1001, 1025, 8000, 8001, 65536,
                                  131072, 262144, 523712, 523713, 524288}) {
    std::size_t now = 0;
    const int result = cudaDeviceSetLimit(cudaLimitStackSize, bytes);
    cudaDeviceGetLimit(&now, cudaLimitStackSize);
    std::printf("%zu: %d, then %zu\n", bytes, result, now);
  }
}
