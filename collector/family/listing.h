// SPDX-License-Identifier: MIT
// The content of a file of kernels, as its author wrote it: each kernel with its C++ signature and
// a command to start from.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "collector/model/input/compile_options.h"

namespace warpmeter::family {

struct Found {
  std::string kernel;     ///< as -k takes it; of a template with its parameters: "tiled<TILE, PAD>"
  std::string signature;  ///< "template <int TILE> void tiled(float* out, const float* in, int n)"
  std::vector<std::string> parameters;  ///< the parameters of a source: "float* out", "int n"
  std::vector<std::string> arguments;   ///< a guess to start from: "out:f32[1<<20]", "i32=1024"
  bool is_template = false;
  std::uint32_t block = 256;  ///< threads to start from: no more than the kernel may have
  std::uint32_t tile = 0;  ///< extent of the block that it takes for granted; 0: none, or not known
  bool has_dynamic_shared = false;
  int dimensions = 1;  ///< the dimensions of the grid and the block, that the kernel asks for
  std::string target;  ///< the target of machine code, what it is for: "sm_90a"
  std::string facts;   ///< the facts of machine code: sizes of the parameters, registers, …
};

/// The sizes of a problem whose cube, square or row of `dimensions` is large enough to see
/// something and small enough for the buffers: what is indexed by two of them fits.
std::int64_t side_to_start_from(int dimensions);

/// The kernels of a .cu, .ptx or .cubin, in the order of the file. Throws Error{file},
/// Error{usage} where there is none, with what a kernel is.
std::vector<Found> kernels_in(const std::string& path, const model::CompileOptions& options);

/// The names of the kernels that the source declares, without template arguments.
std::vector<std::string> kernel_names_in(const std::string& source);

/// "void transpose(float* out, const float* in, int n)" as the source declares the kernel of that
/// name, with or without template arguments; empty where it is not found.
std::string signature_in(const std::string& source, const std::string& kernel);

/// {"float* out", "int n"}: the parameters as the source declares them; none where it does not, or
/// says different ones in several places, of which a preprocessor may choose one.
std::vector<std::string> declared_parameters(const std::string& source, const std::string& kernel);

/// The names of template parameters of the source's kernels: {"TILE", "PAD"}; but not what a
/// preprocessor command names, which may be a macro all the same.
std::set<std::string> template_parameters_in(const std::string& source);

}  // namespace warpmeter::family
