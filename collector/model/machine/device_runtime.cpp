// SPDX-License-Identifier: MIT
#include "collector/model/machine/device_runtime.h"

#include <algorithm>
#include <cstring>

#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/memory/align.h"

namespace warpmeter::model {
namespace {

/// The numbers of cudaError_t.
enum Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  invalid_configuration = 9,
  invalid_copy_direction = 21,
  no_kernel_image = 209,
  pending_count_exceeded = 69,
  illegal_address = 700,
};

/// Streams that there are without being created.
constexpr std::uint64_t tail_stream = 3, last_given_stream = 4;
constexpr std::uint64_t device_runtime_version = 6000;  ///< as an H100 says
constexpr std::uint32_t event_disable_timing = 2;
constexpr std::uint64_t device_to_device = 3, default_kind = 4;

/// Memory for parameters is taken by so much; buffers lie at multiples of a sector.
constexpr std::uint64_t chunk_bytes = 1 << 20, buffer_alignment = 64;
constexpr std::uint64_t first_of_chunks = 0x7d0000000000, chunk_step = 4 << 20;

/// cudaMemcpy3DParms as a kernel fills it.
struct Copy3D {
  std::uint64_t from_array, from_x, from_y, from_z;
  std::uint64_t from, from_pitch, from_width, from_height;
  std::uint64_t to_array, to_x, to_y, to_z;
  std::uint64_t to, to_pitch, to_width, to_height;
  std::uint64_t width, height, depth;
  std::uint32_t kind, padding;
};
static_assert(sizeof(Copy3D) == 160);

}  // namespace

DeviceRuntime::DeviceRuntime(KernelHost& host, DeviceMemory& memory, std::uint64_t most_pending)
    : host_(host), memory_(memory), most_pending_(most_pending) {}

DeviceRuntime::~DeviceRuntime() {
  for (const std::uint64_t chunk : chunks_) memory_.remove(chunk);
  for (const auto& [text, address] : texts_) memory_.remove(address);
}

std::optional<ChildGrid> DeviceRuntime::next() {
  for (auto* list : {&tails_, &launched_}) {
    stack_.insert(stack_.end(), std::make_move_iterator(list->rbegin()),
                  std::make_move_iterator(list->rend()));
    list->clear();
  }
  prepared_.clear();
  errors_.clear();
  refused_.clear();
  chunk_ = used_ = 0;
  while (!stack_.empty() && !wrong_address_) {
    Item item = std::move(stack_.back());
    stack_.pop_back();
    if (auto* grid = std::get_if<ChildGrid>(&item)) return std::move(*grid);
    move(std::get<Box>(item));
  }
  return std::nullopt;
}

