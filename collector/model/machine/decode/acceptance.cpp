// SPDX-License-Identifier: MIT
#include "collector/model/machine/decode/acceptance.h"

namespace warpmeter::model {

std::vector<Acceptance> accepts(const ptx::Module& module) {
  std::vector<Acceptance> all;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    all.push_back({std::string(function.name), function.line, refusals(module, function)});
  }
  return all;
}

}  // namespace warpmeter::model
