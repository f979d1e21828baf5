// SPDX-License-Identifier: MIT
#include "collector/cli/request/kernel_words.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.h"
#include "collector/cli/options.h"

namespace warpmeter::cli {

void add_kernel_options(CLI::App& app, KernelWords& words, const std::string& grid) {
  add_text(app, "-k,--kernel-name", "NAME", words.kernel,
           "The kernel of a file, with the arguments of a template: 'reduce<float, 256>'");
  add_text(app, "--grid", "X[,Y[,Z]]", words.grid, grid);
  add_text(app, "--block", "X[,Y[,Z]]", words.block, "Threads in a block");
  add_count(app, "--shared", 0, 1 << 20, words.shared, "Bytes of dynamic shared memory");
  add_repeated(app, "--arg", "ARG", words.arguments,
               "The next argument, [NAME:]TYPE=VALUE, or [NAME:]TYPE[COUNT][=zeros|iota|random"
               "[:LO..HI][:SEED]|integers:LO..HI[:SEED]|small[:SEED]|VALUE[,VALUE...]|FILE.npy|"
               "FILE.bin] for a buffer; also null, @NAME, bytes=HEX. Random buffers hold whole "
               "numbers of the "
               "type's range, or LO to HI; floats from 0 to below 1, or LO to below HI. Use "
               "integers for whole numbers of any type, small for those from -8 to 8. Counts and "
               "numbers may be expressions: f32[1<<20]");
  add_repeated(app, "--set", "NAME=VALUE", words.settings,
               "Set a __constant__ or __device__ variable before the first launch: to one value, "
               "VALUE,VALUE..., FILE.npy or @BUFFER; arrays and structures with their type, "
               "NAME:f32=0.5, NAME:bytes=HEX");
  add_repeated(app, "-I,--include", "FOLDER", words.includes, "Look for headers there too");
  add_repeated(app, "-D,--define", "NAME[=VALUE]", words.defines, "Define a macro");
  add_text(app, "--std", "c++17|c++20", words.standard, "The language that a .cu is written in");
  add_choice(app, "--compiler", {"nvrtc", "nvcc"}, words.compiler,
             "The compiler of a .cu (default: for a GPU nvcc, which programs are built with; for "
             "the model "
             "NVRTC, which is faster). Where one is missing or fails, the other compiles");
  add_text(app, "--cubin", "FILE", words.cubin,
           "The machine code of a .ptx (default: the .cubin beside it)");
}

void refuse_loose_numbers(const KernelWords& words, const std::vector<std::string>& names) {
  const auto is_number = [](const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  };
  const auto loose = std::find_if(names.begin(), names.end(), is_number);
  const bool has_extent = !words.grid.empty() || !words.block.empty();
  if (loose == names.end() || !has_extent) return;
  const std::string first = words.grid.empty() ? words.block : words.grid;
  throw Error(ExitCode::usage,
              fmt::format("'{}' stands alone: the numbers of --grid or --block are one word, {},{}",
                          *loose, first, *loose));
}

model::CompileOptions compile_options_of(const KernelWords& words) {
  model::CompileOptions options;
  options.includes = words.includes;
  options.defines = words.defines;
  options.standard = words.standard;
  options.compiler = words.compiler;
  for (const std::string& folder : options.includes) model::check_include("--include", folder);
  for (const std::string& define : options.defines) model::check_define("--define", define);
  model::check_standard("--std", options.standard);
  return options;
}

}  // namespace warpmeter::cli