std::uint64_t DeviceRuntime::answer(Caller& caller, const DeviceCall& call,
                                    const std::uint64_t* a) {
  using enum DeviceFunction;
  const DeviceFunction function = call.function.function;
  const auto last = errors_.find(caller.thread);
  int error = success;
  std::uint64_t pointer = 0;
  switch (function) {
    case PeekAtLastError:
    case GetLastError: {
      const int known = last == errors_.end() ? success : last->second;
      refused_.erase(refused_.lower_bound({caller.thread, 0}),
                     refused_.lower_bound({caller.thread + 1, 0}));
      if (function == GetLastError && last != errors_.end()) errors_.erase(last);
      return static_cast<std::uint64_t>(known);
    }
    case GetErrorName:
      return text(host_.error_name(static_cast<int>(a[0])));
    case GetErrorString:
      return text(host_.error_text(static_cast<int>(a[0])));
    case GraphSetConditional:
      host_.set_condition(a[0], static_cast<std::uint32_t>(a[1]));
      return success;
    case GraphLaunch:
      error = host_.launch_graph(a[0], a[1]);
      has_own_accesses_ = true;
      if (error == illegal_address) is_wrong_graph_ = true;
      break;
    case GetCurrentGraphExec:
      return host_.graph();
    case GetParameterBuffer:
      return take_bytes(a[1]);
    case GetParameterBufferV2: {
      const auto number = [&](int i) { return static_cast<std::uint32_t>(a[i]); };
      Geometry geometry;
      geometry.grid = {number(1), number(2), number(3)};
      geometry.block = {number(4), number(5), number(6)};
      geometry.dynamic_shared_bytes = number(7);
      pointer = prepared(caller, a[0], geometry, error);
      if (error == invalid_configuration) {
        const RefusedLaunches first{name_of(caller, a[0]), geometry, 0};
        ++refused_.try_emplace({caller.thread, caller.instruction}, first).first->second.times;
      }
      break;
    }
    case LaunchDevice: {
      const auto number = [&](int i) { return static_cast<std::uint32_t>(a[i]); };
      Geometry geometry;
      geometry.grid = {number(2), number(3), number(4)};
      geometry.block = {number(5), number(6), number(7)};
      geometry.dynamic_shared_bytes = number(8);
      const std::uint64_t own = prepared(caller, a[0], geometry, error);
      if (own == 0) break;
      const std::uint32_t bytes = prepared_[own].bytes;
      const std::byte* from = host_of(a[1], bytes);
      if (from == nullptr && bytes > 0) {
        error = invalid_value;
        break;
      }
      if (bytes > 0) std::memcpy(host_of(own, bytes), from, bytes);
      error = launched(own, a[9]);
      break;
    }
    case LaunchDeviceV2:
      error = launched(a[0], a[1]);
      break;
    case MemcpyAsync:
    case Memcpy2DAsync:
    case Memcpy3DAsync:
    case MemsetAsync:
    case Memset2DAsync:
    case Memset3DAsync:
      error = copied(caller, function, a);
      break;
    default:
      error = asked(caller, function, a);
      break;
  }
  if (error != success) errors_[caller.thread] = error;
  return call.function.result_bytes == 8 ? pointer : static_cast<std::uint64_t>(error);
}

const std::string* DeviceRuntime::name_of(const Caller& caller, std::uint64_t kernel) const {
  const std::uint64_t beyond = kernel - first_kernel;
  if (kernel < first_kernel || beyond % kernel_step != 0) return nullptr;
  if (beyond / kernel_step >= caller.program->kernels.size()) return nullptr;
  return &caller.program->kernels[beyond / kernel_step];
}

/// Room for the parameters of a launch; 0: there can be none.
std::uint64_t DeviceRuntime::prepared(Caller& caller, std::uint64_t kernel,
                                      const Geometry& geometry, int& error) {
  const std::string* name = name_of(caller, kernel);
  error = name == nullptr ? invalid_value : success;
  if (name == nullptr) return 0;
  const Program* program = host_.kernel(*name);
  if (program == nullptr) {
    error = no_kernel_image;
    return 0;
  }
  if (!geometry_failure(*program, geometry).empty() ||
      !register_failure(*name, program->resources, geometry.block).empty() ||
      geometry.dynamic_shared_bytes > host_.most_dynamic_shared_bytes(*name)) {
    error = invalid_configuration;
    return 0;
  }
  const std::uint64_t buffer = take_bytes(program->parameter_bytes);
  prepared_[buffer] = {{*name, geometry, {}}, program->parameter_bytes};
  return buffer;
}

int DeviceRuntime::launched(std::uint64_t buffer, std::uint64_t stream) {
  const auto known = prepared_.find(buffer);
  if (known == prepared_.end()) return invalid_value;
  ChildGrid grid = known->second.grid;
  const std::uint32_t bytes = known->second.bytes;
  const std::byte* parameters = host_of(buffer, bytes);
  grid.parameters.assign(parameters, parameters + bytes);
  return give(stream, std::move(grid));
}

int DeviceRuntime::give(std::uint64_t stream, Item item) {
  if (stream > last_given_stream && !streams_.contains(stream)) return invalid_value;
  std::vector<Item>& list = stream == tail_stream ? tails_ : launched_;
  if (stream == tail_stream && list.size() >= most_pending_) return pending_count_exceeded;
  list.push_back(std::move(item));
  return success;
}

