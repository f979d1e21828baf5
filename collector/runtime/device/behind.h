// SPDX-License-Identifier: MIT
// The functions of the C library that this preloaded library stands in front of.
#pragma once

#include <dlfcn.h>

namespace warpmeter::runtime {

/// The function of that name behind ours.
template <class Function>
Function* behind(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace warpmeter::runtime
