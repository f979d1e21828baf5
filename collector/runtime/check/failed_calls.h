// SPDX-License-Identifier: MIT
// Calls of the API that return an error: which of them failed, and how a person is told.
#pragma once

#include <string>
#include <string_view>

#include "collector/runtime/device/cuda_api.h"

namespace warpmeter::runtime {

/// True if it is one of the driver's: "cuMemFree", where the runtime's is "cudaFree".
inline bool is_of_driver(std::string_view function) {
  return function.starts_with("cu") && !function.starts_with("cuda");
}

/// True if the model gives the error for what it cannot do; it may be no mistake of the program.
bool is_of_model(cudaError_t error);

/// "cuDeviceGet returned CUDA_ERROR_NOT_INITIALIZED (initialization error)"
std::string error_in_words(std::string_view function, cudaError_t error);

}  // namespace warpmeter::runtime
