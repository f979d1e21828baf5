// SPDX-License-Identifier: MIT
// The registration of a program before it begins, and how it asks for the kernels that it said
// then: the functions that nvcc's generated code calls (crt/host_runtime.h).
#include <memory>
#include <vector>

#include "collector/runtime/api/row.h"
#include "collector/runtime/device/device.h"
#include "collector/runtime/image/registry.h"
#include "collector/runtime/process/process.h"
#include "collector/runtime/stream/launcher.h"
#include "collector/runtime/stream/submit.h"

namespace warpmeter::runtime {
namespace {

/// The wrapper that nvcc hands over: a fat binary, or one with those that were compiled apart.
struct Wrapper {
  int magic;
  int version;  ///< 2: linked
  const void* data;
  const void* linked;  ///< for a linked one, a list of fat binaries that ends with null
};
constexpr int linked_version = 2;

struct PushedLaunch {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<PushedLaunch> pushed;

}  // namespace

namespace registration {
namespace {

void** register_fat_binary(void* data) {
  const auto* wrapper = static_cast<const Wrapper*>(data);
  auto registration = std::make_unique<Registration>();
  registration->fat_binary = wrapper->data;
  if (wrapper->version == linked_version && wrapper->linked != nullptr) {
    for (auto* part = static_cast<const void* const*>(wrapper->linked); *part != nullptr; ++part) {
      registration->linked.push_back(*part);
    }
  }
  return reinterpret_cast<void**>(Registry::get().add(std::move(registration)));
}

void register_fat_binary_end(void**) {}

void unregister_fat_binary(void**) {}  // the process ends, or a library goes: nothing is owed

char init_module(void** handle) {
  Process& process = Process::get();
  const std::lock_guard lock(process.mutex());
  process.module_of(*reinterpret_cast<Registration*>(handle));
  return 1;
}

void register_function(void** handle, const char* stub, char*, const char* name, int, uint3*,
                       uint3*, dim3*, dim3*, int*) {
  Registry::get().functions[stub] = {reinterpret_cast<Registration*>(handle), name};
}

void register_var(void** handle, char* host, char*, const char* name, int is_elsewhere,
                  std::size_t bytes, int, int) {
  constexpr std::size_t most_bytes = std::size_t{64} << 10, most_variables = 256;
  Registry& registry = Registry::get();
  registry.variables[host] = {reinterpret_cast<Registration*>(handle), name};
  if (is_elsewhere != 0 || bytes > most_bytes || registry.host_variables.size() == most_variables)
    return;
  const auto* at = reinterpret_cast<const std::byte*>(host);
  registry.host_variables.push_back({at, {at, at + bytes}});
}

void register_managed_var(void** handle, void** host, char*, const char* name, int, std::size_t,
                          int, int) {
  auto* registration = reinterpret_cast<Registration*>(handle);
  registration->managed.push_back({host, name});
  Registry::get().variables[host] = {registration, name};
}

unsigned push_call_configuration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t pop_call_configuration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (pushed.empty()) return cudaErrorMissingConfiguration;
  const PushedLaunch launch = pushed.back();
  pushed.pop_back();
  Process::is_launching = true;
  *grid = launch.grid;
  *block = launch.block;
  *shared = launch.shared;
  *static_cast<cudaStream_t*>(stream) = launch.stream;
  return cudaSuccess;
}

cudaError_t get_kernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));  // the launch looks it up
  return cudaSuccess;
}

cudaError_t launch_kernel(Process& process, cudaKernel_t kernel, dim3 grid, dim3 block,
                          void** arguments, std::size_t shared, cudaStream_t stream) {
  const OnDevice device(device_of_launch(process, stream));
  return launch(process, kernel, grid, block, arguments, shared, stream);
}

}  // namespace
}  // namespace registration

std::vector<Answer> registration_answers() {
  return {
      DIRECT_AS("__cudaRegisterFatBinary", registration::register_fat_binary),
      DIRECT_AS("__cudaRegisterFatBinaryEnd", registration::register_fat_binary_end),
      DIRECT_AS("__cudaUnregisterFatBinary", registration::unregister_fat_binary),
      DIRECT_AS("__cudaInitModule", registration::init_module),
      DIRECT_AS("__cudaRegisterFunction", registration::register_function),
      DIRECT_AS("__cudaRegisterVar", registration::register_var),
      DIRECT_AS("__cudaRegisterManagedVar", registration::register_managed_var),
      DIRECT_AS("__cudaPushCallConfiguration", registration::push_call_configuration),
      DIRECT_AS("__cudaPopCallConfiguration", registration::pop_call_configuration),
      DIRECT_AS("__cudaGetKernel", registration::get_kernel),
      ANSWER_AS("__cudaLaunchKernel", registration::launch_kernel, Needs::context),
  };
}

}  // namespace warpmeter::runtime
