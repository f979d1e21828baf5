// SPDX-License-Identifier: MIT
// The handles of cuBLAS that the program has made.
#pragma once

#include "collector/runtime/blas/call.h"

namespace warpmeter::runtime::blas {

bool is_handle(Process& process, const Handle* handle);

/// cublasGetProperty, which the library answers itself: its version.
void use_properties_of(const void* function);

}  // namespace warpmeter::runtime::blas
