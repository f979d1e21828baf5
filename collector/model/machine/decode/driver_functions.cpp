// SPDX-License-Identifier: MIT
// Functions that come with the driver or with libcudadevrt, which a kernel calls as if they were
// its own: printf, assert, malloc, free, and CUDA's runtime on the device.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

/// False: it is none of them.
bool Decoder::decode_system_call(std::string_view name, const std::vector<Passed>& results,
                                 const std::vector<Passed>& arguments) {
  const auto argument = [&](std::size_t i) {
    if (i >= arguments.size()) refuse(fmt::format("passes too few arguments to {}", name));
    const auto [base, offset] = local_place(arguments[i].symbol);
    const unsigned bytes = arguments[i].bytes >= 8 ? 8 : 4;
    const std::uint16_t row = scratch(bytes);
    emit_local(true, base, true, offset, row, bytes, false);
    return row;
  };
  const auto result = [&](std::uint16_t row, unsigned bytes) {
    if (results.empty()) return;
    const auto [base, offset] = local_place(results[0].symbol);
    emit_local(false, base, true, offset, row, bytes, false);
  };
  if (name == "vprintf") {
    const std::uint16_t format = argument(0), values = argument(1), count = scratch(4);
    emit(Code::print, {.d = count, .a = format, .b = values}, false);
    program_.prints = true;
    result(count, 4);
  } else if (name == "__assertfail") {
    const std::uint16_t message = argument(0), file = argument(1), line = argument(2);
    const std::uint16_t function = argument(3);
    emit(Code::assertion, {.a = message, .b = file, .c = line, .e = function}, false);
  } else if (name == "malloc") {
    const std::uint16_t bytes = argument(0), address = scratch(8);
    emit(Code::allocate, {.d = address, .a = bytes}, false);
    program_.allocates = true;
    result(address, 8);
  } else if (name == "free") {
    const std::uint16_t address = argument(0);
    emit(Code::deallocate, false).a = address;
  } else {
    return decode_device_call(name, results, arguments);
  }
  // The result depends on the order of the blocks.
  if (name != "__assertfail") program_.blocks_communicate = true;
  return true;
}

/// The address by which a kernel launches another one.
std::optional<std::uint64_t> Decoder::kernel_address(std::string_view name) {
  const ptx::Function* kernel = module_.find(name);
  if (kernel == nullptr || !kernel->is_entry) return std::nullopt;
  auto& kernels = program_.kernels;
  if (kernels.empty()) {
    for (const ptx::Function& function : module_.functions) {
      if (function.is_entry && !function.is_declaration) kernels.emplace_back(function.name);
    }
  }
  const auto found = std::find(kernels.begin(), kernels.end(), kernel->name);
  if (found == kernels.end()) return std::nullopt;
  return first_kernel + kernel_step * static_cast<std::uint64_t>(found - kernels.begin());
}

/// A call of CUDA's runtime on the device. Structures that are passed come apart into numbers.
bool Decoder::decode_device_call(std::string_view name, const std::vector<Passed>& results,
                                 const std::vector<Passed>& arguments) {
  const std::optional<DeviceFunctionInfo> info = device_function(name);
  if (!info) return false;
  DeviceCall call;
  call.function = *info;
  for (const Passed& argument : arguments) {
    const unsigned bytes = argument.bytes % 8 == 0 ? 8 : 4;
    const auto [base, offset] = local_place(argument.symbol);
    for (std::uint64_t at = 0; at < argument.bytes; at += bytes) {
      const std::uint16_t row = scratch(bytes);
      emit_local(true, base, true, offset + static_cast<std::int64_t>(at), row, bytes, false);
      call.arguments.push_back({row, static_cast<std::uint8_t>(bytes)});
    }
  }
  if (call.arguments.size() != info->arguments) {
    refuse(fmt::format("passes another number of arguments to {} than it takes", name));
  }
  const std::uint16_t row = scratch(info->result_bytes);
  emit_device_call(std::move(call), row);
  if (!results.empty()) {
    const auto [base, offset] = local_place(results[0].symbol);
    emit_local(false, base, true, offset, row, info->result_bytes, false);
  }
  const DeviceFunction function = info->function;
  program_.allocates |= function == DeviceFunction::Malloc;
  return true;
}

void Decoder::emit_device_call(DeviceCall call, std::uint16_t result) {
  const auto number = static_cast<std::uint32_t>(program_.device_calls.size());
  emit(Code::device_call, {.d = result, .extra = number}, false);
  program_.device_calls.push_back(std::move(call));
  program_.blocks_communicate = true;
}

}  // namespace warpmeter::model
