// SPDX-License-Identifier: MIT
// Which kernels of a module the model can run, found without running them.
#pragma once

#include <string>
#include <vector>

#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// One entry and all that stands in its way.
struct Acceptance {
  std::string entry;              ///< as the module has it, mangled
  int line = 0;                   ///< the line of the PTX, where the entry begins
  std::vector<Refusal> refusals;  ///< by line; to_string() makes a sentence of one

  bool is_accepted() const { return refusals.empty(); }
};

/// The acceptance of every entry that the module defines, in the module's order.
std::vector<Acceptance> accepts(const ptx::Module& module);

}  // namespace warpmeter::model
