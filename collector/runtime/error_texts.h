// Names and sentences of CUDA's errors, as the runtime of the toolkit gives them.
#pragma once

namespace warpmeter::runtime {

const char* error_name(int error);  ///< "cudaErrorInvalidValue"
const char* error_text(int error);  ///< "invalid argument"

}  // namespace warpmeter::runtime
