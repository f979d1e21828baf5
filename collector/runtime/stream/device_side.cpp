// SPDX-License-Identifier: MIT
#include "collector/runtime/stream/device_side.h"

#include <fmt/format.h>

#include <cstring>

#include "base/kernel_name.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/device/error_texts.h"
#include "collector/runtime/process/limits.h"
#include "collector/runtime/process/occupancy.h"
#include "collector/runtime/stream/conditions.h"
#include "collector/runtime/stream/graph_launches.h"

namespace warpmeter::runtime {

const model::Program* DeviceSide::kernel(const std::string& name) {
  Kernel* kernel = module_.kernel(name);
  model::Program* program = kernel == nullptr ? nullptr : kernel->program();
  if (program != nullptr && module_.has_cubin()) program->resources = kernel->resources();
  if (program != nullptr) return program;
  process_.say(fmt::format("kernel '{}' cannot be launched by another one: {}", readable_name(name),
                           kernel == nullptr ? "there is none" : kernel->failure()));
  return nullptr;
}

std::uint32_t DeviceSide::most_dynamic_shared_bytes(const std::string& kernel) {
  const Kernel* found = module_.kernel(kernel);
  return found == nullptr ? 0 : found->most_dynamic_shared_bytes;
}

std::vector<std::byte> DeviceSide::attributes_of(const std::string& kernel) {
  Kernel* found = module_.kernel(kernel);
  cudaFuncAttributes attributes{};
  if (found == nullptr || runtime::attributes_of(process_, *found, attributes) != cudaSuccess) {
    return {};
  }
  std::vector<std::byte> bytes(sizeof(attributes));
  std::memcpy(bytes.data(), &attributes, sizeof(attributes));
  return bytes;
}

std::optional<int> DeviceSide::blocks_of_multiprocessor(const std::string& kernel, int threads,
                                                        std::uint64_t shared_bytes) {
  Kernel* found = module_.kernel(kernel);
  int blocks = 0;
  if (found == nullptr) return std::nullopt;
  if (blocks_of(process_, blocks, *found, threads, shared_bytes) != cudaSuccess) {
    return std::nullopt;
  }
  return blocks;
}

std::optional<int> DeviceSide::device_attribute(int which) {
  return attribute(which, process_.arch(), current_device);
}

std::optional<std::uint64_t> DeviceSide::limit(int which) {
  std::size_t value = 0;
  if (get_limit(value, static_cast<cudaLimit>(which)) != cudaSuccess) return std::nullopt;
  return value;
}

void DeviceSide::set_condition(std::uint64_t handle, std::uint32_t value) {
  if (runtime::set_condition(handle, value)) return;
  process_.say("a kernel sets the condition of no node of a graph, which changes nothing");
}

int DeviceSide::launch_graph(std::uint64_t graph, std::uint64_t how) {
  return launch_from_kernel(graph, how, stream_);
}

std::uint64_t DeviceSide::graph() { return running_graph(stream_); }

std::string DeviceSide::error_name(int error) { return runtime::error_name(error); }
std::string DeviceSide::error_text(int error) { return runtime::error_text(error); }

}  // namespace warpmeter::runtime
