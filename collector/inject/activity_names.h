// SPDX-License-Identifier: MIT
// nvprof's names for what CUPTI numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/cupti/library.h"
#include "collector/inject/protocol.h"

namespace warpmeter::inject {

/// "[CUDA memcpy HtoD]", of a CUpti_ActivityMemcpyKind.
const char* copy_name(std::uint8_t kind);

/// "cudaLaunchKernel_v7000" and "cuMemAlloc_v2" are cudaLaunchKernel and cuMemAlloc to those who
/// call them.
std::string_view called_name(std::string_view name);

/// The kind of a CUpti_ActivityMemoryKind.
MemoryKind memory_kind(std::uint32_t kind);

/// An event of managed memory.
struct ManagedEvent {
  ActivityKind kind = ActivityKind::migration;
  const char* name = "";
  bool has_source = false, has_target = false;  ///< its source and target are devices
};
/// nullopt for one that is not known.
std::optional<ManagedEvent> managed_event(CUpti_ActivityUnifiedMemoryCounterKind kind);

}  // namespace warpmeter::inject
