// SPDX-License-Identifier: MIT
// A family file as it was written: names, texts and where each stands. The meaning of the texts is
// worked out for a size and its parameters later (configurations.h, family.h); every mistake is
// said with the file's line and column.
//
//   family: transpose
//   file: transpose.cu
//   sizes: [1024, 4096]
//   arguments:
//     - out: f32[n*n]
//     - in: f32[n*n] = iota
//     - i32: n
//   variants:
//     padded: { kernel: 'tiled<TILE>', parameters: { TILE: [16, 32] }, grid: [ceil(n/TILE)], block:
//     [TILE, 8] }
//
// collector/family/family.schema.json says all that may stand in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collector/model/input/compile_options.h"
#include "collector/model/input/yaml.h"

namespace warpmeter::family {

using model::Text;

/// A name and the values that it takes one after the other: a parameter, or a size.
struct Parameter {
  Text name;
  std::vector<Text> values;
};

/// "shared_load_transactions_per_request <= 2": "rows one word apart"
struct ExpectationSpec {
  Text condition;
  std::string reason;
};

/// Useful work of a launch; an empty part was not said.
struct WorkSpec {
  Text read, written, flops;
  bool empty() const { return read.empty() && written.empty() && flops.empty(); }
};

/// Buffers and what they must hold: a .npy, or a call of the CPU's (cpu_call.h).
using Results = std::vector<std::pair<std::string, Text>>;

struct VariantSpec {
  Text name;
  Text kernel;  ///< as a person calls it; its template arguments may name parameters
  std::vector<Text> grid, block, cluster;
  Text shared;  ///< bytes
  bool is_cooperative = false;
  std::string library;  ///< "cuBLAS", whose function `kernel` is; empty: none
  std::vector<Parameter> parameters;
  Text where;                                  ///< for its parameters; empty: all combinations
  std::optional<Text> reference;               ///< in place of the family's; empty text: no variant
  Results results;                             ///< in place of the family's reference
  std::optional<std::vector<Text>> arguments;  ///< in place of the family's
  std::vector<Text> settings, defines;
  std::vector<ExpectationSpec> expectations;
  WorkSpec work;
};

struct FamilySpec {
  std::string path;  ///< the path of the file; empty: from the command line
  std::string name, summary, size_meaning;
  std::string source;  ///< .cu, .ptx or .cubin
  Text source_place;   ///< where the file names it
  std::string cubin;   ///< the machine code of a .ptx
  model::CompileOptions options;
  std::vector<Parameter> sizes;
  std::vector<Text> arguments;  ///< "out:f32[n*n]", "in:f32[n*n]=iota", "i32=n"
  std::vector<Text> settings;   ///< "lut=lut.npy"
  std::vector<VariantSpec> variants;
  Text reference;                 ///< a variant; empty: none
  Results results;                ///< in its place
  std::vector<Text> outputs;      ///< buffers that are compared; empty: what the reference changes
  Text largest;                   ///< the largest size; empty: any
  std::vector<Text> expected_at;  ///< the sizes that expectations hold for; empty: all
  double relative = 0, absolute = 0;
  bool nan_equals_nan = false;
  WorkSpec work;
  Text ceiling;
};

/// "transpose.yaml:12:5: what" as an Error; of the command line, what alone.
[[noreturn]] void refuse(const FamilySpec& spec, const Text& at, const std::string& what,
                         ExitCode code = ExitCode::usage);

/// The result of `work`; what it throws is said with the place.
template <class Work>
std::invoke_result_t<Work> checked(const FamilySpec& spec, const Text& at, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    refuse(spec, at, error.what(), error.code());
  }
}

/// True if the file is one of launches, as `model --spec` reads them, and no family.
bool is_list_of_launches(const std::string& path);

/// Reads YAML, or the JSON that is YAML; paths in it are relative to its folder. Throws
/// Error{usage} with line and column of a mistake, Error{file}.
FamilySpec read_family(const std::string& path);

/// The same of a text that is in memory. Files that it names are not looked for.
FamilySpec read_family(const std::string& path, std::string_view text);

}  // namespace warpmeter::family
