// SPDX-License-Identifier: MIT
// The faults that make a text no PTX, beside its grammar: instructions that there are not, names
// that nobody declares. PTX that the model does not execute is none of it.
#pragma once

#include <optional>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// The first such mistake of the module; nothing: a compiler would take its instructions and names.
std::optional<Diagnostic> check_names(const Module& module);

}  // namespace warpmeter::model::ptx
