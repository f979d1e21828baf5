#include "collector/runtime/submit.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "collector/runtime/launcher.h"
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

/// The program's function may call anything but us: the lock is its own for that long.
cudaError_t run_host(Process& process, const HostWork& work) {
  process.show_printed();
  work.function(work.data);
  return cudaSuccess;
}

}  // namespace

cudaError_t copy_mistake(Process& process, const CopyWork& copy) {
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
  const bool is_to_host = copy.kind == cudaMemcpyDeviceToHost;
  const bool is_from_host = copy.kind == cudaMemcpyHostToDevice;
  if (is_to_host && !is_reachable(to, kind_at(process, copy.to))) {
    return wrong_direction(process, copy, true);
  }
  if (is_from_host && !is_reachable(from, kind_at(process, copy.from))) {
    return wrong_direction(process, copy, false);
  }
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

cudaError_t set_mistake(Process& process, const SetWork& set) {
  if (set.width == 0 || set.height == 0 || set.depth == 0) return cudaSuccess;
  const std::uint64_t row_bytes = set.width * set.element_bytes;
  const Side side =
      side_of(process, set.to, extent(row_bytes, set.height, set.depth, set.pitch, set.height));
  if (side.is_device && side.is_inside) return cudaSuccess;
  return unreachable(process, set.to,
                     extent(row_bytes, set.height, set.depth, set.pitch, set.height),
                     "destination");
}

cudaError_t run(Process& process, const Work& work, std::uint32_t stream) {
  if (const auto* kernel = std::get_if<KernelWork>(&work)) {
    run_kernel(process, *kernel, stream);
    return cudaSuccess;
  }
  if (const auto* copy = std::get_if<CopyWork>(&work)) return run_copy(process, *copy);
  if (const auto* set = std::get_if<SetWork>(&work)) return run_set(process, *set);
  if (const auto* host = std::get_if<HostWork>(&work)) return run_host(process, *host);
  if (const auto* child = std::get_if<ChildWork>(&work)) return run(process, *child->graph, stream);
  if (const auto* freed = std::get_if<FreeWork>(&work)) {
    return process.memory().release(freed->address) ? cudaSuccess : cudaErrorInvalidValue;
  }
  if (const auto* event = std::get_if<EventWork>(&work)) {
    if (event->records) {
      event->event->is_recorded = true;
      event->event->at = std::chrono::steady_clock::now();
      event->event->captured_in.reset();
    }
  }
  return cudaSuccess;
}

cudaError_t run(Process& process, const Graph& graph, std::uint32_t stream) {
  for (const Node* node : graph.in_order()) {
    if (!node->is_enabled) continue;
    const cudaError_t result = run(process, node->work, stream);
    if (result != cudaSuccess) return result;
  }
  return cudaSuccess;
}

cudaError_t submit(Process& process, cudaStream_t handle, Work work) {
  Stream* stream = process.stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) {
    stream->capture_after = {stream->capture->add(std::move(work), stream->capture_after)};
    return cudaSuccess;
  }
  return run(process, work, stream->number);
}

cudaError_t launch(Process& process, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream, bool is_cooperative) {
  KernelWork work;
  work.function = function;
  work.kernel = process.kernel(function);
  if (work.kernel == nullptr) return cudaErrorInvalidResourceHandle;
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
