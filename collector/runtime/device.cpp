#include "collector/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/host_memory.h"

namespace warpmeter::runtime {
namespace {

#include "collector/runtime/device_facts.inc"

/// Where another architecture differs from the H100 in what launches ask for; by NVIDIA's tables of
/// compute capabilities. Multiprocessors: of the largest device sold.
struct Architecture {
  int arch = 0;
  int multiprocessors = 0;
  int shared_of_multiprocessor = 0, shared_of_block_at_most = 0;  ///< bytes
  int threads_of_multiprocessor = 0, blocks_of_multiprocessor = 0;
};
constexpr Architecture architectures[] = {
    {75, 72, 64 << 10, 64 << 10, 1024, 16},     {80, 108, 164 << 10, 163 << 10, 2048, 32},
    {86, 84, 100 << 10, 99 << 10, 1536, 16},    {87, 16, 164 << 10, 163 << 10, 1536, 16},
    {89, 128, 100 << 10, 99 << 10, 1536, 24},   {90, 132, 228 << 10, 227 << 10, 2048, 32},
    {100, 148, 228 << 10, 227 << 10, 2048, 32}, {110, 20, 228 << 10, 227 << 10, 1536, 24},
    {120, 170, 100 << 10, 99 << 10, 1536, 24},
};

/// One that is not in the table (sm_103, sm_121) is like the last before it, which is of its
/// family.
const Architecture& architecture(int arch) {
  const auto* next = std::find_if(std::begin(architectures) + 1, std::end(architectures),
                                  [&](const Architecture& a) { return a.arch > arch; });
  return *(next - 1);
}

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
  const Architecture& other = architecture(arch);
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor:
      return arch / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return arch % 10;
    case cudaDevAttrPciDeviceId:
      return ordinal;
    default:
      break;
  }
  if (arch != 90) {
    switch (which) {
      case cudaDevAttrMultiProcessorCount:
        return other.multiprocessors;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return other.shared_of_multiprocessor;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return other.shared_of_block_at_most;
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
  properties.uuid.bytes[0] = 'w';
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
