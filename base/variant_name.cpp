// SPDX-License-Identifier: MIT
#include "base/variant_name.h"

#include <fnmatch.h>

#include <cctype>

#include "base/expression.h"
#include "base/words.h"

namespace warpmeter {
namespace {

/// The length of the "NAME=" that the text begins with; 0 where it begins with something else.
std::size_t assignment(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_of_word(text[length])) ++length;
  const bool is_name = length > 0 && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
  const bool is_assigned = text.substr(length, 1) == "=" && text.substr(length, 2) != "==";
  return is_name && is_assigned ? length + 1 : 0;
}

using Assignments = std::vector<std::pair<std::string, std::string>>;

/// "TILE=16,PAD=1"; none of a text that does not begin with one.
Assignments assignments(std::string_view rest) {
  Assignments all;
  std::size_t begin = assignment(rest);
  while (begin > 0) {
    // A comma ends the value where another assignment follows it.
    std::size_t end = rest.find(',', begin), next = 0;
    while (end != rest.npos && (next = assignment(rest.substr(end + 1))) == 0) {
      end = rest.find(',', end + 1);
    }
    all.emplace_back(rest.substr(0, begin - 1), rest.substr(begin, end - begin));
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
    begin = next;
  }
  return all;
}

std::string joined(const Assignments& all, std::string_view by) {
  std::string text;
  for (const auto& [name, value] : all)
    text.append(text.empty() ? "" : by).append(name + "=" + value);
  return text;
}

/// Those that the text ends in, from the bracket at `open` on; they are taken off it.
Assignments take_assignments(std::string_view& text, std::size_t open, char close) {
  if (open == 0 || open == text.npos || text.back() != close) return {};
  Assignments all = assignments(text.substr(open + 1, text.size() - open - 2));
  if (!all.empty()) text = text.substr(0, open);
  return all;
}

}  // namespace

std::string variant_name(const VariantName& name) {
  std::string text = name.base;
  if (!name.parameters.empty()) text.append("[").append(joined(name.parameters, ",")).append("]");
  if (!name.sizes.empty()) text.append("(").append(joined(name.sizes, ",")).append(")");
  return text;
}

std::string sizes_text(const VariantName& name) { return joined(name.sizes, ", "); }

VariantName parsed_variant_name(std::string_view name) {
  VariantName parsed;
  const std::size_t after_parameters = name.rfind("](");
  parsed.sizes = take_assignments(
      name, after_parameters == name.npos ? name.find('(') : after_parameters + 1, ')');
  parsed.parameters = take_assignments(name, name.find('['), ']');
  parsed.base = name;
  return parsed;
}

std::string name_without_sizes(std::string_view name) {
  VariantName parsed = parsed_variant_name(name);
  parsed.sizes.clear();
  return variant_name(parsed);
}

std::string with_literal_parameters(std::string_view glob) {
  std::string literal;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const bool opens = glob[i] == '[' && assignment(glob.substr(i + 1)) > 0;
    literal += opens ? "[[]" : std::string(1, glob[i]);
  }
  return literal;
}

bool means_variant(std::string_view selector, std::string_view family, std::string_view variant) {
  const std::string name = std::string(family) + "/" + std::string(variant);
  if (selector == family || selector == name) return true;
  std::string glob = with_literal_parameters(selector);
  if (glob.find('/') == std::string::npos) glob += "/*";
  return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

std::optional<long double> parameter_number(std::string_view value) {
  try {
    return evaluate(value, {});
  } catch (const ExpressionFault&) {
    return std::nullopt;  // a type's name
  }
}

}  // namespace warpmeter
