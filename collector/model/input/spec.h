// SPDX-License-Identifier: MIT
// The work of `warpmeter model`: a file and the launches of its kernels, from the command line or
// from a file of --spec.
//
//   file: transpose.cu
//   define: [N=32]
//   set: {lut: lut.npy, "ns::scale": 1.5}
//   launches:
//     - kernel: transpose_tiled
//       name: at_1024              # in place of the kernel's, so that one kernel stays two rows
//       size: 1024
//       grid: [64, 64]
//       block: [16, 16]
//       shared: 0
//       args: ["out:f32[1048576]", "in:f32[1048576]=iota", i32=1024, i32=1024]
//       set: {n: 5}
//       save: {out: out.npy}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/geometry.h"
#include "collector/model/input/kernel_file.h"

namespace warpmeter::model {

struct LaunchSpec {
  std::string kernel;  ///< as a person calls it; empty: the only one of the file
  std::string name;    ///< as the launch is recorded; empty: as the kernel
  std::optional<std::int64_t> size;
  Geometry geometry;
  std::vector<std::string> arguments;
  std::vector<std::string>
      settings;  ///< the settings of the module's variables, before it runs: "lut=lut.npy"
  std::vector<std::pair<std::string, std::string>> saves;  ///< buffer's name, file
};

struct Spec {
  std::string file, cubin;
  CompileOptions options;
  std::vector<std::string> settings;  ///< before the first launch
  std::vector<LaunchSpec> launches;
};

/// One to three whole numbers above 0: "64", "64,64", "8x8x8". `option` is for the message.
Dim3 extent_named(std::string_view option, std::string_view text);

/// "out=FILE.npy"
std::pair<std::string, std::string> save_named(std::string_view text);

/// Adds what a YAML or JSON file says to what the command line said already; paths in it are
/// relative to the file's folder. Throws Error{usage} with line and column of a mistake,
/// Error{file}.
void read_spec(const std::string& path, Spec& spec);

}  // namespace warpmeter::model
