// SPDX-License-Identifier: MIT
#include "collector/model/input/template_instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/kernel_name.h"
#include "base/words.h"

namespace warpmeter::model {
namespace {

constexpr std::size_t none = std::string_view::npos;

/// "float" for a type, "true" for a bool, "32" for a number.
std::string value_for(std::string_view parameter) {
  if (parameter.starts_with("typename") || parameter.starts_with("class")) return "float";
  return parameter.starts_with("bool") ? "true" : "32";
}

}  // namespace

std::string instance_of_template(std::string_view source, std::string_view name) {
  std::size_t at = none;
  for_each_word(source, [&](std::size_t begin, std::string_view word) {
    const std::size_t behind = source.find_first_not_of(" \t\r\n", begin + word.size());
    const bool is_function = word == name && behind != none && source[behind] == '(';
    if (!is_function || at != none) return;
    // The declaration begins behind the one before it.
    const std::size_t before = source.find_last_of(";}", begin);
    const std::size_t start = before == none ? 0 : before + 1;
    const std::string_view declaration = source.substr(start, begin - start);
    const std::size_t found = declaration.find("template");
    if (found != none && declaration.find("__global__") != none) at = start + found;
  });
  if (at == none) return "";
  const std::size_t open = source.find('<', at), close = source.find('>', at);
  if (open == none || close == none || close < open) return "";
  std::vector<std::string> values;
  for (const std::string& parameter : split_list(source.substr(open + 1, close - open - 1))) {
    values.push_back(value_for(parameter));
  }
  return fmt::format("{}<{}>", name, fmt::join(values, ", "));
}

}  // namespace warpmeter::model
