// SPDX-License-Identifier: MIT
#include "collector/cupti/module.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/with_noun.h"

namespace warpmeter::cupti {

std::optional<CodeChoice> choose_code(std::span<const kernels::Code> codes,
                                      int compute_capability) {
  const kernels::Code *cubin = nullptr, *ptx = nullptr;
  for (const kernels::Code& code : codes) {
    if (code.arch > compute_capability) continue;
    const bool runs = kernels::runs_machine_code_of(code.arch, compute_capability);
    if (runs && !code.cubin.empty() && (cubin == nullptr || cubin->arch < code.arch)) {
      cubin = &code;
    }
    if (!code.ptx.empty() && (ptx == nullptr || ptx->arch < code.arch)) ptx = &code;
  }
  if (cubin != nullptr) return CodeChoice{cubin, true};
  if (ptx != nullptr) return CodeChoice{ptx, false};
  return std::nullopt;
}

Modules::~Modules() {
  for (const auto& [image, module] : modules_) context_.api().cuModuleUnload(module);
}

CUmodule Modules::load(const kernels::Image& image, std::string& failure) {
  if (const auto found = modules_.find(&image); found != modules_.end()) return found->second;
  const std::optional<CodeChoice> choice = choose_code(image.codes, compute_capability_);
  if (!choice) {
    failure = fmt::format(
        "{} was compiled for no architecture up to this device's {}.{}: build warpmeter with it in "
        "WARPMETER_ARCHITECTURES",
        image.source_path, compute_capability_ / 10, compute_capability_ % 10);
    return nullptr;
  }
  // The driver expects a final null character after PTX; a cubin tells its own length.
  const std::string ptx(choice->is_cubin ? std::string_view() : choice->code->ptx);
  const void* bytes = choice->is_cubin ? static_cast<const void*>(choice->code->cubin.data())
                                       : static_cast<const void*>(ptx.c_str());
  std::array<char, 2048> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                         CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const CUresult result = context_.api().cuModuleLoadDataEx(
      &module, bytes, static_cast<unsigned>(options.size()), options.data(), values.data());
  if (result != CUDA_SUCCESS) {
    failure =
        fmt::format("the driver does not load the code of {} for sm_{}: {} {}", image.source_path,
                    choice->code->arch, in_words(context_.api(), result), log.data());
    return nullptr;
  }
  return modules_[&image] = module;
}

KernelCode Modules::code_of(const run::Launch& launch) {
  if (launch.image == nullptr) return {};
  const auto [kernels, is_new] = machine_code_.try_emplace(launch.image);
  if (is_new) {
    const auto choice = choose_code(launch.image->codes, compute_capability_);
    if (choice && choice->is_cubin) {
      kernels->second = model::sass::waiting_kernels(std::as_bytes(choice->code->cubin));
    }
  }
  const auto found = kernels->second.find(launch.entry);
  return found == kernels->second.end() ? KernelCode{} : cupti::code_of(found->second);
}

CUdeviceptr Modules::variable(const kernels::Image& image, const std::string& symbol) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  std::string failure;
  const CUmodule module = load(image, failure);
  const CUresult result = module == nullptr ? CUDA_ERROR_NOT_FOUND
                                            : context_.api().cuModuleGetGlobal_v2(
                                                  &address, &bytes, module, symbol.c_str());
  if (result != CUDA_SUCCESS) {
    throw Error(ExitCode::kernel, fmt::format("{} has no variable {} to set: {}", image.source_path,
                                              symbol, in_words(context_.api(), result)));
  }
  return address;
}

const Function* Modules::find(const run::Launch& launch, std::string& failure) {
  const DriverApi& api = context_.api();
  Function& function = functions_[{launch.image, launch.entry}];
  if (function.handle == nullptr) {
    const CUmodule module = load(*launch.image, failure);
    if (module == nullptr) return nullptr;
    const CUresult result = api.cuModuleGetFunction(&function.handle, module, launch.entry.c_str());
    if (result != CUDA_SUCCESS) {
      function.handle = nullptr;
      failure = fmt::format("{} has no kernel {}: the driver says {}", launch.image->source_path,
                            launch.entry, in_words(api, result));
      return nullptr;
    }
    const auto attribute = [&](CUfunction_attribute name, int& value) {
      check(api, api.cuFuncGetAttribute(&value, name, function.handle), "asking for a kernel");
    };
    attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, function.registers);
    attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function.static_shared_bytes);
    attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function.local_bytes);
  }
  // More than 48 KiB has to be asked for.
  const auto dynamic = static_cast<int>(launch.geometry.dynamic_shared_bytes);
  if (dynamic + function.static_shared_bytes > 48 * 1024) {
    const CUresult result = api.cuFuncSetAttribute(
        function.handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic);
    if (result != CUDA_SUCCESS) {
      failure = fmt::format("the device gives a block no {} of dynamic shared memory: {}",
                            with_noun(dynamic, "byte"), in_words(api, result));
      return nullptr;
    }
  }
  return &function;
}

}  // namespace warpmeter::cupti
