// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/submit.h"
#include "base/with_noun.h"
#include "collector/runtime/device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/kernel_name.h"
#include "collector/model/machine/order.h"
#include "collector/runtime/memory/event_page.h"
#include "collector/runtime/process/contexts.h"
#include "collector/runtime/stream/capture.h"
#include "collector/runtime/stream/conditions.h"
#include "collector/runtime/stream/graph_launches.h"
#include "collector/runtime/stream/graphs.h"
#include "collector/runtime/stream/launch_mistakes.h"
#include "collector/runtime/stream/launcher.h"
#include "collector/runtime/stream/outstanding.h"
#include "collector/runtime/stream/wrong_copy.h"

namespace warpmeter::runtime {
namespace {

/// Where one side of a copy, or what is set, lies: of the device, or of the host.
struct CopyEnd {
  std::byte* host = nullptr;
  std::uint64_t bytes = 0;  ///< from the first to the last that is touched
  bool is_device = false;   ///< or shared with it
  bool is_inside = true;
};

CopyEnd side_of(Process& process, std::uint64_t address, std::uint64_t bytes) {
  CopyEnd side;
  side.bytes = bytes;
  side.host = process.memory().translate(address, bytes, side.is_inside);
  side.is_device = side.host != nullptr;
  if (!side.is_device) side.host = reinterpret_cast<std::byte*>(address);
  return side;
}

template <class Box>
bool is_empty(const Box& box) {
  return box.width == 0 || box.height == 0 || box.depth == 0;
}

/// From the first byte to the last that a box touches whose rows take `width` bytes.
template <class Box>
std::uint64_t extent(const Box& box, std::uint64_t width, std::uint64_t pitch, std::uint64_t rows) {
  if (is_empty(box)) return 0;
  return (box.depth - 1) * pitch * std::max(rows, box.height) + (box.height - 1) * pitch + width;
}

/// From the first on, all of them; 0 where rows lie apart.
template <class Box>
std::uint64_t bytes_on_end(const Box& box, std::uint64_t width, std::uint64_t pitch) {
  const std::uint64_t rows = box.height * box.depth;
  return rows == 1 || pitch == width ? rows * width : 0;
}

struct Sides {
  CopyEnd to, from;
};
Sides sides_of(Process& process, const CopyWork& copy) {
  return {side_of(process, copy.to, extent(copy, copy.width, copy.to_pitch, copy.to_height)),
          side_of(process, copy.from, extent(copy, copy.width, copy.from_pitch, copy.from_height))};
}

std::uint64_t row_bytes(const SetWork& set) { return set.width * set.element_bytes; }
CopyEnd target_of(Process& process, const SetWork& set) {
  return side_of(process, set.to, extent(set, row_bytes(set), set.pitch, set.height));
}

bool is_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool is_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

bool is_reachable(const CopyEnd& side, MemoryKind kind) {
  return kind == MemoryKind::managed || kind == MemoryKind::pinned ||
         kind == MemoryKind::registered || !side.is_device;
}

MemoryKind kind_at(Process& process, std::uint64_t address) {
  const Block* block = process.memory().find(address);
  return block != nullptr ? block->kind : MemoryKind::device;
}

/// CUPTI's word for the memory at an address.
inject::MemoryKind memory_at(Process& process, const CopyEnd& side, std::uint64_t address) {
  if (!side.is_device) return inject::MemoryKind::pageable;
  switch (kind_at(process, address)) {
    case MemoryKind::managed:
      return inject::MemoryKind::managed;
    case MemoryKind::pinned:
    case MemoryKind::registered:
      return inject::MemoryKind::pinned;
    default:
      return inject::MemoryKind::device;
  }
}

std::string_view name_of(bool to_device, bool from_device) {
  if (to_device && from_device) return "[CUDA memcpy DtoD]";
  if (to_device) return "[CUDA memcpy HtoD]";
  return from_device ? "[CUDA memcpy DtoH]" : "[CUDA memcpy HtoH]";
}

void report_copy(Process& process, const CopyWork& copy, const Sides& sides, std::uint32_t stream) {
  const auto& [to, from] = sides;
  const auto is_device = [&](const CopyEnd& side, std::uint64_t address) {
    return side.is_device && !is_reachable(side, kind_at(process, address));
  };
  bool to_device = is_device(to, copy.to), from_device = is_device(from, copy.from);
  if (copy.kind != cudaMemcpyDefault) {
    to_device = is_to_device(copy.kind);
    from_device = is_from_device(copy.kind);
  }
  Move move;
  move.name = name_of(to_device, from_device);
  move.bytes = copy.width * copy.height * copy.depth;
  move.device = static_cast<std::uint32_t>(current_device);
  move.stream = stream;
  move.source = memory_at(process, from, copy.from);
  move.target = memory_at(process, to, copy.to);
  const Block* source = process.memory().find(copy.from);
  const Block* target = process.memory().find(copy.to);
  if (to_device && from_device && source != nullptr && target != nullptr &&
      source->device != target->device) {
    move.name = "[CUDA memcpy PtoP]";
    move.source_device = static_cast<std::uint32_t>(source->device);
    move.target_device = static_cast<std::uint32_t>(target->device);
  }
  process.report()->moved(move);
}

cudaError_t run_copy(Process& process, const CopyWork& copy, std::uint32_t stream) {
  if (is_empty(copy)) return cudaSuccess;
  const Sides sides = sides_of(process, copy);
  const auto& [to, from] = sides;
  Checks* checks = process.checks();
  const auto touch = [&](std::uint64_t address, bool writes) {
    checks->races().touch(address, copy.width, writes);
  };
  if (checks != nullptr) {
    look_at_overlap(process, copy, reinterpret_cast<std::uint64_t>(to.host),
                    reinterpret_cast<std::uint64_t>(from.host));
  }
  model::follow_copy(process.memory().machine(), process.host_order(), copy.to, copy.from,
                     bytes_on_end(copy, copy.width, copy.to_pitch));
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      const std::uint64_t to_row = z * std::max(copy.to_height, copy.height) + y;
      const std::uint64_t from_row = z * std::max(copy.from_height, copy.height) + y;
      std::memmove(to.host + to_row * copy.to_pitch, from.host + from_row * copy.from_pitch,
                   copy.width);
      if (checks == nullptr) continue;
      touch(copy.from + from_row * copy.from_pitch, false);
      touch(copy.to + to_row * copy.to_pitch, true);
      checks->copied(copy.to + to_row * copy.to_pitch, copy.from + from_row * copy.from_pitch,
                     copy.width);
    }
  }
  if (checks != nullptr) checks->end_of_copy(process.function());
  look_at_direction(process, copy);
  if (process.report() != nullptr) report_copy(process, copy, sides, stream);
  return cudaSuccess;
}

