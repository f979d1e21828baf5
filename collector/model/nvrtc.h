// NVRTC, NVIDIA's compiler as a library, loaded at run time: a .cu becomes PTX, and machine code
// for the audit, without a GPU or a driver. It compiles device code only.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpmeter::model {

/// What a person may say about how a .cu is compiled.
struct CompileOptions {
  std::vector<std::string> includes;  ///< folders, as of -I
  std::vector<std::string> defines;   ///< "N=32", as of -D
  std::string standard;               ///< "c++17"; empty: the compiler's own
  std::optional<int> arch;            ///< that was asked for; 90 is sm_90
  int target() const { return arch.value_or(90); }
  bool operator==(const CompileOptions&) const = default;
};

struct Compiled {
  std::string ptx;
  std::vector<std::byte> cubin;              ///< assembled from that PTX; may be empty
  std::map<std::string, std::string> named;  ///< name expression → the entry's name
  std::string failure;                       ///< the compiler's messages; empty when it compiled
};

/// Why NVRTC cannot be used, with what to do; empty when it can.
std::string nvrtc_unavailable();

/// Compiles a source; NVRTC is available. `expressions` are templates to instantiate:
/// "reduce<float, 256>".
Compiled compile_with_nvrtc(const std::string& path, const std::string& source,
                            const CompileOptions& options,
                            const std::vector<std::string>& expressions);

}  // namespace warpmeter::model
