// SPDX-License-Identifier: MIT
#include "collector/model/machine/device_calls.h"

#include <array>
#include <cstring>

#include "base/lanes.h"
#include "collector/model/machine/access.h"
#include "collector/model/machine/device_runtime.h"
#include "collector/model/machine/observer.h"
#include "collector/model/machine/system_calls.h"
#include "collector/model/machine/warp/lane_rows.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {
namespace {

constexpr std::size_t most_arguments = 10;
constexpr std::uint64_t not_supported = 801;  ///< cudaErrorNotSupported

/// A lane that calls, and the memory that its pointers lead to.
class Lane final : public DeviceRuntime::Caller {
 public:
  explicit Lane(Warp& warp) : warp_(warp) { program = warp.memory->program; }

  void go_to(unsigned lane) {
    lane_ = lane;
    thread = warp_.memory->block << 10 | (warp_.index * warp_lanes + lane);
  }
  bool write(std::uint64_t address, const void* bytes, std::size_t count) override {
    const HostStretch stretch = host_at(warp_, lane_, address);
    if (stretch.host == nullptr || stretch.bytes < count) return false;
    std::memcpy(const_cast<std::byte*>(stretch.host), bytes, count);
    if (BlockObserver* observer = warp_.memory->observer) {
      observer->written_for(warp_, lane_, address, count);
    }
    return true;
  }
  bool read(std::uint64_t address, void* bytes, std::size_t count) override {
    const HostStretch stretch = host_at(warp_, lane_, address);
    if (stretch.host == nullptr || stretch.bytes < count) return false;
    std::memcpy(bytes, stretch.host, count);
    return true;
  }
  void freed() override {
    WorkerMemory& memory = *warp_.memory;
    for (std::size_t i = 0; i < memory.counts.size(); ++i) settle(memory, i);
  }

 private:
  Warp& warp_;
  unsigned lane_ = 0;
};

}  // namespace

std::optional<DeviceFunctionInfo> device_function(std::string_view called) {
  for (const std::string_view prefix : {"__cudaCDP2", "cuda"}) {
    if (!called.starts_with(prefix)) continue;
    std::string_view name = called.substr(prefix.size());
    if (name.ends_with("_ptsz")) name.remove_suffix(5);
    static constexpr DeviceFunctionInfo all[] = {
#define DEVICE_FUNCTION(name, arguments, bytes) {DeviceFunction::name, #name, arguments, bytes},
#include "collector/model/machine/device_functions.h"
    };
    for (const DeviceFunctionInfo& info : all) {
      if (info.name == name) return info;
    }
  }
  return std::nullopt;
}

void call_device_runtime(Warp& w, const Operation* op, std::uint32_t mask) {
  const DeviceCall& call = w.memory->program->device_calls[op->extra];
  DeviceRuntime* runtime = w.memory->device_runtime;
  Lane caller(w);
  for_each_lane(mask, [&](unsigned lane) {
    std::array<std::uint64_t, most_arguments> arguments{};
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const auto [row, bytes] = call.arguments[i];
      arguments[i] =
          bytes == 8 ? row_of<std::uint64_t>(w, row)[lane] : row_of<std::uint32_t>(w, row)[lane];
    }
    caller.go_to(lane);
    caller.instruction = op->instruction;
    const bool is_pointer = call.function.result_bytes == 8;
    std::uint64_t result = is_pointer ? 0 : not_supported;
    if (runtime != nullptr) result = runtime->answer(caller, call, arguments.data());
    if (is_pointer) {
      row_of<std::uint64_t>(w, op->d)[lane] = result;
    } else {
      row_of<std::uint32_t>(w, op->d)[lane] = static_cast<std::uint32_t>(result);
    }
  });
}

}  // namespace warpmeter::model
