// SPDX-License-Identifier: MIT
// One call of the driver's API. Its errors have the numbers of the runtime's, so that what is the
// same in both is answered once: most functions of the driver are the runtime's by another name.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "collector/runtime/api/answer.h"
#include "collector/runtime/api/call.h"

namespace warpmeter::runtime {

/// `body` returns a CUresult.
template <class Body>
CUresult driver_call(std::string_view name, Needs needs, const Body& body) {
  return static_cast<CUresult>(enter(Row(name, needs), nullptr, body));
}

/// "cuMemFree_v2" → "cuMemFree": what people call it.
constexpr std::string_view without_version(std::string_view name) {
  const bool has_version = name.ends_with("_v2") || name.ends_with("_v3");
  return has_version ? name.substr(0, name.size() - 3) : name;
}

/// The answer of that name, of either API; null where there is none.
void* runtime_answer(std::string_view name);
template <class Function>
Function* runtime_function(std::string_view name) {
  return reinterpret_cast<Function*>(runtime_answer(name));
}

/// The kernel of a function's or a library kernel's handle; null for none.
inline Kernel* kernel_of(Process& process, const void* handle) {
  return handle == nullptr ? nullptr : process.kernel(handle);
}

/// Literal as a parameter of a template.
template <std::size_t count>
struct Literal {
  constexpr Literal(const char (&text)[count]) { std::copy_n(text, count, characters); }
  constexpr operator std::string_view() const { return {characters, count - 1}; }
  char characters[count];
};

/// The driver's function that is one of the runtime's, parameter by parameter.
template <Literal driver, Literal runtime, Needs needs, class DriverFunction, class RuntimeFunction>
struct Forward;
template <Literal driver, Literal runtime, Needs needs, class... Given, class... Wanted>
struct Forward<driver, runtime, needs, CUresult(Given...), cudaError_t(Wanted...)> {
  static CUresult call(Given... given) {
    return driver_call(without_version(driver), needs, [&](Process&) {
      static void* const function = runtime_answer(runtime);
      if (function == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
      return as_driver_error(
          reinterpret_cast<cudaError_t (*)(Wanted...)>(function)(given_as<Wanted>(given)...));
    });
  }
};

/// The runtime's function that is one of the driver's.
template <Literal name, Literal driver, class RuntimeFunction, class DriverFunction>
struct Backward;
template <Literal name, Literal driver, class... Given, class... Wanted>
struct Backward<name, driver, cudaError_t(Given...), CUresult(Wanted...)> {
  static cudaError_t call(Given... given) {
    return runtime::call(name, [&](Process&) {
      static void* const function = runtime_answer(driver);
      if (function == nullptr) return cudaErrorNotSupported;
      return static_cast<cudaError_t>(
          reinterpret_cast<CUresult (*)(Wanted...)>(function)(given_as<Wanted>(given)...));
    });
  }
};

}  // namespace warpmeter::runtime

/// cudaRUNTIME is cuDRIVER.
#define WARPMETER_BACKWARD(RUNTIME, DRIVER)                                             \
  ::warpmeter::runtime::answer(                                                         \
      #RUNTIME, &::warpmeter::runtime::Backward<#RUNTIME, #DRIVER, decltype(::RUNTIME), \
                                                decltype(::DRIVER)>::call)
/// cuDRIVER is cudaRUNTIME.
#define WARPMETER_FORWARD(DRIVER, RUNTIME) WARPMETER_FORWARD_IN(DRIVER, RUNTIME, context)
#define WARPMETER_FORWARD_IN(DRIVER, RUNTIME, NEEDS)                                        \
  ::warpmeter::runtime::answer(                                                             \
      #DRIVER,                                                                              \
      &::warpmeter::runtime::Forward<#DRIVER, #RUNTIME, ::warpmeter::runtime::Needs::NEEDS, \
                                     decltype(::DRIVER), decltype(::RUNTIME)>::call)