int DeviceRuntime::copied(Caller& caller, DeviceFunction function, const std::uint64_t* a) {
  using enum DeviceFunction;
  Box box;
  std::uint64_t kind = device_to_device, stream = 0;
  switch (function) {
    case MemcpyAsync:
      box.to = a[0], box.from = a[1], box.width = a[2], kind = a[3], stream = a[4];
      break;
    case Memcpy2DAsync:
      box.to = a[0], box.to_pitch = a[1], box.from = a[2], box.from_pitch = a[3];
      box.width = a[4], box.height = a[5], kind = a[6], stream = a[7];
      break;
    case Memcpy3DAsync: {
      Copy3D copy{};
      if (!caller.read(a[0], &copy, sizeof(copy))) return invalid_value;
      if (copy.from_array != 0 || copy.to_array != 0) return invalid_value;
      box.to_pitch = copy.to_pitch, box.from_pitch = copy.from_pitch;
      box.to_rows = copy.to_height, box.from_rows = copy.from_height;
      const auto place = [](std::uint64_t base, std::uint64_t pitch, std::uint64_t rows,
                            std::uint64_t x, std::uint64_t y,
                            std::uint64_t z) { return base + (z * rows + y) * pitch + x; };
      box.to = place(copy.to, copy.to_pitch, copy.to_height, copy.to_x, copy.to_y, copy.to_z);
      box.from = place(copy.from, copy.from_pitch, copy.from_height, copy.from_x, copy.from_y,
                       copy.from_z);
      box.width = copy.width, box.height = copy.height, box.depth = copy.depth;
      kind = copy.kind, stream = a[1];
      break;
    }
    case MemsetAsync:
      box.to = a[0], box.value = static_cast<std::uint8_t>(a[1]), box.width = a[2], stream = a[3];
      break;
    case Memset2DAsync:
      box.to = a[0], box.to_pitch = a[1], box.value = static_cast<std::uint8_t>(a[2]);
      box.width = a[3], box.height = a[4], stream = a[5];
      break;
    default:  // Memset3DAsync: pointer, pitch, width and height of the memory; value; extent
      box.to = a[0], box.to_pitch = a[1], box.to_rows = a[3];
      box.value = static_cast<std::uint8_t>(a[4]);
      box.width = a[5], box.height = a[6], box.depth = a[7], stream = a[8];
      break;
  }
  if (kind != device_to_device && kind != default_kind) return invalid_copy_direction;
  if (box.height > 1 && box.width > box.to_pitch) return invalid_value;
  if (box.height > 1 && !box.value && box.width > box.from_pitch) return invalid_value;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return success;
  return give(stream, box);
}

void DeviceRuntime::move(const Box& box) {
  has_own_accesses_ = true;
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      const std::uint64_t to = box.to + (z * box.to_rows + y) * box.to_pitch;
      const std::uint64_t from = box.from + (z * box.from_rows + y) * box.from_pitch;
      std::byte* const target = host_of(to, box.width);
      const std::byte* const source = box.value ? target : host_of(from, box.width);
      if (target == nullptr || source == nullptr) {
        wrong_address_ = target == nullptr ? to : from;
        return;
      }
      if (box.value) {
        std::memset(target, *box.value, box.width);
      } else {
        std::memmove(target, source, box.width);
      }
    }
  }
}

