// SPDX-License-Identifier: MIT
// The declarations of a cubin: its kernels with the sizes of their parameters, its variables, and
// the architecture that it is for. Machine code has no types: they are gone, or in a mangled name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/machine/program.h"

namespace warpmeter::model::sass {

struct KernelDeclaration {
  std::string_view name;
  std::vector<std::uint32_t> parameter_bytes;  ///< in the order of the signature
  std::string wrong;  ///< why the parameters are not known: the rest of a sentence that starts with
                      ///< the cubin; empty: they are
  Resources resources;
  std::optional<std::uint64_t> static_shared_bytes;  ///< nothing: known when it is linked
  std::optional<std::uint64_t>
      max_threads;  ///< the max threads of a block, where the source said it
};

struct VariableDeclaration {
  std::string_view name;
  std::uint64_t bytes = 0;
  bool is_constant = false;
};

struct Declarations {
  std::string target;  ///< "sm_90a"
  std::vector<KernelDeclaration> kernels;
  std::vector<VariableDeclaration> variables;  ///< `__constant__` and `__device__`
};

/// In the order of the file. The names are views into the cubin.
Declarations declarations_of(const Elf& elf);

}  // namespace warpmeter::model::sass
