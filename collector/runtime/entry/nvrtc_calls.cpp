// SPDX-License-Identifier: MIT
// In front of NVRTC's nvrtcGetCUBIN: what it compiled it has as PTX too.
#include <nvrtc.h>

#include <cstddef>
#include <string>

#include "collector/runtime/entry/compilers.h"
#include "collector/runtime/image/made_code.h"

namespace warpmeter::runtime {
namespace {

/// The PTX of the program that was compiled last; empty: there is none (compiled for linking
/// later, which makes neither).
std::string ptx_of(nvrtcProgram program) {
  const auto size_of = compiler_function<decltype(nvrtcGetPTXSize)>(nullptr, "nvrtcGetPTXSize");
  const auto get = compiler_function<decltype(nvrtcGetPTX)>(nullptr, "nvrtcGetPTX");
  std::size_t bytes = 0;
  if (size_of == nullptr || get == nullptr || size_of(program, &bytes) != NVRTC_SUCCESS) return "";
  std::string text(bytes, '\0');
  if (get(program, text.data()) != NVRTC_SUCCESS) return "";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace
}  // namespace warpmeter::runtime

extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcGetCUBIN(nvrtcProgram program,
                                                                    char* cubin) {
  namespace runtime = warpmeter::runtime;
  const auto get = runtime::compiler_function<decltype(nvrtcGetCUBIN)>(nullptr, "nvrtcGetCUBIN");
  if (get == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  const nvrtcResult result = get(program, cubin);
  std::size_t bytes = 0;
  const auto size_of =
      runtime::compiler_function<decltype(nvrtcGetCUBINSize)>(nullptr, "nvrtcGetCUBINSize");
  const bool is_made =
      result == NVRTC_SUCCESS && size_of != nullptr && size_of(program, &bytes) == NVRTC_SUCCESS;
  // The program may be destroyed before the cubin is loaded.
  if (is_made) {
    runtime::remember_made(std::string(cubin, bytes),
                           [ptx = runtime::ptx_of(program)] { return ptx; });
  }
  return result;
}

namespace warpmeter::runtime {

std::span<const Front> nvrtc_fronts() {
  static const Front fronts[] = {
      {"nvrtcGetCUBIN", reinterpret_cast<const void*>(&nvrtcGetCUBIN)},
  };
  return fronts;
}

}  // namespace warpmeter::runtime