int DeviceRuntime::asked(Caller& caller, DeviceFunction function, const std::uint64_t* a) {
  using enum DeviceFunction;
  const auto answer = [&](auto value) {
    return caller.write(a[0], &value, sizeof(value)) ? success : invalid_value;
  };
  const auto handle = [&](std::set<std::uint64_t>& handles) {
    const std::uint64_t made = next_handle_;
    const int written = answer(made);
    if (written != success) return written;
    next_handle_ += 16;
    handles.insert(made);
    return static_cast<int>(success);
  };
  const bool is_of_order = function >= EventCreateWithFlags && function <= EventRecordWithFlags;
  has_own_accesses_ |= !is_of_order && function != StreamCreateWithFlags &&
                       function != StreamDestroy && function != StreamWaitEvent;
  switch (function) {
    case Malloc: {
      const std::uint64_t address = memory_.take_of_heap(a[1]);
      if (address == 0) return a[1] == 0 || a[0] == 0 ? invalid_value : memory_allocation;
      return answer(address);
    }
    case Free: {
      if (memory_.heap().addresses.erase(a[0]) == 0) return a[0] == 0 ? success : invalid_value;
      caller.freed();
      ++memory_.heap().removals;
      memory_.heap().bytes -= memory_.remove(a[0]).size();
      return success;
    }
    case GetDeviceCount:
      return answer(std::int32_t{1});  // itself
    case GetDevice:
    case DeviceGetCacheConfig:
      return answer(std::int32_t{0});
    case DeviceGetSharedMemConfig:
      return answer(std::int32_t{1});
    case RuntimeGetVersion:
      return answer(static_cast<std::int32_t>(device_runtime_version));
    case DeviceGetAttribute: {
      const std::optional<int> value = host_.device_attribute(static_cast<int>(a[1]));
      return value ? answer(*value) : static_cast<int>(invalid_value);
    }
    case DeviceGetLimit: {
      const std::optional<std::uint64_t> value = host_.limit(static_cast<int>(a[1]));
      return value ? answer(*value) : static_cast<int>(invalid_value);
    }
    case FuncGetAttributes: {
      const std::string* name = name_of(caller, a[1]);
      if (name == nullptr) return invalid_value;
      const std::vector<std::byte> bytes = host_.attributes_of(*name);
      if (bytes.empty()) return no_kernel_image;
      return caller.write(a[0], bytes.data(), bytes.size()) ? success : invalid_value;
    }
    case OccupancyMaxActiveBlocksPerMultiprocessor:
    case OccupancyMaxActiveBlocksPerMultiprocessorWithFlags: {
      const std::string* name = name_of(caller, a[1]);
      if (name == nullptr) return invalid_value;
      const auto blocks = host_.blocks_of_multiprocessor(*name, static_cast<int>(a[2]), a[3]);
      return blocks ? answer(*blocks) : static_cast<int>(invalid_value);
    }
    case StreamCreateWithFlags:
      return a[1] > 1 ? static_cast<int>(invalid_value) : handle(streams_);
    case StreamDestroy:
      return streams_.erase(a[0]) != 0 ? success : invalid_value;
    case EventCreateWithFlags:
      return a[1] != event_disable_timing ? static_cast<int>(invalid_value) : handle(events_);
    case EventDestroy:
      return events_.erase(a[0]) != 0 ? success : invalid_value;
    case EventRecord:
    case EventRecordWithFlags:
      return events_.contains(a[0]) ? success : invalid_value;
    case StreamWaitEvent:
      return events_.contains(a[1]) ? success : invalid_value;
    default:
      return invalid_value;
  }
}

/// Addresses follow the order of the calls, so that they are the same every time.
std::uint64_t DeviceRuntime::take_bytes(std::uint64_t bytes) {
  const std::uint64_t wanted = round_up(std::max<std::uint64_t>(bytes, 1), buffer_alignment);
  if (wanted > chunk_bytes) return 0;
  if (chunk_ < chunks_.size() && wanted > chunk_bytes - used_) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    std::uint64_t address = first_of_chunks;
    while (memory_.find(address) != nullptr) address += chunk_step;
    memory_.place(address, std::vector<std::byte>(chunk_bytes),
                  "parameters of launches by kernels");
    chunks_.push_back(address);
  }
  const std::uint64_t address = chunks_[chunk_] + used_;
  used_ += wanted;
  return address;
}

std::uint64_t DeviceRuntime::text(const std::string& text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  std::uint64_t address = first_of_chunks;
  while (memory_.find(address) != nullptr) address += chunk_step;
  std::vector<std::byte> bytes(text.size() + 1);
  std::memcpy(bytes.data(), text.data(), text.size());
  memory_.place(address, std::move(bytes), "a text of the device's runtime");
  texts_[text] = address;
  return address;
}

std::byte* DeviceRuntime::host_of(std::uint64_t address, std::uint64_t bytes) {
  Allocation* allocation = memory_.find(address);
  if (allocation == nullptr || bytes > allocation->end() - address) return nullptr;
  return allocation->data.data() + (address - allocation->address);
}

}  // namespace warpmeter::model
