// SPDX-License-Identifier: MIT
// Machine code that a library of NVIDIA's made in this process: it is loaded as a cubin, which the
// model does not execute, but there is PTX of the same code.
#pragma once

#include <functional>
#include <string>

#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// `ptx` gives the PTX, empty where there is none; asked if the cubin is loaded, at most once.
void remember_made(std::string cubin, std::function<std::string()> ptx);

/// Takes a cubin that is loaded as it was made: its PTX, if it runs on the device, and the cubin
/// itself where it is of that architecture.
void take_made(ModuleSource& source, const void* cubin, int arch);

}  // namespace warpmeter::runtime
