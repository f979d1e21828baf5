// SPDX-License-Identifier: MIT
// A CUDA array: rows of elements in device memory, which copies, textures and surfaces reach.
#pragma once

#include <cstdint>

#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

struct Array {
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};  ///< in elements; height and depth 0 where it has none
  unsigned flags = 0;
  std::uint64_t address = 0;
  bool is_level = false;  ///< for an array with levels, which frees it

  std::uint64_t element_bytes() const {
    return static_cast<std::uint64_t>(channels.x + channels.y + channels.z + channels.w) / 8;
  }
  std::uint64_t pitch() const { return extent.width * element_bytes(); }
  std::uint64_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  std::uint64_t layers() const { return extent.depth == 0 ? 1 : extent.depth; }
  std::uint64_t bytes() const { return pitch() * rows() * layers(); }
};

class Process;

/// The program's array of that handle; null for none.
Array* array_at(const void* handle);
/// In device memory, zeroed. `caller`: of the API.
cudaError_t make_array(Process& process, const Array& wanted, void** handle);
void remove_array(Process& process, const void* handle);
/// False where it is none. A level stays.
bool free_array(Process& process, const void* handle);

}  // namespace warpmeter::runtime
