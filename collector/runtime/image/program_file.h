// SPDX-License-Identifier: MIT
// A program's file, looked at before it runs: whether there is a way into it, and what CUDA code it
// holds.
#pragma once

#include <string>
#include <vector>

#include "collector/runtime/image/module.h"

namespace warpmeter::runtime {

/// How a program reaches CUDA, and so how it is answered (redirect.h).
enum class WayIn {
  static_runtime,  ///< a runtime in the program, with the names of its functions
  shared_runtime,  ///< it needs libcudart.so
  driver,          ///< it needs libcuda.so.1
  loaded_later,    ///< no CUDA of its own: what it loads or starts may have some
  stripped,        ///< a runtime in the program, and nothing tells where
  no_loader,       ///< statically linked as a whole: nothing can be preloaded
  no_program,      ///< no ELF file of this machine
};

struct ProgramFile {
  WayIn way = WayIn::no_program;
  std::vector<int> ptx, machine_code;  ///< architectures, each once, in order
  std::vector<std::string>
      libraries;  ///< the needed libraries, of machine code alone: "libcublas.so.13"
  std::vector<ModuleSource> modules;  ///< the modules that a device of the architecture would load
  bool is_damaged = false;            ///< its CUDA code: a size leads out of its place
  bool has_cuda() const { return !ptx.empty() || !machine_code.empty(); }
};

/// How there is a way into a program, without reading its CUDA code.
WayIn read_way(const std::string& path);
/// True if a program that is statically linked as a whole may use CUDA all the same: it would have
/// to name the driver's library.
bool names_driver(const std::string& path);

/// The facts of a program's file; an unreadable part is empty.
ProgramFile read_program(const std::string& path, int arch);

/// Why a program cannot be answered, and how to link it again; empty: it can be.
std::string no_way_into(WayIn way);

}  // namespace warpmeter::runtime
