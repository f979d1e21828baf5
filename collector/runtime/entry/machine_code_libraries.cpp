// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/machine_code_libraries.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <mutex>
#include <string>

#include "base/own_stack.h"
#include "collector/runtime/api/lookup.h"
#include "collector/runtime/blas/handles.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {
namespace {

/// The error is the library's code for "not initialised" (cuRAND's is 203, "initialisation
/// failed"). cuFFT has none: 5 is its internal error. cuBLASLt takes a handle of cuBLAS as well, so
/// its functions with a handle are not supported (15). `file`: the version that the entry is for;
/// empty: every other one.
struct Refusal {
  std::string_view function, library;
  int error;
  std::string_view file = "";
};
constexpr Refusal refusals[] = {
    {"cublasLtCreate", "cuBLASLt", 1},
    {"cublasLtMatmul", "cuBLASLt", 15},
    {"cublasLtMatmulAlgoGetHeuristic", "cuBLASLt", 15},
    {"cublasLtMatmulAlgoGetIds", "cuBLASLt", 15},
    {"cublasLtMatmulAlgoInit", "cuBLASLt", 15},
    {"cublasLtMatmulAlgoCheck", "cuBLASLt", 15},
    {"cublasLtMatrixTransform", "cuBLASLt", 15},
    {"cublasXtCreate", "cuBLASXt", 1},
    {"cusolverDnCreate", "cuSOLVER", 1},
    {"cusolverSpCreate", "cuSOLVER", 1},
    {"cusparseCreate", "cuSPARSE", 1},
    {"cufftCreate", "cuFFT", 5},
    {"cufftPlan1d", "cuFFT", 5},
    {"cufftPlan2d", "cuFFT", 5},
    {"cufftPlan3d", "cuFFT", 5},
    {"cufftPlanMany", "cuFFT", 5},
    {"curandCreateGenerator", "cuRAND", 203},
    {"cudnnCreate", "cuDNN", 1, "libcudnn.so.8"},
    {"cudnnCreate", "cuDNN", 1001},
};
constexpr std::string_view files[] = {"libcublas.so",   "libcublasLt.so", "libcusolver.so",
                                      "libcusparse.so", "libcufft.so",    "libcurand.so",
                                      "libcudnn.so"};

/// The C function of the refusal at that place of the list.
template <std::size_t place>
int refuse() {
  constexpr Refusal refusal = refusals[place];
  const void* const caller = __builtin_return_address(0);
  return with_room([&] {
    Process& process = Process::get();
    if (process.is_fork()) return refusal.error;
    Process::begin_call(refusal.function, caller);
    process.refuse_library(refusal.function, refusal.library);
    return refusal.error;
  });
}

template <std::size_t... places>
const void* function_at(std::size_t place, std::index_sequence<places...>) {
  static constexpr int (*functions[])() = {refuse<places>...};
  return reinterpret_cast<const void*>(functions[place]);
}

/// Functions of cuBLAS that nobody has written a body for.
struct Unanswered {
  std::mutex mutex;
  std::deque<std::string> all;
};
Unanswered& unanswered() {
  static auto* made = new Unanswered;  // lives until the process ends
  return *made;
}

int refuse_blas(std::uint32_t number) {
  constexpr int not_supported = 15;
  const void* const caller = __builtin_return_address(0);
  return with_room([&] {
    Process& process = Process::get();
    if (process.is_fork()) return not_supported;
    const std::string* name = nullptr;
    {
      const std::lock_guard lock(unanswered().mutex);
      name = &unanswered().all[number];
    }
    Process::begin_call(*name, caller);
    process.refuse_library(*name, "this function of cuBLAS");
    return not_supported;
  });
}

const void* refusal_of_blas(std::string_view function) {
  const std::lock_guard lock(unanswered().mutex);
  unanswered().all.emplace_back(function);
  return function_with_number(static_cast<std::uint32_t>(unanswered().all.size() - 1),
                              reinterpret_cast<const void*>(&refuse_blas));
}

/// True for functions that touch no device: words, versions, the log. cublasXt has a refusal of its
/// own.
bool is_own_business(std::string_view function) {
  constexpr std::string_view all[] = {
      "cublasGetProperty",       "cublasGetCudartVersion", "cublasGetStatusName",
      "cublasGetStatusString",   "cublasLoggerConfigure",  "cublasSetLoggerCallback",
      "cublasGetLoggerCallback", "cublasXerbla",           "cublasMigrateComputeType"};
  return function.starts_with("cublasXt") ||
         std::find(std::begin(all), std::end(all), function) != std::end(all);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool is_machine_code_library(std::string_view path) {
  const std::string_view name = file_name(path);
  return std::any_of(std::begin(files), std::end(files),
                     [&](std::string_view file) { return name.starts_with(file); });
}

const void* in_place_of(std::string_view function, std::string_view path, const void* original) {
  const std::string_view name = file_name(path);
  if (name.starts_with("libcublas.so")) {
    if (function == "cublasGetProperty") blas::use_properties_of(original);
    if (const void* answer = function_named(function)) return answer;
    if (function.starts_with("cublas") && !is_own_business(function)) {
      return refusal_of_blas(function);
    }
  }
  const auto found =
      std::find_if(std::begin(refusals), std::end(refusals), [&](const Refusal& refusal) {
        return refusal.function == function && name.starts_with(refusal.file);
      });
  if (found == std::end(refusals)) return nullptr;
  return function_at(static_cast<std::size_t>(found - std::begin(refusals)),
                     std::make_index_sequence<std::size(refusals)>());
}

}  // namespace warpmeter::runtime
