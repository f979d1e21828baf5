// Machine code that the program had NVRTC make: it is loaded as a cubin, which the model does not
// execute, but NVRTC has the PTX that it made it of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpmeter::runtime {

struct CompiledCode {
  std::string_view cubin;  ///< all of it
  std::string ptx;
  int arch = 0;  ///< 90 is sm_90
};

/// Of a cubin that nvrtcGetCUBIN gave this program, and that is loaded as it was given.
std::optional<CompiledCode> compiled_code(const void* cubin);

}  // namespace warpmeter::runtime