template <class Element>
void fill(std::byte* at, std::uint64_t count, std::uint32_t value) {
  const auto element = static_cast<Element>(value);
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(at + i * sizeof element, &element, sizeof element);
}

cudaError_t run_set(Process& process, const SetWork& set, std::uint32_t stream) {
  if (is_empty(set)) return cudaSuccess;
  const std::uint64_t bytes_of_row = row_bytes(set);
  const CopyEnd side = target_of(process, set);
  model::follow_copy(process.memory().machine(), process.host_order(), set.to, 0,
                     bytes_on_end(set, bytes_of_row, set.pitch));
  for (std::uint64_t y = 0; y < set.height * set.depth; ++y) {
    std::byte* row = side.host + y * set.pitch;
    if (process.checks() != nullptr) {
      process.races()->touch(set.to + y * set.pitch, bytes_of_row, true);
      process.checks()->set(set.to + y * set.pitch, bytes_of_row);
    }
    if (set.element_bytes == 4) {
      fill<std::uint32_t>(row, set.width, set.value);
    } else if (set.element_bytes == 2) {
      fill<std::uint16_t>(row, set.width, set.value);
    } else {
      std::memset(row, static_cast<int>(set.value & 0xff), bytes_of_row);
    }
  }
  if (process.report() != nullptr) {
    Move move;
    move.name = "[CUDA memset]";
    move.is_set = true;
    move.bytes = bytes_of_row * set.height * set.depth;
    move.device = static_cast<std::uint32_t>(current_device);
    move.stream = stream;
    move.target = memory_at(process, side, set.to);
    process.report()->moved(move);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t copy_mistake(Process& process, const CopyWork& copy, bool later) {
  if (is_empty(copy)) return cudaSuccess;  // whatever its kind
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  const bool has_rows = copy.height > 1 || copy.depth > 1;
  if (has_rows && (copy.width > copy.to_pitch || copy.width > copy.from_pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  if (copy.to == 0 || copy.from == 0) {
    return null_side(process, copy.to == 0 ? "destination" : "source");
  }
  const Memory& memory = process.memory();
  if (later && (memory.is_reserved(copy.to) || memory.is_reserved(copy.from))) return cudaSuccess;
  const auto [to, from] = sides_of(process, copy);
  if (!to.is_inside) return unreachable(process, copy.to, to.bytes, "destination");
  if (!from.is_inside) return unreachable(process, copy.from, from.bytes, "source");
  // A host-to-host copy goes wherever the addresses lead, as measured.
  if (is_to_device(copy.kind) && !to.is_device) return wrong_direction(process, copy, true);
  if (is_from_device(copy.kind) && !from.is_device) return wrong_direction(process, copy, false);
  // Addresses that are neither ours nor the program's.
  for (const std::uint64_t address : {copy.to, copy.from}) {
    const bool is_of_device =
        address >= model::first_module_variable && address < model::first_window;
    bool inside = true;
    if (is_of_device && process.memory().translate(address, 1, inside) == nullptr) {
      return unreachable(process, address, 1, address == copy.to ? "destination" : "source");
    }
  }
  return cudaSuccess;
}

cudaError_t set_mistake(Process& process, const SetWork& set, bool later) {
  if (is_empty(set)) return cudaSuccess;
  if (later && process.memory().is_reserved(set.to)) return cudaSuccess;
  const CopyEnd side = target_of(process, set);
  if (side.is_device && side.is_inside) return cudaSuccess;
  return unreachable(process, set.to, side.bytes, "destination");
}

namespace {

/// Memory that a graph copies or sets may have gone since its node was made.
template <class Box, class Mistake, class Run>
cudaError_t run_checked(Process& process, const Box& work, std::uint32_t stream,
                        const Mistake& mistake, const Run& run) {
  if (mistake(process, work, false) == cudaSuccess) return run(process, work, stream);
  process.kernel_failed(cudaErrorIllegalAddress);
  return cudaSuccess;
}

cudaError_t allocate(Process& process, const cudaMemAllocNodeParams& wanted) {
  const auto address = reinterpret_cast<std::uint64_t>(wanted.dptr);
  if (process.memory().find(address) != nullptr) return cudaSuccess;  // never freed: it is there
  const Block* block = process.memory().allocate(
      wanted.bytesize, wanted.poolProps.location.id,
      fmt::format("memory of {} of a graph", with_noun(wanted.bytesize, "byte")), address);
  if (block == nullptr) return cudaErrorMemoryAllocation;
  if (Races* races = process.races()) races->touch(block->address, block->bytes, true);
  process.memory().give_to_graph(block->address);
  count_graph_memory(process.memory(), block->device, false);
  return cudaSuccess;
}

void run_event(Process& process, const EventWork& work) {
  if (!work.records || !process.has_event(work.event)) return;
  work.event->is_recorded = true;
  work.event->at = std::chrono::steady_clock::now();
  if (work.event->page != nullptr) work.event->page->done(work.number);
}

}  // namespace

cudaError_t run(Process& process, const Work& work, std::uint32_t stream) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    run_kernel(process, *kernel, stream);
    return run_launched(process, stream);
  } else if (const auto* copy = std::get_if<CopyWork>(&work)) {
    return run_checked(process, *copy, stream, copy_mistake, run_copy);
  } else if (const auto* set = std::get_if<SetWork>(&work)) {
    return run_checked(process, *set, stream, set_mistake, run_set);
  } else if (const auto* freed = std::get_if<FreeWork>(&work)) {
    const Block* block = process.memory().find(freed->address);
    if (Races* races = process.races(); races != nullptr && block != nullptr) {
      races->touch(block->address, block->bytes, true);
    }
    return process.memory().release(freed->address) ? cudaSuccess : cudaErrorInvalidValue;
  } else if (const auto* allocation = std::get_if<AllocationWork>(&work)) {
    return allocate(process, allocation->parameters);
  } else if (const auto* event = std::get_if<EventWork>(&work)) {
    run_event(process, *event);
  } else if (const auto* conditional = std::get_if<ConditionalWork>(&work)) {
    return run_conditional(process, *conditional, stream);
  } else if (const auto* library = std::get_if<LibraryWork>(&work)) {
    return (*library->compute)(process);
  } else if (const auto* mark = std::get_if<GraphMark>(&work)) {
    return run_mark(process, *mark, stream);
  }
  return cudaSuccess;
}

cudaError_t submit(Process& process, cudaStream_t handle, Work work) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return capture(*stream, std::move(work));
  const cudaError_t conflict = legacy_conflict(process, *stream);
  return conflict != cudaSuccess ? conflict : give(process, *stream, std::move(work));
}

namespace {

/// CUDA_LAUNCH_BLOCKING: a launch ends when its kernel has, and returns what became of it.
bool waits_for_launches() {
  static const bool is_set = [] {
    const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value != nullptr && std::atoi(value) != 0;
  }();
  return is_set;
}

}  // namespace

int device_of_launch(Process& process, cudaStream_t stream) {
  const Stream* given = process.stream(stream);
  return given != nullptr ? device_of(stream, *given) : current_device;
}

cudaError_t launch(Process& process, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream, bool is_cooperative,
                   const Dim3& cluster, bool is_programmatic) {
  KernelWork work;
  work.function = function;
  work.device = current_device;
  work.kernel = process.kernel(function);
  if (work.kernel == nullptr) return Process::kernel_mistake(function);
  const Stream* given = process.stream(stream);
  if (given == nullptr) return cudaErrorInvalidResourceHandle;
  if (device_of(stream, *given) != current_device) return cudaErrorInvalidResourceHandle;
  work.geometry.grid = {grid.x, grid.y, grid.z};
  work.geometry.block = {block.x, block.y, block.z};
  work.geometry.dynamic_shared_bytes = static_cast<std::uint32_t>(shared);  // 32 bits on hardware
  work.geometry.is_cooperative = is_cooperative;
  work.geometry.cluster = cluster;
  work.is_programmatic = is_programmatic;
  if (const Context* green = green_of(stream, *given))
    work.multiprocessors = green->multiprocessors;
  cudaError_t mistake = launch_mistake(process, work);
  if (mistake == cudaSuccess && given->capture == nullptr) {
    mistake = register_mistake(process, work);
  }
  if (mistake != cudaSuccess) {
    if (given->capture != nullptr) given->capture->is_invalid = true;
    return mistake;
  }
  if (given->capture == nullptr && launches_graphs(*work.kernel)) {
    return process.refuse(cudaErrorNotSupported, "failed launch", [&] {
      return fmt::format("kernel '{}' launches graphs, which only kernels of a graph may",
                         readable_name(work.kernel->entry()));
    });
  }
  work.parameters = parameters_of(*work.kernel, arguments);
  work.geometry = model::in_clusters(*work.kernel->program(), work.geometry);
  const bool is_captured = given->capture != nullptr;
  const cudaError_t result = submit(process, stream, std::move(work));
  if (result != cudaSuccess || is_captured || !waits_for_launches()) return result;
  if (Stream* done = process.stream(stream)) wait_for(process, *done);
  process.show_printed();
  return process.surfaced_error();
}

}  // namespace warpmeter::runtime
