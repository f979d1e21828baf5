// The name of a variant that has parameters, "padded[TILE=16,PAD=1]": the one place that writes it
// and reads it back.
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
};

/// "padded[TILE=16,PAD=1]"; without parameters the base alone.
std::string variant_name(const VariantName& name);

/// The reverse. What is no such name ("f<int, 4>(float*)", "a[b]") is a base without parameters. A
/// value may hold commas and brackets: "v[T=pair<int, float>,K=2]" has two parameters.
VariantName parsed_variant_name(std::string_view name);

/// The number that a parameter's value is: of "16", "1<<4" 16; nullopt for "float".
std::optional<long double> parameter_number(std::string_view value);

}  // namespace warpmeter
