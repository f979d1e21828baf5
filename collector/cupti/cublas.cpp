// SPDX-License-Identifier: MIT
// A row-major matrix read column by column is its transpose, and (a × b)ᵀ = bᵀ × aᵀ: so the library
// gets b first and its rows and columns exchanged, and turns nothing round.
#include "collector/cupti/cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace warpmeter::cupti {
namespace {

namespace fs = std::filesystem;

constexpr const char* cublas_remedy =
    "install the CUDA toolkit or `pip install nvidia-cublas`, or put libcublas.so.13 and "
    "libcublasLt.so.13 into LD_LIBRARY_PATH";

template <class Function>
bool fill(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

bool fill_all(void* library, CublasApi& api) {
  return fill(library, "cublasCreate_v2", api.cublasCreate_v2) &&
         fill(library, "cublasDestroy_v2", api.cublasDestroy_v2) &&
         fill(library, "cublasSetStream_v2", api.cublasSetStream_v2) &&
         fill(library, "cublasGetStatusString", api.cublasGetStatusString) &&
         fill(library, "cublasSgemm_v2", api.cublasSgemm_v2);
}

}  // namespace

Loaded<CublasApi> load_cublas(const std::vector<fs::path>& directories, bool search_loader_path) {
  // cuBLAS asks for its other half by the bare name, and finds it when it is loaded already.
  constexpr std::array<std::pair<const char*, const char*>, 2> files = {
      {{"libcublas.so.13", "libcublasLt.so.13"}, {"libcublas.so.12", "libcublasLt.so.12"}}};
  std::vector<std::pair<fs::path, fs::path>> candidates;
  std::error_code ignored;
  for (const auto& [file, half] : files) {
    for (const fs::path& directory : directories) {
      if (fs::exists(directory / file, ignored)) {
        candidates.emplace_back(directory / file, directory / half);
      }
    }
    if (search_loader_path) candidates.emplace_back(file, half);
  }
  Loaded<CublasApi> loaded;
  loaded.remedy = cublas_remedy;
  for (const auto& [file, half] : candidates) {
    if (dlopen(half.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) continue;
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr || !fill_all(library, loaded.api)) continue;
    loaded.path = file;
    return loaded;
  }
  loaded.failure = "cuBLAS is not installed (no libcublas.so.13 or .12 can be loaded)";
  return loaded;
}

const Loaded<CublasApi>& cublas_library() {
  static const Loaded<CublasApi> loaded = load_cublas(library_directories());
  return loaded;
}

Cublas::Cublas(const CublasApi& api, const Context& context) : api_(api) {
  int status = api_.cublasCreate_v2(&handle_);
  if (status == 0) status = api_.cublasSetStream_v2(handle_, context.stream());
  if (status != 0) {
    throw Error(ExitCode::kernel, fmt::format("cuBLAS does not start: it says {}; run the other "
                                              "variants",
                                              api_.cublasGetStatusString(status)));
  }
}

Cublas::~Cublas() { api_.cublasDestroy_v2(handle_); }

std::string Cublas::multiply(void** arguments) const {
  const auto pointer = [&](int i) { return *static_cast<float**>(arguments[i]); };
  const auto number = [&](int i) { return *static_cast<const std::int32_t*>(arguments[i]); };
  float *c = pointer(0), *a = pointer(1), *b = pointer(2);
  const std::int32_t m = number(3), k = number(4), n = number(5);
  const float one = 1, zero = 0;
  const int status = api_.cublasSgemm_v2(handle_, 0, 0, n, m, k, &one, b, n, a, k, &zero, c, n);
  return status == 0 ? "" : fmt::format("cuBLAS says {}", api_.cublasGetStatusString(status));
}

}  // namespace warpmeter::cupti
