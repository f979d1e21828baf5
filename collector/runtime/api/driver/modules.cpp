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
#include "collector/runtime/api/bodies.h"
#include "collector/runtime/api/row.h"
#include "collector/runtime/image/fat_binary.h"
#include "collector/runtime/image/jit_options.h"
#include "collector/runtime/image/made_code.h"
#include "collector/runtime/image/ptx_image.h"
#include "collector/runtime/stream/outstanding.h"

namespace warpmeter::runtime {
namespace modules {
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

CUresult kernel_attribute(Process& process, int* value, CUfunction_attribute which,
                          const void* kernel) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  cudaFuncAttributes known{};
  const cudaError_t result = launches::function_get_attributes(process, &known, kernel);
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
  Kernel* kernel = process.kernel(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const model::Program* program = kernel->program();
  if (program == nullptr) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (offset == nullptr || index >= program->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = program->parameters[index].offset;
  if (bytes != nullptr) *bytes = program->parameters[index].bytes;
  return CUDA_SUCCESS;
}

CUresult module_load(Process& process, CUmodule* module, const char* path) {
  return load_module_file(process, module, path, {});
}
CUresult module_load_data(Process& process, CUmodule* module, const void* image) {
  return load_module(process, module, image, {});
}
CUresult module_load_data_ex(Process& process, CUmodule* module, const void* image, unsigned count,
                             CUjit_option* options, void** values) {
  return load_module(process, module, image, {count, options, values});
}
CUresult module_load_fat_binary(Process& process, CUmodule* module, const void* image) {
  return load_module(process, module, image, {});
}
CUresult unload_module(Process& process, const void* handle) {
  Module* module = module_of(process, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  wait_for_kernels(process);
  process.unload(module);
  return CUDA_SUCCESS;
}
CUresult module_get_loading_mode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
CUresult module_get_function(Process& process, CUfunction* function, CUmodule module,
                             const char* name) {
  return find_kernel(process, function, module, name);
}
CUresult count_kernels(Process& process, unsigned* count, const void* handle) {
  Module* module = module_of(process, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool has_any = module->refusal == 0;
  *count = has_any ? static_cast<unsigned>(module->kernel_names().size()) : 0;
  return CUDA_SUCCESS;
}
CUresult module_enumerate_functions(Process& process, CUfunction* functions, unsigned count,
                                    CUmodule module) {
  return list_kernels(process, functions, count, module);
}
// Libraries need no context.
CUresult library_load_data(Process& process, CUlibrary* library, const void* code,
                           CUjit_option* options, void** values, unsigned count, CUlibraryOption*,
                           void**, unsigned) {
  return load_module(process, library, code, {count, options, values});
}
CUresult library_load_from_file(Process& process, CUlibrary* library, const char* path,
                                CUjit_option* options, void** values, unsigned count,
                                CUlibraryOption*, void**, unsigned) {
  return load_module_file(process, library, path, {count, options, values});
}
CUresult library_get_kernel(Process& process, CUkernel* kernel, CUlibrary library,
                            const char* name) {
  return find_kernel(process, kernel, library, name);
}
CUresult library_enumerate_kernels(Process& process, CUkernel* kernels, unsigned count,
                                   CUlibrary library) {
  return list_kernels(process, kernels, count, library);
}
CUresult library_get_module(Process& process, CUmodule* module, CUlibrary library) {
  Module* loaded = module_of(process, library);
  if (loaded == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (loaded->refusal != 0) return refusal_of(*loaded);
  *module = reinterpret_cast<CUmodule>(process.on_this_device(loaded));
  return CUDA_SUCCESS;
}
CUresult library_get_managed(Process& process, CUdeviceptr* pointer, std::size_t* bytes,
                             CUlibrary library, const char* name) {
  Module* module = module_of(process, library);
  const bool is_there = module != nullptr && module->refusal == 0;
  if (is_there && name != nullptr && !module->is_managed(name)) {
    return CUDA_ERROR_NOT_FOUND;
  }
  return find_variable(process, pointer, bytes, library, name);
}
/// Functions that host and device call alike are of machines that share all of their memory.
CUresult library_get_unified_function(Process& process, void**, CUlibrary library, const char*) {
  const bool is_library = module_of(process, library) != nullptr;
  return is_library ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
}
CUresult kernel_get_function(Process& process, CUfunction* function, CUkernel kernel) {
  if (process.kernel(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = reinterpret_cast<CUfunction>(process.kernel(kernel));
  return CUDA_SUCCESS;
}
CUresult kernel_get_library(Process& process, CUlibrary* library, CUkernel handle) {
  Kernel* kernel = process.kernel(handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *library = reinterpret_cast<CUlibrary>(process.handle_of(&kernel->module()));
  return CUDA_SUCCESS;
}
CUresult kernel_get_attribute(Process& process, int* value, CUfunction_attribute which,
                              CUkernel kernel, CUdevice) {
  return kernel_attribute(process, value, which, kernel);
}
CUresult set_attribute(Process& process, CUfunction_attribute which, int value,
                       const void* kernel) {
  // Those before it say what was compiled.
  if (which < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  return as_driver_error(launches::function_set_attribute(
      process, kernel, static_cast<cudaFuncAttribute>(which), value));
}
CUresult kernel_set_attribute(Process& process, CUfunction_attribute which, int value,
                              CUkernel kernel, CUdevice) {
  return set_attribute(process, which, value, kernel);
}
CUresult kernel_set_cache_config(Process& process, CUkernel kernel, CUfunc_cache which, CUdevice) {
  return as_driver_error(
      launches::function_set_cache_config(process, kernel, static_cast<cudaFuncCache>(which)));
}
CUresult function_set_attribute(Process& process, CUfunction function, CUfunction_attribute which,
                                int value) {
  return set_attribute(process, which, value, function);
}
CUresult function_get_module(Process& process, CUmodule* module, CUfunction function) {
  Kernel* kernel = process.kernel(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = reinterpret_cast<CUmodule>(&kernel->module());
  return CUDA_SUCCESS;
}
CUresult function_is_loaded(Process& process, CUfunctionLoadingState* state, CUfunction function) {
  if (process.kernel(function) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
}
CUresult function_load(Process& process, CUfunction function) {
  return process.kernel(function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace
}  // namespace modules

std::vector<Answer> driver_module_answers() {
  return {
      ANSWER(cuModuleLoad, modules::module_load, Needs::context),
      ANSWER(cuModuleLoadData, modules::module_load_data, Needs::context),
      ANSWER(cuModuleLoadDataEx, modules::module_load_data_ex, Needs::context),
      ANSWER(cuModuleLoadFatBinary, modules::module_load_fat_binary, Needs::context),
      ANSWER(cuModuleUnload, modules::unload_module, Needs::context),
      ANSWER(cuModuleGetLoadingMode, modules::module_get_loading_mode, Needs::initialised),
      ANSWER(cuModuleGetFunction, modules::module_get_function, Needs::context,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuModuleGetFunctionCount, modules::count_kernels, Needs::context),
      ANSWER(cuModuleEnumerateFunctions, modules::module_enumerate_functions, Needs::context),
      ANSWER(cuModuleGetGlobal_v2, modules::find_variable, Needs::context,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuLibraryLoadData, modules::library_load_data, Needs::initialised),
      ANSWER(cudaLibraryLoadData, modules::library_load_data, Needs::context),
      ANSWER(cuLibraryLoadFromFile, modules::library_load_from_file, Needs::initialised),
      ANSWER(cudaLibraryLoadFromFile, modules::library_load_from_file, Needs::context),
      ANSWER(cuLibraryUnload, modules::unload_module, Needs::initialised),
      ANSWER(cudaLibraryUnload, modules::unload_module, Needs::context),
      ANSWER(cuLibraryGetKernel, modules::library_get_kernel, Needs::initialised,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cudaLibraryGetKernel, modules::library_get_kernel, Needs::context,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuLibraryGetKernelCount, modules::count_kernels, Needs::initialised),
      ANSWER(cudaLibraryGetKernelCount, modules::count_kernels, Needs::context),
      ANSWER(cuLibraryEnumerateKernels, modules::library_enumerate_kernels, Needs::initialised),
      ANSWER(cudaLibraryEnumerateKernels, modules::library_enumerate_kernels, Needs::context),
      ANSWER(cuLibraryGetModule, modules::library_get_module, Needs::context),
      BOTH(cudaLibraryGetGlobal, cuLibraryGetGlobal, modules::find_variable, Needs::context,
           No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuLibraryGetManaged, modules::library_get_managed, Needs::initialised,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cudaLibraryGetManaged, modules::library_get_managed, Needs::context,
             No(CUDA_ERROR_NOT_FOUND)),
      ANSWER(cuLibraryGetUnifiedFunction, modules::library_get_unified_function, Needs::initialised,
             No(CUDA_ERROR_INVALID_VALUE)),
      ANSWER(cudaLibraryGetUnifiedFunction, modules::library_get_unified_function, Needs::context,
             No(CUDA_ERROR_INVALID_VALUE)),
      ANSWER(cuKernelGetFunction, modules::kernel_get_function, Needs::context),
      ANSWER(cuKernelGetLibrary, modules::kernel_get_library, Needs::initialised),
      ANSWER(cuKernelGetAttribute, modules::kernel_get_attribute, Needs::initialised),
      ANSWER(cuKernelSetAttribute, modules::kernel_set_attribute, Needs::initialised),
      ANSWER(cuKernelSetCacheConfig, modules::kernel_set_cache_config, Needs::initialised),
      ANSWER(cuKernelGetParamInfo, modules::parameter_info, Needs::initialised),
      BOTH(cudaFuncGetParamInfo, cuFuncGetParamInfo, modules::parameter_info, Needs::context),
      ANSWER(cuFuncGetAttribute, modules::kernel_attribute, Needs::context),
      ANSWER(cuFuncSetAttribute, modules::function_set_attribute, Needs::context),
      ANSWER(cuFuncGetModule, modules::function_get_module, Needs::context),
      ANSWER(cuFuncIsLoaded, modules::function_is_loaded, Needs::context),
      ANSWER(cuFuncLoad, modules::function_load, Needs::context),
  };
}

}  // namespace warpmeter::runtime
