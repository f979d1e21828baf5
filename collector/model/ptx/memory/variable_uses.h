// SPDX-License-Identifier: MIT
// Which of a module's variables a kernel reads and writes: its entry, and every function that it
// may call. An address is followed from the variable through the registers of a function; where it
// is stored or passed on, anything may become of it.
#pragma once

#include <map>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

struct VariableUse {
  bool reads = false;
  bool writes = false;
  bool escapes = false;  ///< its address goes where it is not followed
};

/// Those of the spaces global and constant that the kernel touches. Atomics read and write.
std::map<const Variable*, VariableUse> variable_uses(const Module& module, const Function& entry);

}  // namespace warpmeter::model::ptx
