// SPDX-License-Identifier: MIT
// Machine code that one of NVIDIA's compilers made: it is loaded as a cubin, which the model does
// not execute, but there is PTX of the same code. Three ways lead from the cubin to its PTX:
//
// - A library (NVRTC, nvJitLink) made it in this process. The pair is kept in the cache of compiled
//   kernels, for frameworks keep their cubins on disk and load them in later processes.
// - A `ptxas` that this program or an earlier one started made it. The library is preloaded into
//   ptxas too, which keeps the pair as it ends.
// - It is a file of Triton's cache, beside which its PTX lies, and the program has read it, where
//   its reads are seen. Elsewhere the PTX beside a cubin may be of other code.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// `ptx` gives the PTX, empty where there is none; asked if the cubin is loaded, at most once.
void remember_made(std::string cubin, std::function<std::string()> ptx);

/// Keeps the pair for processes to come.
void keep_made(std::string_view cubin, const std::string& ptx);

/// The program has read from a file, from a place where these bytes stand.
void look_at_read(int file, std::string_view bytes);

/// Takes a cubin that is loaded as it was made: its PTX, if it runs on the device, and the cubin
/// itself where it is of that architecture.
void take_made(ModuleSource& source, const void* cubin, int arch);

}  // namespace warpmeter::runtime
