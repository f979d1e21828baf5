// SPDX-License-Identifier: MIT
#include "collector/cupti/resident.h"

#include <fmt/format.h>

namespace warpmeter::cupti {

Resident::Resident(const Context& context, const kernels::Problem& problem)
    : context_(context), problem_(problem) {
  const DriverApi& api = context_.api();
  for (const kernels::Buffer& buffer : problem_.buffers) {
    Slot slot;
    slot.memory = Memory(context_, buffer.initial.size());
    check(api,
          api.cuMemcpyHtoD_v2(slot.memory.address(), buffer.initial.data(), buffer.initial.size()),
          "copying the input to the device");
    slots_.push_back(std::move(slot));
  }
  point_arguments();
}

void Resident::point_arguments() {
  for (const Slot& slot : slots_) addresses_.push_back(slot.memory.address());
  for (const kernels::Argument& argument : problem_.arguments) {
    if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
      argument_pointers_.push_back(&addresses_.at(buffer->index));
    } else {
      const auto& scalar = std::get<kernels::ScalarArgument>(argument);
      argument_pointers_.push_back(const_cast<std::byte*>(scalar.bytes.data()));
    }
  }
}

void Resident::restore() {
  const DriverApi& api = context_.api();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.is_changed) continue;
    const std::vector<std::byte>& initial = problem_.buffers[i].initial;
    if (!slot.pristine.is_allocated()) {
      slot.pristine = Memory(context_, initial.size());
      check(api, api.cuMemcpyHtoD_v2(slot.pristine.address(), initial.data(), initial.size()),
            "copying the input to the device");
    }
    check(api,
          api.cuMemcpyDtoDAsync_v2(slot.memory.address(), slot.pristine.address(), initial.size(),
                                   context_.stream()),
          "restoring the input");
    slot.is_changed = false;
  }
}

void Resident::mark_launched(const run::Launch& launch) {
  const auto known = changes_.find(key(launch));
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (known == changes_.end() || known->second[i]) slots_[i].is_changed = true;
  }
}

std::vector<std::vector<std::byte>> Resident::read_back(const run::Launch& launch) {
  const DriverApi& api = context_.api();
  std::vector<std::vector<std::byte>> contents;
  std::vector<bool> changed;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::vector<std::byte>& initial = problem_.buffers[i].initial;
    std::vector<std::byte> bytes(initial.size());
    check(api, api.cuMemcpyDtoH_v2(bytes.data(), slots_[i].memory.address(), bytes.size()),
          "copying the result from the device");
    changed.push_back(bytes != initial);
    slots_[i].is_changed = changed.back();
    contents.push_back(std::move(bytes));
  }
  changes_[key(launch)] = std::move(changed);
  return contents;
}

std::string Resident::key(const run::Launch& launch) {
  const auto& [grid, block, dynamic, cluster, is_cooperative] = launch.geometry;
  return fmt::format("{}:{}:{},{},{}:{},{},{}:{}", static_cast<const void*>(launch.image),
                     launch.entry, grid.x, grid.y, grid.z, block.x, block.y, block.z, dynamic);
}

}  // namespace warpmeter::cupti
