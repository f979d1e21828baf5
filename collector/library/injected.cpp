// SPDX-License-Identifier: MIT
#include "collector/library/injected.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/temporary.h"
#include "collector/profile/injector.h"

namespace warpmeter::library {
namespace {

namespace fs = std::filesystem;

/// Our own file; the others lie beside it.
fs::path own_path() {
  Dl_info info{};
  static const char own = 0;
  return dladdr(&own, &info) != 0 ? fs::path(info.dli_fname) : fs::path();
}

/// A loaded library never goes: its functions are those of CUDA.
void* load(const fs::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library != nullptr) return library;
  throw Error(ExitCode::file, fmt::format("{} cannot be loaded: {}", file.string(), dlerror()));
}

template <class Function>
Function function_of(void* library, const char* name) {
  if (void* const found = dlsym(library, name)) return reinterpret_cast<Function>(found);
  throw Error(ExitCode::file, fmt::format("{} is not in the library that belongs to this one: "
                                          "install both together",
                                          name));
}

void require_success(const char* failure, ExitCode code) {
  if (failure != nullptr) throw Error(code, failure);
}

/// Libraries of NVIDIA's names, for what loads them later, where they are not installed. True if
/// libcuda.so.1 is one.
bool load_stand_ins(const fs::path& stand_ins) {
  bool stands_in_for_libcuda = false;
  for (const char* name : {"libcuda.so.1", "libcudart.so.12", "libcudart.so.13"}) {
    if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) continue;
    load(stand_ins / name);
    stands_in_for_libcuda |= name == std::string_view("libcuda.so.1");
  }
  return stands_in_for_libcuda;
}

}  // namespace

Injected::Injected(void* library)
    : begin_(function_of<Begin>(library, "warpmeter_begin_range")),
      end_(function_of<End>(library, "warpmeter_end_range")),
      keep_(function_of<Keep>(library, "warpmeter_keep_source")) {}

Injected Injected::model(int arch) {
  clear_left_folders();
  auto folder = std::make_unique<profile::PrivateFolder>();
  const fs::path file =
      profile::find_library(profile::Library::runtime, own_path(), folder->path());
  void* const library = load(file);
  Injected injected(library);
  const auto answer_cuda = function_of<const char* (*)(int)>(library, "warpmeter_answer_cuda");
  require_success(answer_cuda(arch), ExitCode::usage);
  const fs::path stand_ins = profile::write_stand_ins(folder->path());
  if (load_stand_ins(stand_ins)) {
    static std::unique_ptr<profile::PrivateFolder> kept;  // until the process ends
    kept = std::move(folder);
    injected.libcuda_folder_ = stand_ins.string();
  }
  setenv("NVTX_INJECTION64_PATH", file.c_str(), 0);  // NVTX loads it again for its ranges
  return injected;
}

GpuFunctions gpu_functions() {
  const profile::PrivateFolder folder;
  void* const library =
      load(profile::find_library(profile::Library::injector, own_path(), folder.path()));
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) {
    throw Error(ExitCode::no_hardware,
                fmt::format("the driver's library cannot be loaded: {}", dlerror()));
  }
  return {function_of<int (*)()>(library, "InitializeInjection"),
          function_of<int (*)()>(driver, "cuProfilerStart"),
          function_of<int (*)()>(driver, "cuProfilerStop")};
}

void Injected::begin_range(const fs::path& socket) const {
  require_success(begin_(socket.c_str()), ExitCode::usage);
}

void Injected::end_range() const { require_success(end_(), ExitCode::usage); }

void Injected::keep_source(const char* file, const char* text) const {
  require_success(keep_(file, text), ExitCode::usage);
}

}  // namespace warpmeter::library
