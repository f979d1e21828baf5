// SPDX-License-Identifier: MIT
// Names and sentences of CUDA's errors, as the runtime of the toolkit gives them. The driver's have
// the same numbers and sentences, and names of their own.
#pragma once

namespace warpmeter::runtime {

const char* error_name(int error);         ///< "cudaErrorInvalidValue"
const char* error_text(int error);         ///< "invalid argument"
const char* driver_error_name(int error);  ///< "CUDA_ERROR_INVALID_VALUE"; null: there is none

}  // namespace warpmeter::runtime
