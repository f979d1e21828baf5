// SPDX-License-Identifier: MIT
// The way into a program: functions of the CUDA runtime and driver, wherever they lie in the
// process, get a jump at their first byte to those of ours that answer them.
//
// nvcc links the runtime statically, so there is nothing for the dynamic linker to bind. But the
// symbol table of the program, or of its shared objects, names the runtime's functions, each at a
// multiple of 16 bytes and alone there: a jump of 14 bytes fits. This library is preloaded, so its
// constructor runs before the program's, which register the kernels. Objects that are loaded later
// are met when the dynamic linker has mapped them and before it calls their constructors: it tells
// debuggers of that moment by calling an empty function (r_brk), which gets a jump too.
#pragma once

#include <cstddef>
#include <string>

namespace warpmeter::runtime {

/// Redirects the functions of every object of this process, and of those that are loaded later. A
/// function of NVIDIA's libraries that nobody answers says so once and returns `not_supported`.
void redirect_everything();

/// A file of this process that holds the runtime or the driver's API; empty: none does.
std::string object_with_cuda();

/// The objects that were found to hold the runtime or the driver's API.
std::size_t redirected_objects();

}  // namespace warpmeter::runtime
