// SPDX-License-Identifier: MIT
// The options for the compilation of a .cu, checked before a compiler sees it: a compiler passes
// over a folder that is missing, and names neither the option nor what would be right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::model {

struct CompileOptions {
  std::vector<std::string> includes;  ///< folders, as of -I
  std::vector<std::string> defines;   ///< "N=32", as of -D
  std::vector<std::string> flags;     ///< as the compiler takes them: "--use_fast_math"
  std::string standard;               ///< "c++17"; empty: the compiler's own
  std::string compiler;     ///< "nvcc": where it is here; "nvrtc": no other; "": see prefers_nvcc
  bool is_timed = false;    ///< true if the result runs on a GPU, where times are taken
  std::optional<int> arch;  ///< that was asked for; 90 is sm_90
  int target() const { return arch.value_or(90); }
  /// NVRTC takes a tenth of the time, and nvcc writes the code that a program has: a time should be
  /// of that. Where nobody said which, the other is tried when the first refuses the source.
  bool prefers_nvcc() const { return compiler == "nvcc" || (compiler.empty() && is_timed); }
  bool operator==(const CompileOptions&) const = default;
};

/// "sm_90" or "90" as 90. Throws Error{usage} for an architecture that this toolkit's compiler does
/// not know, with those it does; without a toolkit any number of an architecture will do.
int checked_arch(std::string_view option, std::string_view text);

// Each throws Error{usage} that begins with the option.
void check_standard(std::string_view option, const std::string& standard);
void check_compiler(std::string_view option, const std::string& compiler);
void check_include(std::string_view option, const std::string& folder);
void check_define(std::string_view option, std::string_view define);

}  // namespace warpmeter::model
