// SPDX-License-Identifier: MIT
// Records tests/golden/special_functions.csv on device 0 (see special_function_kernel.h).
//
//   ninja record_special_functions && ./record_special_functions > special_functions.csv
#include <iostream>

#include "tests/collector/model/recording_device.h"
#include "tests/collector/model/special_function_kernel.h"

using namespace warpmeter::model;

int main() {
  open_recording_device();
  CUdeviceptr sum = 0, numbers = 0;
  check(cuMemAlloc(&sum, 4), "cuMemAlloc");
  check(cuMemAlloc(&numbers, 4096), "cuMemAlloc");
  std::cout << "instruction,row,hash\n";
  for (const SpecialFunction& function : special_functions) {
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    check(cuModuleLoadData(&module, special_function_kernel(function).c_str()),
          function.instruction);
    check(cuModuleGetFunction(&kernel, module, "hashes"), function.instruction);
    for (std::uint32_t row = 0; row < special_rows; ++row) {
      const std::vector<std::uint32_t> chunks = chunks_of_row(function.operands, row);
      if (chunks.empty()) continue;
      std::uint32_t hash = 0;
      check(cuMemcpyHtoD(sum, &hash, 4), "cuMemcpyHtoD");
      check(cuMemcpyHtoD(numbers, chunks.data(), chunks.size() * 4), "cuMemcpyHtoD");
      void* arguments[] = {&sum, &numbers};
      check(cuLaunchKernel(kernel, static_cast<unsigned>(chunks.size()), 1, 1, 256, 1, 1, 0,
                           nullptr, arguments, nullptr),
            function.instruction);
      check(cuMemcpyDtoH(&hash, sum, 4), function.instruction);
      std::cout << fmt::format("{},{},{:08x}\n", function.instruction, row, hash);
    }
    cuModuleUnload(module);
  }
  return 0;
}
