// SPDX-License-Identifier: MIT
// The facts about kernels and the device for kernels that launch others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "collector/model/machine/device_runtime.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

class DeviceSide final : public model::KernelHost {
 public:
  /// The device side of a module's kernels, one of which runs in the stream of that number.
  DeviceSide(Process& process, Module& module, std::uint32_t stream)
      : process_(process), module_(module), stream_(stream) {}

  Kernel* find(const std::string& name) { return module_.kernel(name); }

  const model::Program* kernel(const std::string& name) override;
  std::uint32_t most_dynamic_shared_bytes(const std::string& kernel) override;
  std::vector<std::byte> attributes_of(const std::string& kernel) override;
  std::optional<int> blocks_of_multiprocessor(const std::string& kernel, int threads,
                                              std::uint64_t shared_bytes) override;
  std::optional<int> device_attribute(int which) override;
  std::optional<std::uint64_t> limit(int which) override;
  void set_condition(std::uint64_t handle, std::uint32_t value) override;
  int launch_graph(std::uint64_t graph, std::uint64_t how) override;
  std::uint64_t graph() override;
  std::string error_name(int error) override;
  std::string error_text(int error) override;

 private:
  Process& process_;
  Module& module_;
  const std::uint32_t stream_;
};

}  // namespace warpmeter::runtime
