// SPDX-License-Identifier: MIT
// Advice on managed memory, prefetching it, and what is known of both.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "collector/model/machine/memory/align.h"
#include "collector/runtime/api/advice.h"
#include "collector/runtime/api/row.h"

namespace warpmeter::runtime {
namespace {

/// The advice on a page.
struct Said {
  bool is_read_mostly = false;
  std::optional<cudaMemLocation> preferred, prefetched;
  std::set<int> accessed_by;
};

struct Advice {
  /// By the address that it holds from, up to the next one's.
  std::map<std::uint64_t, Said> said{{0, {}}};
};

using Place = std::map<std::uint64_t, Said>::iterator;

/// The entry that begins at the address, made where there is none.
Place entry_at(std::uint64_t address) {
  auto& said = Process::get().state<Advice>().said;
  const Place before = std::prev(said.upper_bound(address));
  return before->first == address ? before : said.emplace(address, before->second).first;
}

/// Calls `visit` for what was said of each part of these bytes, as pages.
template <class Visit>
void for_each_part(std::uint64_t address, std::uint64_t bytes, const Visit& visit) {
  const std::uint64_t begin = address / host_page_bytes * host_page_bytes;
  const Place end = entry_at(model::round_up(address + bytes, host_page_bytes));
  for (Place part = entry_at(begin); part != end; ++part) visit(part->second);
}

bool is_managed(Process& process, std::uint64_t address, std::uint64_t bytes) {
  const Block* block = process.memory().find(address);
  return bytes > 0 && block != nullptr && block->kind == MemoryKind::managed &&
         block->holds(address, bytes);
}

cudaError_t location_mistake(const Process& process, const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return location.id >= 0 && location.id < process.devices() ? cudaSuccess
                                                                 : cudaErrorInvalidDevice;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

/// The host's has no number.
cudaMemLocation plain(cudaMemLocation location) {
  if (location.type != cudaMemLocationTypeDevice && location.type != cudaMemLocationTypeHostNuma) {
    return {cudaMemLocationTypeHost, 0};
  }
  return location;
}

bool is_same(const cudaMemLocation& a, const cudaMemLocation& b) {
  return a.type == b.type && a.id == b.id;
}

/// The one that all parts have; none: they differ, or a part has none.
std::optional<cudaMemLocation> common(std::uint64_t address, std::uint64_t bytes,
                                      std::optional<cudaMemLocation> Said::*which) {
  std::optional<cudaMemLocation> all;
  bool is_first = true, is_one = true;
  for_each_part(address, bytes, [&](const Said& said) {
    const auto& own = said.*which;
    if (is_first) all = own;
    is_one &= own.has_value() && all.has_value() && is_same(*own, *all);
    is_first = false;
  });
  return is_one ? all : std::nullopt;
}

int number_of(const std::optional<cudaMemLocation>& location) {
  if (!location) return cudaInvalidDeviceId;
  if (location->type == cudaMemLocationTypeDevice) return location->id;
  return location->type == cudaMemLocationTypeHost ? cudaCpuDeviceId : cudaInvalidDeviceId;
}

int type_of(const std::optional<cudaMemLocation>& location) {
  return location ? location->type : cudaMemLocationTypeInvalid;
}

int id_of(const std::optional<cudaMemLocation>& location) {
  return location ? location->id : cudaInvalidDeviceId;
}

/// Those for whom all parts have it.
std::set<int> accessed_by(std::uint64_t address, std::uint64_t bytes) {
  std::optional<std::set<int>> all;
  for_each_part(address, bytes, [&](const Said& said) {
    if (!all) {
      all = said.accessed_by;
    } else {
      std::erase_if(*all, [&](int one) { return !said.accessed_by.contains(one); });
    }
  });
  return all.value_or(std::set<int>{});
}

cudaError_t range_attribute(Process& process, void* data, std::size_t data_bytes,
                            cudaMemRangeAttribute which, std::uint64_t address,
                            std::uint64_t bytes) {
  if (data == nullptr || !is_managed(process, address, bytes)) return cudaErrorInvalidValue;
  constexpr std::size_t word = sizeof(int);
  if (which == cudaMemRangeAttributeAccessedBy) {
    if (data_bytes == 0 || data_bytes % word != 0) return cudaErrorInvalidValue;
    const std::set<int> all = accessed_by(address, bytes);
    auto* numbers = static_cast<int*>(data);
    std::fill_n(numbers, data_bytes / word, cudaInvalidDeviceId);
    // The host behind the devices.
    std::vector<int> ordered(all.lower_bound(0), all.end());
    ordered.insert(ordered.end(), all.begin(), all.lower_bound(0));
    std::copy_n(ordered.begin(), std::min(ordered.size(), data_bytes / word), numbers);
    return cudaSuccess;
  }
  if (data_bytes != word) return cudaErrorInvalidValue;
  const auto preferred = common(address, bytes, &Said::preferred);
  const auto prefetched = common(address, bytes, &Said::prefetched);
  bool is_read_mostly = true;
  int value = 0;
  switch (which) {
    case cudaMemRangeAttributeReadMostly:
      for_each_part(address, bytes,
                    [&](const Said& said) { is_read_mostly &= said.is_read_mostly; });
      value = is_read_mostly ? 1 : 0;
      break;
    case cudaMemRangeAttributePreferredLocation:
      value = number_of(preferred);
      break;
    case cudaMemRangeAttributeLastPrefetchLocation:
      value = number_of(prefetched);
      break;
    case cudaMemRangeAttributePreferredLocationType:
      value = type_of(preferred);
      break;
    case cudaMemRangeAttributePreferredLocationId:
      value = id_of(preferred);
      break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      value = type_of(prefetched);
      break;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      value = id_of(prefetched);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  std::memcpy(data, &value, sizeof value);
  return cudaSuccess;
}

}  // namespace

cudaMemLocation location_of(int device) {
  if (device == cudaCpuDeviceId) return {cudaMemLocationTypeHost, 0};
  return {cudaMemLocationTypeDevice, device};
}

cudaError_t advise(Process& process, std::uint64_t address, std::uint64_t bytes,
                   cudaMemoryAdvise advice, const cudaMemLocation& location) {
  const bool has_location = advice == cudaMemAdviseSetPreferredLocation ||
                            advice == cudaMemAdviseSetAccessedBy ||
                            advice == cudaMemAdviseUnsetAccessedBy;
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy ||
      !is_managed(process, address, bytes)) {
    return cudaErrorInvalidValue;
  }
  if (has_location && location_mistake(process, location) != cudaSuccess) {
    return cudaErrorInvalidValue;
  }
  for_each_part(address, bytes, [&](Said& said) {
    switch (advice) {
      case cudaMemAdviseSetReadMostly:
      case cudaMemAdviseUnsetReadMostly:
        said.is_read_mostly = advice == cudaMemAdviseSetReadMostly;
        break;
      case cudaMemAdviseSetPreferredLocation:
        said.preferred = plain(location);
        break;
      case cudaMemAdviseUnsetPreferredLocation:
        said.preferred.reset();
        break;
      case cudaMemAdviseSetAccessedBy:
        said.accessed_by.insert(number_of(plain(location)));
        break;
      case cudaMemAdviseUnsetAccessedBy:
        said.accessed_by.erase(number_of(plain(location)));
        break;
    }
  });
  return cudaSuccess;
}

cudaError_t prefetch(Process& process, std::uint64_t address, std::uint64_t bytes,
                     const cudaMemLocation& location, cudaStream_t stream) {
  if (process.stream(stream) == nullptr) return cudaErrorInvalidResourceHandle;
  if (!is_managed(process, address, bytes)) return cudaErrorInvalidValue;
  const cudaError_t mistake = location_mistake(process, location);
  if (mistake != cudaSuccess) return mistake;
  for_each_part(address, bytes, [&](Said& said) { said.prefetched = plain(location); });
  return cudaSuccess;
}

namespace advice {
namespace {

cudaError_t mem_advise(Process& process, const void* pointer, std::size_t bytes,
                       cudaMemoryAdvise advice, cudaMemLocation location) {
  return advise(process, reinterpret_cast<std::uint64_t>(pointer), bytes, advice, location);
}

cudaError_t mem_prefetch_async(Process& process, const void* pointer, std::size_t bytes,
                               cudaMemLocation location, unsigned flags, cudaStream_t stream) {
  if (flags != 0) return cudaErrorInvalidValue;
  return prefetch(process, reinterpret_cast<std::uint64_t>(pointer), bytes, location, stream);
}

cudaError_t mem_range_get_attribute(Process& process, void* data, std::size_t data_bytes,
                                    cudaMemRangeAttribute which, const void* pointer,
                                    std::size_t bytes) {
  return range_attribute(process, data, data_bytes, which, reinterpret_cast<std::uint64_t>(pointer),
                         bytes);
}

cudaError_t mem_range_get_attributes(Process& process, void** data, std::size_t* data_bytes,
                                     cudaMemRangeAttribute* which, std::size_t count,
                                     const void* pointer, std::size_t bytes) {
  if (data == nullptr || data_bytes == nullptr || which == nullptr || count == 0) {
    return cudaErrorInvalidValue;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const cudaError_t result = range_attribute(process, data[i], data_bytes[i], which[i],
                                               reinterpret_cast<std::uint64_t>(pointer), bytes);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

CUresult advise_of_device(Process& process, CUdeviceptr pointer, std::size_t bytes,
                          CUmem_advise advice, CUdevice device) {
  return as_driver_error(
      advise(process, pointer, bytes, static_cast<cudaMemoryAdvise>(advice), location_of(device)));
}

CUresult prefetch_to_device(Process& process, CUdeviceptr pointer, std::size_t bytes,
                            CUdevice device, CUstream stream) {
  return as_driver_error(prefetch(process, pointer, bytes, location_of(device), stream));
}

}  // namespace
}  // namespace advice

std::vector<Answer> advice_answers() {
  return {
      BOTH(cudaMemAdvise, cuMemAdvise_v2, advice::mem_advise, Needs::context),
      BOTH(cudaMemPrefetchAsync, cuMemPrefetchAsync_v2, advice::mem_prefetch_async, Needs::context),
      BOTH(cudaMemRangeGetAttribute, cuMemRangeGetAttribute, advice::mem_range_get_attribute,
           Needs::context),
      BOTH(cudaMemRangeGetAttributes, cuMemRangeGetAttributes, advice::mem_range_get_attributes,
           Needs::context),
  };
}

std::vector<Answer> driver_advice_answers() {
  return {
      ANSWER_AS("cuMemAdvise", advice::advise_of_device, Needs::context),
      ANSWER_AS("cuMemPrefetchAsync", advice::prefetch_to_device, Needs::context),
  };
}

}  // namespace warpmeter::runtime
