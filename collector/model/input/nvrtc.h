// SPDX-License-Identifier: MIT
// NVRTC, NVIDIA's compiler as a library, loaded at run time: a .cu becomes PTX, and machine code
// for the audit, without a GPU or a driver. It compiles device code only.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collector/model/input/compile_options.h"

namespace warpmeter::model {

struct Compiled {
  std::string ptx;
  std::vector<std::byte> cubin;              ///< the machine code of that PTX; may be empty
  std::map<std::string, std::string> named;  ///< name expression → the entry's name
  std::string failure;                       ///< the compiler's messages; empty when it compiled
};

/// Why NVRTC cannot be used, with what to do; empty when it can.
std::string nvrtc_unavailable();

/// "13.0"; empty when it cannot be used.
std::string nvrtc_version();

/// The architectures that it compiles for, ascending: 90 is sm_90. Empty when it cannot be used.
std::vector<int> nvrtc_architectures();

/// Compiles a source; NVRTC is available. `expressions` are templates to instantiate:
/// "reduce<float, 256>".
Compiled compile_with_nvrtc(const std::string& path, const std::string& source,
                            const CompileOptions& options,
                            const std::vector<std::string>& expressions);

}  // namespace warpmeter::model
