// SPDX-License-Identifier: MIT
// Objects of a Python script that findings name: arrays, kernels and the text of cells. Each answer
// is empty where this thread may not ask the interpreter (python.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/runtime/check/caller.h"

namespace warpmeter::runtime {

/// An array of CuPy, PyTorch or Numba that a variable of the script names.
struct PythonArray {
  std::string name, type, shape;  ///< "x", "float32", "(32, 32)"
  std::uint64_t address = 0, item_bytes = 0;
};

/// The array of the running functions whose data begins from `begin` to before `end`: the last one
/// at or before `address`, else the first one. Nothing where Python has another thread.
std::optional<PythonArray> python_array(std::uint64_t begin, std::uint64_t end,
                                        std::uint64_t address);

/// The first line of the function whose kernel Numba is launching.
std::optional<HostPlace> numba_kernel();

/// The text of a source that Python holds, as for a notebook's cell.
std::string source_in_python(const std::string& file);

/// The files of the script and of its own modules: those of running functions first.
std::vector<std::string> python_files();

}  // namespace warpmeter::runtime
