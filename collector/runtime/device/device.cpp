// SPDX-License-Identifier: MIT
#include "collector/runtime/device/device.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/host_memory.h"
#include "collector/model/machine/device_limits.h"
#include "collector/runtime/device/visible_devices.h"

namespace warpmeter::runtime {

thread_local int current_device = 0;
namespace {

#include "collector/runtime/device/device_facts.inc"

std::optional<int> fact(int which) {
  for (const auto& [number, value] : driver_attribute_facts) {
    if (number == which) return value;
  }
  return std::nullopt;
}

}  // namespace

std::uint64_t device_memory_bytes() {
  static const std::uint64_t bytes = available_memory() / 10 * 9;
  return bytes;
}

std::optional<int> attribute(int which, int arch, int ordinal) {
  const model::DeviceLimits& other = model::device_limits(arch);
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      return arch / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return arch % 10;
    case cudaDevAttrPciDeviceId:
      return ordinal;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
      return 0;
    default:
      break;
  }
  if (arch != 90) {
    switch (which) {
      case cudaDevAttrMultiProcessorCount:
        return other.multiprocessors;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return static_cast<int>(other.shared_of_multiprocessor);
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return static_cast<int>(other.shared_of_block);
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        return other.threads_of_multiprocessor;
      case cudaDevAttrMaxBlocksPerMultiprocessor:
        return other.blocks_of_multiprocessor;
      case cudaDevAttrClusterLaunch:
        return arch > 90 ? 1 : 0;
      default:
        break;
    }
  }
  return fact(which);
}

void fill_properties(cudaDeviceProp& properties, int arch, int ordinal) {
  std::memset(&properties, 0, sizeof properties);
  for (const auto& [place, word] : property_facts) {
    std::memcpy(reinterpret_cast<char*>(&properties) + place * 4, &word, sizeof word);
  }
  const std::string name = arch == 90 ? "NVIDIA H100 80GB HBM3 (warpmeter model)"
                                      : fmt::format("sm_{} (warpmeter model)", arch);
  std::strncpy(properties.name, name.c_str(), sizeof properties.name - 1);
  properties.uuid.bytes[0] = uuid_first_byte;
  properties.uuid.bytes[1] = static_cast<char>(ordinal);
  properties.uuid.bytes[15] = static_cast<char>(ordinal);
  properties.totalGlobalMem = device_memory_bytes();
  properties.major = arch / 10;
  properties.minor = arch % 10;
  properties.pciDeviceID = ordinal;
  const auto value = [&](cudaDeviceAttr which) { return *attribute(which, arch, ordinal); };
  properties.multiProcessorCount = value(cudaDevAttrMultiProcessorCount);
  properties.maxThreadsPerMultiProcessor = value(cudaDevAttrMaxThreadsPerMultiProcessor);
  properties.maxBlocksPerMultiProcessor = value(cudaDevAttrMaxBlocksPerMultiprocessor);
  properties.clusterLaunch = value(cudaDevAttrClusterLaunch);
  properties.sharedMemPerMultiprocessor =
      static_cast<std::size_t>(value(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  properties.sharedMemPerBlockOptin =
      static_cast<std::size_t>(value(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

schema::Device described_device(int arch, std::uint32_t ordinal) {
  schema::Device device;
  device.backend = "model";
  device.ordinal = static_cast<int>(ordinal);
  device.name = fmt::format("model sm_{}", arch);
  device.compute_capability = arch;
  device.uuid = fmt::format("model-sm_{}-{}", arch, ordinal);
  return device;
}

std::size_t limit_fact(int limit) {
  for (const auto& [number, value] : limit_facts) {
    if (number == limit) return value;
  }
  return 0;
}

std::pair<int, int> stream_priorities() { return {least_priority, greatest_priority}; }

}  // namespace warpmeter::runtime
