#include "collector/runtime/submit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "collector/runtime/capture.h"
#include "collector/runtime/launcher.h"
#include "collector/runtime/outstanding.h"
#include "collector/runtime/wrong_copy.h"

namespace warpmeter::runtime {
namespace {

/// Where one side of a copy lies: of the device, or of the host.
struct Side {
  std::byte* host = nullptr;
  bool is_device = false;  ///< or shared with it
  bool is_inside = true;
};

Side side_of(Process& process, std::uint64_t address, std::uint64_t bytes) {
  Side side;
  side.host = process.memory().translate(address, bytes, side.is_inside);
  side.is_device = side.host != nullptr;
  if (!side.is_device) side.host = reinterpret_cast<std::byte*>(address);
  return side;
}

/// From the first byte to the last that a box touches.
std::uint64_t extent(std::uint64_t width, std::uint64_t height, std::uint64_t depth,
                     std::uint64_t pitch, std::uint64_t rows) {
  if (width == 0 || height == 0 || depth == 0) return 0;
  return (depth - 1) * pitch * std::max(rows, height) + (height - 1) * pitch + width;
}

bool is_reachable(const Side& side, MemoryKind kind) {
  return kind == MemoryKind::managed || kind == MemoryKind::pinned ||
         kind == MemoryKind::registered || !side.is_device;
}

MemoryKind kind_at(Process& process, std::uint64_t address) {
  const Block* block = process.memory().find(address);
  return block != nullptr ? block->kind : MemoryKind::device;
}

std::string_view name_of(bool to_device, bool from_device) {
  if (to_device && from_device) return "[CUDA memcpy DtoD]";
  if (to_device) return "[CUDA memcpy HtoD]";
  return from_device ? "[CUDA memcpy DtoH]" : "[CUDA memcpy HtoH]";
}

cudaError_t run_copy(Process& process, const CopyWork& copy) {
  const std::uint64_t to_bytes =
      extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_height);
  const std::uint64_t from_bytes =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_height);
  const Side to = side_of(process, copy.to, to_bytes);
  const Side from = side_of(process, copy.from, from_bytes);
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  Checks* checks = process.checks();
  for (std::uint64_t z = 0; z < copy.depth; ++z) {
    for (std::uint64_t y = 0; y < copy.height; ++y) {
      const std::uint64_t to_row = z * std::max(copy.to_height, copy.height) + y;
      const std::uint64_t from_row = z * std::max(copy.from_height, copy.height) + y;
      std::memmove(to.host + to_row * copy.to_pitch, from.host + from_row * copy.from_pitch,
                   copy.width);
      if (checks == nullptr) continue;
      checks->copied(copy.to + to_row * copy.to_pitch, copy.from + from_row * copy.from_pitch,
                     copy.width);
    }
  }
  if (checks != nullptr) checks->end_of_copy(process.function());
  if (process.report() != nullptr) {
    const auto is_device = [&](const Side& side, std::uint64_t address) {
      return side.is_device && !is_reachable(side, kind_at(process, address));
    };
    bool to_device = is_device(to, copy.to), from_device = is_device(from, copy.from);
    if (copy.kind != cudaMemcpyDefault) {
      to_device = copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
      from_device = copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
    }
    process.report()->moved(name_of(to_device, from_device), copy.width * copy.height * copy.depth,
                            false);
  }
  return cudaSuccess;
}

template <class Element>
void fill(std::byte* at, std::uint64_t count, std::uint32_t value) {
  const auto element = static_cast<Element>(value);
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(at + i * sizeof element, &element, sizeof element);
}

