// SPDX-License-Identifier: MIT
// Prints what a device says of itself as the tables that collector/runtime/device/device_facts.inc
// holds:
//   nvcc -o device_facts device_facts.cu && ./device_facts > device_facts.inc
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
int main() {
  cudaDeviceProp p{};
  if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) return 1;
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf(
      "// Of an %s (driver API %d, runtime %d), written by tests/device/facts/device_facts.cu.\n",
      p.name, driver, runtime);
  std::printf(
      "\n// cudaDeviceProp, word by word: {place, value} of those that are not 0, behind its "
      "name and UUID.\n");
  std::printf("inline constexpr std::pair<int, unsigned> property_facts[] = {");
  unsigned words[sizeof p / 4];
  std::memcpy(words, &p, sizeof words);
  int column = 0;
  for (unsigned i = (256 + 16) / 4; i < sizeof words / 4; ++i) {
    if (words[i] != 0) std::printf("%s{%u, %uu},", column++ % 6 == 0 ? "\n    " : " ", i, words[i]);
  }
  std::printf(
      "\n};\n\n// Attributes by their number; those that the device refuses are left out.\n"
      "inline constexpr std::pair<int, int> driver_attribute_facts[] = {");
  cuInit(0);
  column = 0;
  for (int i = 1; i < 200; ++i) {
    int value = 0;
    if (cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), 0) != CUDA_SUCCESS)
      continue;
    std::printf("%s{%d, %d},", column++ % 8 == 0 ? "\n    " : " ", i, value);
  }
  std::printf(
      "\n};\n\n// Limits: {cudaLimit, value}.\ninline constexpr std::pair<int, std::size_t> "
      "limit_facts[] = {\n   ");
  for (int i = 0; i < 16; ++i) {
    size_t value = 0;
    if (cudaDeviceGetLimit(&value, static_cast<cudaLimit>(i)) == cudaSuccess)
      std::printf(" {%d, %zu},", i, value);
  }
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  std::printf("\n};\ninline constexpr int least_priority = %d, greatest_priority = %d;\n", least,
              greatest);
}
