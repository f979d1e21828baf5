// SPDX-License-Identifier: MIT
// The driver's modules and libraries, their kernels and variables. A library is a module here, and
// its kernels are functions.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <type_traits>

#include "collector/model/machine/program.h"
#include "collector/model/ptx/flow/declared.h"
#include "collector/runtime/api/driver_call.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/jit_options.h"
#include "collector/runtime/image/made_code.h"
#include "collector/runtime/image/ptx_image.h"

namespace warpmeter::runtime {
namespace {

/// The mistake in a module, as a driver finds it when it compiles; `image`: not a fat binary.
std::optional<ImageMistake> load_mistake(Module& module, const char* image, const std::string& ptx,
                                         int arch) {
  if (image != nullptr && !is_machine_code(image)) {
    if (auto mistake = kind_mistake(image)) return mistake;
    if (auto mistake = header_mistake(ptx, arch)) return mistake;
  }
  std::string why = module.failure();
  if (module.parsed() != nullptr) {
    if (const auto wrong = model::ptx::check_names(*module.parsed())) {
      why = fmt::format("line {} of its PTX: {}", wrong->line, wrong->message);
    } else if (const std::string missing = undefined_in(ptx); !missing.empty()) {
      why = fmt::format("Unresolved extern function '{}'", missing);
    }
  }
  if (why.empty()) return std::nullopt;
  return ImageMistake{ptx.empty() ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_PTX, why};
}

/// The module is compiled when it is loaded, as a driver does with PTX.
template <class Handle>
CUresult load_module(Process& process, Handle* result, const void* image, JitOptions jit) {
  if (result == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!jit.is_known()) return CUDA_ERROR_INVALID_VALUE;
  const auto begin = std::chrono::steady_clock::now();
  ModuleSource source = source_in_memory(image, {}, process.arch());
  if (is_machine_code(static_cast<const char*>(image))) take_made(source, image, process.arch());
  const std::string ptx = source.ptx;
  constexpr bool is_library = std::is_same_v<Handle, CUlibrary>;
  Module* made = process.load(std::move(source), is_library);
  const bool is_plain = !is_fat_binary(image);
  const auto mistake = load_mistake(*made, is_plain ? static_cast<const char*>(image) : nullptr,
                                    ptx, process.arch());
  jit.took(begin);
  if (mistake) {
    process.say(fmt::format("a module cannot be loaded: {}", mistake->why));
    jit.write_error("error   : " + mistake->why);
    if (!is_library) {
      process.unload(made);
      return mistake->result;
    }
    made->refusal = mistake->result;
  }
  *result = reinterpret_cast<Handle>(made);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult load_module_file(Process& process, Handle* result, const char* path, JitOptions jit) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return load_module(process, result, bytes.data(), jit);
}

CUresult refusal_of(const Module& module) { return static_cast<CUresult>(module.refusal); }

Module* module_of(Process& process, const void* handle) {
  return process.is_module(handle) ? static_cast<Module*>(const_cast<void*>(handle)) : nullptr;
}

template <class Handle>
CUresult find_kernel(Process& process, Handle* result, const void* handle, const char* name) {
  Module* module = module_of(process, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (result == nullptr || name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
  if (module->refusal != 0) return refusal_of(*module);
  Kernel* kernel = module->kernel(name);
  if (kernel == nullptr) return CUDA_ERROR_NOT_FOUND;
  process.know(kernel);
  *result = reinterpret_cast<Handle>(kernel);
  return CUDA_SUCCESS;
}

template <class Handle>
CUresult list_kernels(Process& process, Handle* kernels, unsigned count, const void* handle) {
  Module* module = module_of(process, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::vector<std::string> names = module->kernel_names();
  for (std::size_t i = 0; i < std::min<std::size_t>(count, names.size()); ++i) {
    const CUresult result = find_kernel(process, kernels + i, handle, names[i].c_str());
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult find_variable(Process& process, CUdeviceptr* pointer, std::size_t* bytes,
                       const void* handle, const char* name) {
  Module* module = module_of(process, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  if (module->refusal != 0) return refusal_of(*module);
  const std::optional<VariablePlace> place = process.on_this_device(module)->variable(name);
  if (!place) return module->kernel(name) ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = place->address;
  if (bytes != nullptr) *bytes = place->bytes;
  return CUDA_SUCCESS;
}

CUresult kernel_attribute(int* value, CUfunction_attribute which, const void* kernel) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  static auto* const ask =
      runtime_function<decltype(::cudaFuncGetAttributes)>("cudaFuncGetAttributes");
  cudaFuncAttributes known{};
  const cudaError_t result = ask(&known, kernel);
  if (result != cudaSuccess) return as_driver_error(result);
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = known.maxThreadsPerBlock;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(known.sharedSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(known.constSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(known.localSizeBytes);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = known.numRegs;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = known.ptxVersion;
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = known.binaryVersion;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = known.maxDynamicSharedSizeBytes;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = known.preferredShmemCarveout;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = known.clusterDimMustBeSet;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *value = known.requiredClusterWidth;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *value = known.requiredClusterHeight;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = known.requiredClusterDepth;
      break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = known.nonPortableClusterSizeAllowed;
      break;
    default:
      if (which >= CU_FUNC_ATTRIBUTE_MAX || which < 0) return CUDA_ERROR_INVALID_VALUE;
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult parameter_info(Process& process, const void* handle, std::size_t index,
                        std::size_t* offset, std::size_t* bytes) {
  Kernel* kernel = kernel_of(process, handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const model::Program* program = kernel->program();
  if (program == nullptr) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (offset == nullptr || index >= program->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = program->parameters[index].offset;
  if (bytes != nullptr) *bytes = program->parameters[index].bytes;
  return CUDA_SUCCESS;
}

}  // namespace

namespace api {
namespace {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return driver_call("cuModuleLoad", Needs::context,
                     [&](Process& p) { return load_module_file(p, module, path, {}); });
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return driver_call("cuModuleLoadData", Needs::context,
                     [&](Process& p) { return load_module(p, module, image, {}); });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                            CUjit_option* options, void** values) {
  return driver_call("cuModuleLoadDataEx", Needs::context, [&](Process& p) {
    return load_module(p, module, image, {count, options, values});
  });
}
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return driver_call("cuModuleLoadFatBinary", Needs::context,
                     [&](Process& p) { return load_module(p, module, image, {}); });
}
CUresult unload_module(std::string_view name, Needs needs, const void* handle) {
  return driver_call(name, needs, [&](Process& p) {
    Module* module = module_of(p, handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    wait_for_kernels(p);
    p.unload(module);
    return CUDA_SUCCESS;
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return unload_module("cuModuleUnload", Needs::context, module);
}
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return driver_call("cuModuleGetLoadingMode", Needs::initialised, [&](Process&) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
  });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return driver_call("cuModuleGetFunction", Needs::context,
                     [&](Process& p) { return find_kernel(p, function, module, name); });
}
CUresult count_kernels(std::string_view name, Needs needs, unsigned* count, const void* handle) {
  return driver_call(name, needs, [&](Process& p) {
    Module* module = module_of(p, handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool has_any = module->refusal == 0;
    *count = has_any ? static_cast<unsigned>(module->kernel_names().size()) : 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return count_kernels("cuModuleGetFunctionCount", Needs::context, count, module);
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return driver_call("cuModuleEnumerateFunctions", Needs::context,
                     [&](Process& p) { return list_kernels(p, functions, count, module); });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, std::size_t* bytes, CUmodule module,
                              const char* name) {
  return driver_call("cuModuleGetGlobal", Needs::context,
                     [&](Process& p) { return find_variable(p, pointer, bytes, module, name); });
}

// Libraries need no context.
CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return driver_call("cuLibraryLoadData", Needs::initialised, [&](Process& p) {
    return load_module(p, library, code, {count, options, values});
  });
}
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption*, void**, unsigned) {
  return driver_call("cuLibraryLoadFromFile", Needs::initialised, [&](Process& p) {
    return load_module_file(p, library, path, {count, options, values});
  });
}
CUresult cuLibraryUnload(CUlibrary library) {
  return unload_module("cuLibraryUnload", Needs::initialised, library);
}
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_call("cuLibraryGetKernel", Needs::initialised,
                     [&](Process& p) { return find_kernel(p, kernel, library, name); });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return count_kernels("cuLibraryGetKernelCount", Needs::initialised, count, library);
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return driver_call("cuLibraryEnumerateKernels", Needs::initialised,
                     [&](Process& p) { return list_kernels(p, kernels, count, library); });
}
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return driver_call("cuLibraryGetModule", Needs::context, [&](Process& p) {
    Module* loaded = module_of(p, library);
    if (loaded == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (loaded->refusal != 0) return refusal_of(*loaded);
    *module = reinterpret_cast<CUmodule>(p.on_this_device(loaded));
    return CUDA_SUCCESS;
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return driver_call("cuLibraryGetGlobal", Needs::context,
                     [&](Process& p) { return find_variable(p, pointer, bytes, library, name); });
}
CUresult cuLibraryGetManaged(CUdeviceptr* pointer, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return driver_call("cuLibraryGetManaged", Needs::initialised, [&](Process& p) {
    Module* module = module_of(p, library);
    const bool is_there = module != nullptr && module->refusal == 0;
    if (is_there && name != nullptr && !module->is_managed(name)) {
      return CUDA_ERROR_NOT_FOUND;
    }
    return find_variable(p, pointer, bytes, library, name);
  });
}
/// Functions that host and device call alike are of machines that share all of their memory.
CUresult cuLibraryGetUnifiedFunction(void**, CUlibrary library, const char*) {
  return driver_call("cuLibraryGetUnifiedFunction", Needs::initialised, [&](Process& p) {
    const bool is_library = module_of(p, library) != nullptr;
    return is_library ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return driver_call("cuKernelGetFunction", Needs::context, [&](Process& p) {
    if (kernel_of(p, kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *function = reinterpret_cast<CUfunction>(kernel_of(p, kernel));
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  return driver_call("cuKernelGetLibrary", Needs::initialised, [&](Process& p) {
    Kernel* kernel = kernel_of(p, handle);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *library = reinterpret_cast<CUlibrary>(p.handle_of(&kernel->module()));
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute which, CUkernel kernel, CUdevice) {
  return driver_call("cuKernelGetAttribute", Needs::initialised,
                     [&](Process&) { return kernel_attribute(value, which, kernel); });
}
CUresult set_attribute(CUfunction_attribute which, int value, const void* kernel) {
  static auto* const set =
      runtime_function<decltype(::cudaFuncSetAttribute)>("cudaFuncSetAttribute");
  // Those before it say what was compiled.
  if (which < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  return as_driver_error(set(kernel, static_cast<cudaFuncAttribute>(which), value));
}
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice) {
  return driver_call("cuKernelSetAttribute", Needs::initialised,
                     [&](Process&) { return set_attribute(which, value, kernel); });
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache which, CUdevice) {
  return driver_call("cuKernelSetCacheConfig", Needs::initialised, [&](Process&) {
    static auto* const set =
        runtime_function<decltype(::cudaFuncSetCacheConfig)>("cudaFuncSetCacheConfig");
    return as_driver_error(set(kernel, static_cast<cudaFuncCache>(which)));
  });
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  return driver_call("cuFuncSetAttribute", Needs::context,
                     [&](Process&) { return set_attribute(which, value, function); });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* offset,
                              std::size_t* bytes) {
  return driver_call("cuKernelGetParamInfo", Needs::initialised,
                     [&](Process& p) { return parameter_info(p, kernel, index, offset, bytes); });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  return driver_call("cuFuncGetAttribute", Needs::context,
                     [&](Process&) { return kernel_attribute(value, which, function); });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return driver_call("cuFuncGetModule", Needs::context, [&](Process& p) {
    Kernel* kernel = kernel_of(p, function);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *module = reinterpret_cast<CUmodule>(&kernel->module());
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  return driver_call("cuFuncGetParamInfo", Needs::context,
                     [&](Process& p) { return parameter_info(p, function, index, offset, bytes); });
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return driver_call("cuFuncIsLoaded", Needs::context, [&](Process& p) {
    if (kernel_of(p, function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction function) {
  return driver_call("cuFuncLoad", Needs::context, [&](Process& p) {
    return kernel_of(p, function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> driver_module_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuModuleLoad),
      WARPMETER_ANSWER(cuModuleLoadData),
      WARPMETER_ANSWER(cuModuleLoadDataEx),
      WARPMETER_ANSWER(cuModuleLoadFatBinary),
      WARPMETER_ANSWER(cuModuleUnload),
      WARPMETER_ANSWER(cuModuleGetLoadingMode),
      WARPMETER_ANSWER(cuModuleGetFunction),
      WARPMETER_ANSWER(cuModuleGetFunctionCount),
      WARPMETER_ANSWER(cuModuleEnumerateFunctions),
      WARPMETER_ANSWER(cuModuleGetGlobal_v2),
      WARPMETER_ANSWER(cuLibraryLoadData),
      WARPMETER_ANSWER(cuLibraryLoadFromFile),
      WARPMETER_ANSWER(cuLibraryUnload),
      WARPMETER_ANSWER(cuLibraryGetKernel),
      WARPMETER_ANSWER(cuLibraryGetKernelCount),
      WARPMETER_ANSWER(cuLibraryEnumerateKernels),
      WARPMETER_ANSWER(cuLibraryGetModule),
      WARPMETER_ANSWER(cuLibraryGetGlobal),
      WARPMETER_ANSWER(cuLibraryGetManaged),
      WARPMETER_ANSWER(cuLibraryGetUnifiedFunction),
      WARPMETER_ANSWER(cuKernelGetFunction),
      WARPMETER_ANSWER(cuKernelGetLibrary),
      WARPMETER_FORWARD_IN(cuKernelGetName, cudaFuncGetName, initialised),
      WARPMETER_ANSWER(cuKernelGetAttribute),
      WARPMETER_ANSWER(cuKernelSetAttribute),
      WARPMETER_ANSWER(cuKernelSetCacheConfig),
      WARPMETER_ANSWER(cuKernelGetParamInfo),
      WARPMETER_ANSWER(cuFuncGetAttribute),
      WARPMETER_ANSWER(cuFuncSetAttribute),
      WARPMETER_FORWARD(cuFuncSetCacheConfig, cudaFuncSetCacheConfig),
      WARPMETER_ANSWER(cuFuncGetModule),
      WARPMETER_FORWARD(cuFuncGetName, cudaFuncGetName),
      WARPMETER_ANSWER(cuFuncGetParamInfo),
      WARPMETER_ANSWER(cuFuncIsLoaded),
      WARPMETER_ANSWER(cuFuncLoad),
  };
  return table;
}

}  // namespace warpmeter::runtime