cudaError_t run_set(Process& process, const SetWork& set) {
  const std::uint64_t row_bytes = set.width * set.element_bytes;
  const Side side =
      side_of(process, set.to, extent(row_bytes, set.height, set.depth, set.pitch, set.height));
  for (std::uint64_t y = 0; y < set.height * set.depth; ++y) {
    std::byte* row = side.host + y * set.pitch;
    if (process.checks() != nullptr) process.checks()->set(set.to + y * set.pitch, row_bytes);
    if (set.element_bytes == 4) {
      fill<std::uint32_t>(row, set.width, set.value);
    } else if (set.element_bytes == 2) {
      fill<std::uint16_t>(row, set.width, set.value);
    } else {
      std::memset(row, static_cast<int>(set.value & 0xff), row_bytes);
    }
  }
  if (process.report() != nullptr) {
    process.report()->moved("[CUDA memset]", row_bytes * set.height * set.depth, true);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t copy_mistake(Process& process, const CopyWork& copy, bool later) {
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) return cudaSuccess;
  const bool has_rows = copy.height > 1 || copy.depth > 1;
  if (has_rows && (copy.width > copy.to_pitch || copy.width > copy.from_pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  if (copy.to == 0 || copy.from == 0) {
    return null_side(process, copy.to == 0 ? "destination" : "source");
  }
  const Memory& memory = process.memory();
  if (later && (memory.is_reserved(copy.to) || memory.is_reserved(copy.from))) return cudaSuccess;
  const std::uint64_t to_bytes =
      extent(copy.width, copy.height, copy.depth, copy.to_pitch, copy.to_height);
  const std::uint64_t from_bytes =
      extent(copy.width, copy.height, copy.depth, copy.from_pitch, copy.from_height);
  const Side to = side_of(process, copy.to, to_bytes);
  const Side from = side_of(process, copy.from, from_bytes);
  if (!to.is_inside) return unreachable(process, copy.to, to_bytes, "destination");
  if (!from.is_inside) return unreachable(process, copy.from, from_bytes, "source");
  // A host-to-host copy goes wherever the addresses lead, as measured.
  const bool to_device =
      copy.kind == cudaMemcpyHostToDevice || copy.kind == cudaMemcpyDeviceToDevice;
  const bool from_device =
      copy.kind == cudaMemcpyDeviceToHost || copy.kind == cudaMemcpyDeviceToDevice;
  if (to_device && !to.is_device) return wrong_direction(process, copy, true);
  if (from_device && !from.is_device) return wrong_direction(process, copy, false);
  // What is neither ours nor the program's.
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
  if (set.width == 0 || set.height == 0 || set.depth == 0) return cudaSuccess;
  if (later && process.memory().is_reserved(set.to)) return cudaSuccess;
  const std::uint64_t row_bytes = set.width * set.element_bytes;
  const Side side =
      side_of(process, set.to, extent(row_bytes, set.height, set.depth, set.pitch, set.height));
  if (side.is_device && side.is_inside) return cudaSuccess;
  return unreachable(process, set.to,
                     extent(row_bytes, set.height, set.depth, set.pitch, set.height),
                     "destination");
}

namespace {

/// Memory that a graph copies or sets may have gone since its node was made.
cudaError_t run_checked(Process& process, const CopyWork& copy) {
  if (copy_mistake(process, copy) != cudaSuccess)
    process.kernel_failed(cudaErrorIllegalAddress);
  else
    return run_copy(process, copy);
  return cudaSuccess;
}

cudaError_t run_checked(Process& process, const SetWork& set) {
  if (set_mistake(process, set) != cudaSuccess)
    process.kernel_failed(cudaErrorIllegalAddress);
  else
    return run_set(process, set);
  return cudaSuccess;
}

cudaError_t allocate(Process& process, const cudaMemAllocNodeParams& wanted) {
  const auto address = reinterpret_cast<std::uint64_t>(wanted.dptr);
  if (process.memory().find(address) != nullptr) return cudaSuccess;  // never freed: it is there
  const Block* block = process.memory().allocate(
      wanted.bytesize, wanted.poolProps.location.id,
      fmt::format("memory of {} bytes of a graph", wanted.bytesize), address);
  return block != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

void run_event(Process& process, const EventWork& work) {
  if (!work.records || !process.has_event(work.event)) return;
  work.event->is_recorded = true;
  work.event->at = std::chrono::steady_clock::now();
}

}  // namespace

cudaError_t run(Process& process, const Work& work, std::uint32_t stream) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    run_kernel(process, *kernel, stream);
  } else if (const auto* copy = std::get_if<CopyWork>(&work)) {
    return run_checked(process, *copy);
  } else if (const auto* set = std::get_if<SetWork>(&work)) {
    return run_checked(process, *set);
  } else if (const auto* freed = std::get_if<FreeWork>(&work)) {
    return process.memory().release(freed->address) ? cudaSuccess : cudaErrorInvalidValue;
  } else if (const auto* allocation = std::get_if<AllocationWork>(&work)) {
    return allocate(process, allocation->parameters);
  } else if (const auto* event = std::get_if<EventWork>(&work)) {
    run_event(process, *event);
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

cudaError_t launch(Process& process, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream, bool is_cooperative) {
  KernelWork work;
  work.function = function;
  work.kernel = process.kernel(function);
  if (work.kernel == nullptr) return cudaErrorInvalidResourceHandle;
  const Stream* given = process.stream(stream);
  if (given == nullptr) return cudaErrorInvalidResourceHandle;
  const bool is_default = reinterpret_cast<const void*>(stream) != given;
  if (!is_default && given->device != Process::current_device) {
    return cudaErrorInvalidResourceHandle;
  }
  work.geometry.grid = {grid.x, grid.y, grid.z};
  work.geometry.block = {block.x, block.y, block.z};
  work.geometry.dynamic_shared_bytes =
      static_cast<std::uint32_t>(std::min<std::size_t>(shared, ~0u));
  work.geometry.is_cooperative = is_cooperative;
  const cudaError_t mistake = launch_mistake(process, work);
  if (mistake != cudaSuccess) return mistake;
  work.parameters = parameters_of(*work.kernel, arguments);
  return submit(process, stream, std::move(work));
}

}  // namespace warpmeter::runtime
