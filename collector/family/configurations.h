// SPDX-License-Identifier: MIT
// The cross product: each variant of a family file at each combination of its parameters' values,
// and of the sizes besides the one of -n, is a configuration, with a name of its own:
// padded[TILE=16,PAD=1](m=64).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/expression.h"
#include "collector/family/spec.h"

namespace warpmeter::family {

struct Configuration {
  const VariantSpec* variant = nullptr;
  std::string name;  ///< "padded[TILE=16,PAD=1](m=64)"; without parameters the variant's
  std::string name_without_sizes;  ///< "padded[TILE=16,PAD=1]"
  std::string sizes;               ///< "m=64": configurations of the same ones do the same work
  Symbols symbols;                 ///< the parameters and sizes that are numbers
  std::map<std::string, std::string, std::less<>> values;  ///< all of them, as they were written
  std::string kernel;                ///< with the values in place of the names: "tiled<16, 1>"
  std::vector<std::string> defines;  ///< "TILE=16", of parameters that the source itself names
  std::string doubt;  ///< a possible mistake in the kernel's name, if it does not compile
};

/// The size that `-n` gives, and that a launch is recorded with: n, else the first. "": none.
std::string size_name(const FamilySpec& spec);
/// The values of it.
std::vector<std::int64_t> sizes_of(const FamilySpec& spec);

/// All of them in the order of the file. `source` is the text of the kernels' file and its headers:
/// a parameter that is no template argument and that the source names, outside of its comments, is
/// given as a define. Throws
/// Error{usage}: a parameter that nothing uses, a `where` that is no expression or leaves nothing.
std::vector<Configuration> configurations(const FamilySpec& spec, const std::string& source);

/// True if any of the texts names one of the symbols.
bool uses_any(const std::vector<Text>& texts, const Symbols& symbols);

/// An expression of the file; what is wrong with it is said with its place, or else with `what` it
/// is of: "block".
std::int64_t whole(const FamilySpec& spec, const Text& text, const Symbols& symbols,
                   std::int64_t least, std::int64_t most, std::string_view what = "");

}  // namespace warpmeter::family
