// What the machine does not have, in words that say what to do instead.
#pragma once

#include <string>

#include "collector/model/ptx/module.h"

namespace warpmeter::model {

/// Continues "the instruction …": "reads a texture, which the model does not have; …".
std::string what_is_missing(const ptx::Instruction& instruction);

}  // namespace warpmeter::model
