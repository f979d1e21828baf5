// SPDX-License-Identifier: MIT
#include "collector/inject/activity_names.h"

namespace warpmeter::inject {

namespace {

/// The row of a kind; null where there is none.
template <class Row, std::size_t n, class Kind>
const Row* row_of(const Row (&rows)[n], Kind kind) {
  for (const Row& row : rows) {
    if (row.from == kind) return &row;
  }
  return nullptr;
}

}  // namespace

const char* copy_name(std::uint8_t kind) {
  struct Row {
    CUpti_ActivityMemcpyKind from;
    const char* name;
  };
  static constexpr Row rows[] = {
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, "[CUDA memcpy HtoD]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, "[CUDA memcpy DtoH]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, "[CUDA memcpy HtoA]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, "[CUDA memcpy AtoH]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOA, "[CUDA memcpy AtoA]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, "[CUDA memcpy AtoD]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOA, "[CUDA memcpy DtoA]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, "[CUDA memcpy DtoD]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, "[CUDA memcpy HtoH]"},
      {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, "[CUDA memcpy PtoP]"},
  };
  const Row* row = row_of(rows, kind);
  return row != nullptr ? row->name : "[CUDA memcpy]";
}

std::string_view called_name(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  const std::size_t version = name.rfind("_v");
  const bool is_version =
      version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos;
  return is_version ? name.substr(0, version) : name;
}

MemoryKind memory_kind(std::uint32_t kind) {
  struct Row {
    CUpti_ActivityMemoryKind from;
    MemoryKind kind;
  };
  static constexpr Row rows[] = {
      {CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, MemoryKind::pageable},
      {CUPTI_ACTIVITY_MEMORY_KIND_PINNED, MemoryKind::pinned},
      {CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, MemoryKind::device},
      {CUPTI_ACTIVITY_MEMORY_KIND_ARRAY, MemoryKind::array},
      {CUPTI_ACTIVITY_MEMORY_KIND_MANAGED, MemoryKind::managed},
      {CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC, MemoryKind::device_static},
      {CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC, MemoryKind::managed_static},
  };
  const Row* row = row_of(rows, kind);
  return row != nullptr ? row->kind : MemoryKind::unknown;
}

std::optional<ManagedEvent> managed_event(CUpti_ActivityUnifiedMemoryCounterKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
      return ManagedEvent{ActivityKind::migration, "[Unified Memory Memcpy HtoD]", false, true};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
      return ManagedEvent{ActivityKind::migration, "[Unified Memory Memcpy DtoH]", true, false};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
      return ManagedEvent{ActivityKind::migration, "[Unified Memory Memcpy DtoD]", true, true};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
      return ManagedEvent{ActivityKind::page_fault, "[Unified Memory CPU page faults]", false,
                          false};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
      return ManagedEvent{ActivityKind::page_fault, "[Unified Memory GPU page faults]", true,
                          false};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING:
      return ManagedEvent{ActivityKind::thrashing, "[Unified Memory thrashing]", false, false};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING:
      return ManagedEvent{ActivityKind::throttling, "[Unified Memory throttling]", true, false};
    case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
      return ManagedEvent{ActivityKind::remote_map, "[Unified Memory remote map]", true, true};
    default:
      return std::nullopt;
  }
}

}  // namespace warpmeter::inject
