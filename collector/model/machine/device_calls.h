// SPDX-License-Identifier: MIT
// Calls of CUDA's runtime in the code of a kernel, as a program has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace warpmeter::model {

enum class DeviceFunction : std::uint8_t {
#define DEVICE_FUNCTION(name, ...) name,
#include "collector/model/machine/device_functions.h"
};

struct DeviceFunctionInfo {
  DeviceFunction function = DeviceFunction::Malloc;
  std::string_view name;  ///< "Malloc"
  std::uint8_t arguments = 0, result_bytes = 4;
};
/// By the name that a kernel calls: "__cudaCDP2Malloc", "cudaMalloc", "__cudaCDP2EventRecord_ptsz".
std::optional<DeviceFunctionInfo> device_function(std::string_view called);

struct DeviceCall {
  struct Argument {
    std::uint16_t row = 0;
    std::uint8_t bytes = 4;  ///< 4 or 8
  };
  DeviceFunctionInfo function;
  std::vector<Argument> arguments;
};

/// The value of a pointer to a kernel, by the kernel's number in Program::kernels.
inline constexpr std::uint64_t first_kernel = 0x500000000000, kernel_step = 16;

}  // namespace warpmeter::model
