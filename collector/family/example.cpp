// SPDX-License-Identifier: MIT
#include "collector/family/example.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace warpmeter::family {
namespace {

/// Longer structures are for their owner to write down.
constexpr std::uint32_t most_shown_bytes = 64;

/// A parameter's type in the words of --arg, as far as its text tells.
struct Typed {
  std::string name;  ///< the name of the parameter
  std::string type;  ///< "f32", "float4"; of others the first word of it
  std::optional<Element> element;
  char lanes = '1';
  bool is_pointer = false, is_const = false;

  bool is_known() const { return element.has_value() || lanes > '1'; }
};

Typed typed(const std::string& parameter, bool has_name) {
  const std::string text = parameter.substr(0, parameter.find('='));
  Typed result;
  const std::size_t star = text.find_first_of("*&[");
  result.is_pointer = star != std::string::npos;
  result.is_const = text.find("const") < star;
  std::vector<std::string> words;
  bool is_unsigned = false;
  for (const std::string& word : words_of(text)) {
    if (word == "unsigned") is_unsigned = true;
    const bool says_no_type = word == "const" || word == "__restrict__" || word == "__restrict" ||
                              word == "volatile" || word == "unsigned" || word == "signed" ||
                              word == "std" || word == "restrict" || word == "__grid_constant__";
    if (!says_no_type) words.push_back(word);
  }
  if (is_unsigned && (words.empty() || !element_named(words.front()))) {
    words.insert(words.begin(), "int");  // "unsigned count"
  }
  if (has_name && words.size() > 1) result.name = words.back();
  std::string type = words.empty() ? "int" : words.front();
  if (type == "__half") type = "half";
  if (type == "__nv_bfloat16") type = "bfloat16";
  if (type.ends_with("_t") && type != "size_t") {  // int32_t, uint8_t
    const bool has_u = type.starts_with("u");
    const std::size_t begin = has_u ? 4 : 3;
    if (type.size() > begin + 2) {
      type = fmt::format("{}{}", has_u ? "u" : "i", type.substr(begin, type.size() - begin - 2));
    }
  }
  if (const std::string other = fmt::format("u{}", type); is_unsigned && element_named(other)) {
    type = other;
  }
  const char last = type.back();
  const bool has_digit = std::isdigit(static_cast<unsigned char>(last)) != 0;
  const std::string_view stem = std::string_view(type).substr(0, type.size() - (has_digit ? 1 : 0));
  if (element_named(stem).has_value() && last >= '2' && last <= '4') result.lanes = last;
  result.element = element_named(type);
  result.type = result.element ? std::string(to_string(*result.element)) : type;
  return result;
}

std::string number_like(Element element, std::int64_t number) {
  return is_floating(element) ? "1.5" : bytes_of(element) == 1 ? "1" : std::to_string(number);
}

/// Numbers that index others are different ones, lest what they scatter meets.
bool is_name_of_indices(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"ind", "idx", "perm", "map", "order", "row", "col", "ptr", "off"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

/// Whole numbers stay small: a kernel may take them for places in a buffer or a histogram.
std::string contents_to_read(const Typed& parameter) {
  if (!parameter.is_const || !parameter.is_known()) return "=zeros";
  if (!parameter.element || is_floating(*parameter.element)) return "=random";
  const std::size_t bytes = bytes_of(*parameter.element);
  if (bytes >= 4 && is_name_of_indices(parameter.name)) return "=iota";
  return bytes > 1 ? "=random:0..255" : parameter.type == "i8" ? "=random:0..127" : "=random";
}

std::string example_of(const Typed& parameter, std::int64_t number, bool is_read) {
  const std::string prefix = parameter.name.empty() ? "" : parameter.name + ":";
  const std::string contents = parameter.is_const || is_read ? contents_to_read(parameter) : "";
  if (!parameter.is_known()) {
    return fmt::format("{}{}{}", prefix, parameter.is_pointer ? "f32[1<<20]" : "bytes=0x00",
                       parameter.is_pointer ? contents : "");
  }
  if (parameter.is_pointer) {
    return fmt::format("{}{}[1<<20]{}", prefix, parameter.type, contents);
  }
  if (parameter.lanes > '1') {
    std::string zeros = "0";
    for (char lane = '1'; lane < parameter.lanes; ++lane) zeros += ",0";
    return fmt::format("{}{}={}", prefix, parameter.type, zeros);
  }
  return fmt::format("{}{}={}", prefix, parameter.type, number_like(*parameter.element, number));
}

/// Bytes of a number or a vector of them; 0: not known.
std::size_t bytes_of(const Typed& parameter) {
  if (parameter.is_pointer) return sizeof(std::uint64_t);
  if (parameter.element) return warpmeter::bytes_of(*parameter.element);
  const auto stem = std::string_view(parameter.type).substr(0, parameter.type.size() - 1);
  if (parameter.lanes == '1') return 0;
  return warpmeter::bytes_of(*element_named(stem)) *
         static_cast<std::size_t>(parameter.lanes - '0');
}

std::string zeros(const model::Parameter& parameter) {
  return "bytes=0x" + std::string(2 * std::min(parameter.bytes, most_shown_bytes), '0');
}

/// Where the size alone is known, or how PTX declares it.
std::string example_of_bytes(const model::Parameter& parameter, std::int64_t number) {
  const std::string& type = parameter.type;
  if (type == "f32" || type == "f64") return type + "=1.5";
  switch (parameter.bytes) {
    case 8:
      return "f32[1<<20]=zeros";  // most are pointers
    case 4:
      return fmt::format("i32={}", number);
    case 2:
      return fmt::format("i16={}", number);
    case 1:
      return "i8=1";
    default:
      return zeros(parameter);
  }
}

}  // namespace

std::optional<Element> element_of(const std::string& type) {
  const Typed known = typed(type, false);
  return known.is_pointer ? std::nullopt : known.element;
}

std::string example_of_declaration(const std::string& parameter, std::int64_t number,
                                   bool is_read) {
  return example_of(typed(parameter, true), number, is_read);
}

std::string example_of_parameter(const model::Parameter& parameter, const std::string& type,
                                 std::int64_t number) {
  if (!type.empty()) {
    const Typed known = typed(type, false);
    if (bytes_of(known) == parameter.bytes) return example_of(known, number, true);
    if (!known.is_pointer && !known.is_known()) return zeros(parameter);  // a structure
  }
  return example_of_bytes(parameter, number);
}

}  // namespace warpmeter::family
