// SPDX-License-Identifier: MIT
// One kernel of a file and its launch, as a command line says them: the same words for `run` and
// `model`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/input/compile_options.h"

namespace CLI {
class App;
}

namespace warpmeter::cli {

struct KernelWords {
  std::string kernel, grid, block, standard, compiler, cubin;
  std::vector<std::string> arguments, settings, includes, defines;
  std::int64_t shared = 0;
};

/// `grid` says what --grid may be.
void add_kernel_options(CLI::App& app, KernelWords& words, const std::string& grid);

/// Refuses "--grid 4 4": a number that stands alone among the names of files.
void refuse_loose_numbers(const KernelWords& words, const std::vector<std::string>& names);

/// The options of -I, -D, --std and --compiler. Throws Error{usage} that begins with the option.
model::CompileOptions compile_options_of(const KernelWords& words);

}  // namespace warpmeter::cli
