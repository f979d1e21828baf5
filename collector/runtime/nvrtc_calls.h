// Machine code that the program had NVRTC make: it is loaded as a cubin, which the model does not
// execute, but NVRTC has the PTX that it made it of.
#pragma once

#include "collector/runtime/module.h"

namespace warpmeter::runtime {

/// Of a cubin that nvrtcGetCUBIN gave this program and that is loaded as it was given: its PTX, if
/// it runs on the device, and the cubin itself where it is of that architecture.
void take_compiled(ModuleSource& source, const void* cubin, int arch);

}  // namespace warpmeter::runtime
