// SPDX-License-Identifier: MIT
// The device that a program without a GPU finds: an H100 for sm_90, and what NVIDIA publishes of
// the architectures beside it. Sizes of memory are this machine's.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "collector/runtime/device/cuda_api.h"
#include "schema/records.h"

namespace warpmeter::runtime {

/// The device that this thread's calls mean (cudaSetDevice).
extern thread_local int current_device;

/// Another one, as long as it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(std::exchange(current_device, device)) {}
  ~OnDevice() { current_device = before_; }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const int before_;
};

/// The device for the schema.
schema::Device described_device(int arch, std::uint32_t ordinal);

/// Bytes of device memory that a program may allocate.
std::uint64_t device_memory_bytes();

/// cudaGetDeviceProperties
void fill_properties(cudaDeviceProp& properties, int arch, int ordinal);

/// cudaDeviceGetAttribute; nullopt for one that there is not.
std::optional<int> attribute(int which, int arch, int ordinal);

/// The first value of a cudaLimit; 0 for one that there is not.
std::size_t limit_fact(int limit);

/// The least and the greatest priority of a stream.
std::pair<int, int> stream_priorities();

}  // namespace warpmeter::runtime
