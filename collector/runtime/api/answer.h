// SPDX-License-Identifier: MIT
// How a table of answers is written: each entry is checked against CUDA's own declaration.
#pragma once

#include "collector/runtime/api/answers.h"
#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

/// `function` has the type of the function that it answers.
template <class Function>
Answer answer(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace warpmeter::runtime

/// The answer `api::NAME` to NAME.
#define WARPMETER_ANSWER(NAME) \
  ::warpmeter::runtime::answer(#NAME, static_cast<decltype(&::NAME)>(&api::NAME))
/// The same for a function that the headers do not declare, or no longer want to be called.
#define WARPMETER_UNDECLARED(NAME) ::warpmeter::runtime::answer(#NAME, &api::NAME)
