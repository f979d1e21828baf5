#include "base/variant_name.h"

#include <cctype>

#include "base/expression.h"

namespace warpmeter {
namespace {

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The length of the "NAME=" that the text begins with; 0 where it begins with something else.
std::size_t assignment(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_of_name(text[length])) ++length;
  const bool is_name = length > 0 && std::isdigit(static_cast<unsigned char>(text[0])) == 0;
  const bool is_assigned = text.substr(length, 1) == "=" && text.substr(length, 2) != "==";
  return is_name && is_assigned ? length + 1 : 0;
}

}  // namespace

std::string variant_name(const VariantName& name) {
  std::string text = name.base;
  for (std::size_t i = 0; i < name.parameters.size(); ++i) {
    text += (i == 0 ? "[" : ",") + name.parameters[i].first + "=" + name.parameters[i].second;
  }
  return name.parameters.empty() ? text : text + "]";
}

VariantName parsed_variant_name(std::string_view name) {
  VariantName parsed{std::string(name), {}};
  const std::size_t open = name.find('[');
  if (open == 0 || open == name.npos || !name.ends_with(']')) return parsed;
  std::string_view rest = name.substr(open + 1, name.size() - open - 2);
  std::size_t begin = assignment(rest);
  while (begin > 0) {
    // A comma ends the value where another assignment follows it.
    std::size_t end = rest.find(',', begin), next = 0;
    while (end != rest.npos && (next = assignment(rest.substr(end + 1))) == 0) {
      end = rest.find(',', end + 1);
    }
    parsed.parameters.emplace_back(rest.substr(0, begin - 1), rest.substr(begin, end - begin));
    if (end == rest.npos) break;
    rest.remove_prefix(end + 1);
    begin = next;
  }
  if (!parsed.parameters.empty()) parsed.base = name.substr(0, open);
  return parsed;
}

std::optional<long double> parameter_number(std::string_view value) {
  try {
    return evaluate(value, {});
  } catch (const ExpressionFault&) {
    return std::nullopt;  // a type's name
  }
}

}  // namespace warpmeter
