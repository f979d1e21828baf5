// SPDX-License-Identifier: MIT
// An image's code on a device: which of its codes fits, loaded once.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "collector/cupti/context.h"
#include "collector/cupti/kernel_code.h"
#include "collector/run/backend.h"

namespace warpmeter::cupti {

struct CodeChoice {
  const kernels::Code* code = nullptr;
  bool is_cubin = false;  ///< else the driver compiles the PTX
};

/// PTX runs on everything not older than itself (CUDA C++ Programming Guide, Application
/// Compatibility), machine code as kernels::runs_machine_code_of says. So: the newest cubin that
/// fits `compute_capability` (90 is 9.0), else the newest PTX that does.
std::optional<CodeChoice> choose_code(std::span<const kernels::Code> codes, int compute_capability);

/// An entry, ready to launch.
struct Function {
  CUfunction handle = nullptr;
  int registers = 0;
  int static_shared_bytes = 0;
  int local_bytes = 0;
};

class Modules {
 public:
  Modules(const Context& context, int compute_capability)
      : context_(context), compute_capability_(compute_capability) {}
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// Finds a launch's entry, with room for its dynamic shared memory. nullptr with the reason in
  /// `failure` when the device cannot run it.
  const Function* find(const run::Launch& launch, std::string& failure);

  /// The instructions that a launch's machine code has; all where the driver compiles its PTX.
  KernelCode code_of(const run::Launch& launch);

  /// Where a `__constant__` or `__device__` variable of a loaded image is. Throws Error{kernel}.
  CUdeviceptr variable(const kernels::Image& image, const std::string& symbol);

 private:
  CUmodule load(const kernels::Image& image, std::string& failure);

  const Context& context_;
  int compute_capability_;
  std::map<const kernels::Image*, CUmodule> modules_;
  std::map<std::pair<const kernels::Image*, std::string>, Function> functions_;
  std::map<const kernels::Image*, std::map<std::string, model::sass::Waiting>> machine_code_;
};

}  // namespace warpmeter::cupti
