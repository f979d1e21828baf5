// SPDX-License-Identifier: MIT
// The name of a variant that has parameters, and of one at named sizes besides the launch's own,
// "padded[TILE=16,PAD=1](m=64)": the one place that writes it and reads it back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpmeter {

struct VariantName {
  std::string base;                                             ///< "padded"
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name and value, as written
  /// The sizes of the problem, not of the kernel: variants compete at the same ones only.
  std::vector<std::pair<std::string, std::string>> sizes;
};

/// "padded[TILE=16,PAD=1](m=64,k=8)"; without parameters and sizes the base alone.
std::string variant_name(const VariantName& name);

/// The sizes for a title: "m=64, k=8"; empty without.
std::string sizes_text(const VariantName& name);

/// The reverse of variant_name. Text that is no such name ("f<int, 4>(float*)", "a[b]") is a base
/// without either. A value may hold commas and brackets: "v[T=pair<int, float>,K=2]" has two
/// parameters.
VariantName parsed_variant_name(std::string_view name);

/// "padded[TILE=16]" of "padded[TILE=16](m=64)".
std::string name_without_sizes(std::string_view name);

/// A glob in which the brackets of parameters stand for themselves: of "padded[TILE=*]" or
/// "v[T=1]" no class of characters. For fnmatch and for SQLite's GLOB.
std::string with_literal_parameters(std::string_view glob);

/// True if a selector means the variant: "transpose", "transpose/tiled", or a glob over these.
bool means_variant(std::string_view selector, std::string_view family, std::string_view variant);

/// The number that a parameter's value is: of "16", "1<<4" 16; nullopt for "float".
std::optional<long double> parameter_number(std::string_view value);

}  // namespace warpmeter
