// SPDX-License-Identifier: MIT
#include "collector/model/input/parameter_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/words.h"

namespace warpmeter::model {
namespace {

struct Named {
  std::string_view name;
  Element element;
};
/// Types of one word, without those that "unsigned", "long" and "short" make.
constexpr Named numbers[] = {
    {"float", Element::f32},    {"double", Element::f64},         {"bool", Element::boolean},
    {"half", Element::f16},     {"__half", Element::f16},         {"nv_bfloat16", Element::bf16},
    {"int8_t", Element::i8},    {"__nv_bfloat16", Element::bf16}, {"uint8_t", Element::u8},
    {"int16_t", Element::i16},  {"uint16_t", Element::u16},       {"int32_t", Element::i32},
    {"uint32_t", Element::u32}, {"int64_t", Element::i64},        {"uint64_t", Element::u64},
    {"uint", Element::u32},     {"size_t", Element::u64},
};
/// Those whose vectors are built in: float4, or __nv_bfloat162.
constexpr Named with_vectors[] = {
    {"char", Element::i8},          {"uchar", Element::u8},
    {"short", Element::i16},        {"ushort", Element::u16},
    {"int", Element::i32},          {"uint", Element::u32},
    {"long", Element::i64},         {"ulong", Element::u64},
    {"longlong", Element::i64},     {"ulonglong", Element::u64},
    {"float", Element::f32},        {"double", Element::f64},
    {"half", Element::f16},         {"__half", Element::f16},
    {"nv_bfloat16", Element::bf16}, {"__nv_bfloat16", Element::bf16},
};

template <std::size_t n>
std::optional<Element> find_named(const Named (&names)[n], std::string_view name) {
  const auto* const found = std::find_if(std::begin(names), std::end(names),
                                         [&](const Named& named) { return named.name == name; });
  return found == std::end(names) ? std::nullopt : std::optional(found->element);
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "std";
}

std::optional<Pointee> of_one_word(std::string_view word) {
  if (const auto element = find_named(numbers, word)) return Pointee{*element, 1};
  if (word.empty() || word.back() < '1' || word.back() > '4') return std::nullopt;
  const auto element = find_named(with_vectors, word.substr(0, word.size() - 1));
  if (!element) return std::nullopt;
  return Pointee{*element, static_cast<std::uint64_t>(word.back() - '0')};
}

/// "const unsigned long long int"
std::optional<Pointee> type_of(const std::vector<std::string>& words) {
  bool is_unsigned = false, is_short = false, is_whole = false;
  int longs = 0;
  std::string other;
  for (const std::string& word : words) {
    if (is_qualifier(word)) continue;
    is_unsigned = is_unsigned || word == "unsigned";
    is_short = is_short || word == "short";
    if (word == "long") ++longs;
    const bool says_whole = word == "unsigned" || word == "signed" || word == "short" ||
                            word == "long" || word == "int";
    is_whole = is_whole || says_whole;
    if (says_whole) continue;
    if (!other.empty()) return std::nullopt;
    other = word;
  }
  if (other == "char" && !is_short && longs == 0) {
    return Pointee{is_unsigned ? Element::u8 : Element::i8, 1};
  }
  if (!other.empty()) return is_whole ? std::nullopt : of_one_word(other);  // "long double"
  if (!is_whole) return std::nullopt;
  if (longs > 0) return Pointee{is_unsigned ? Element::u64 : Element::i64, 1};
  if (is_short) return Pointee{is_unsigned ? Element::u16 : Element::i16, 1};
  return Pointee{is_unsigned ? Element::u32 : Element::i32, 1};
}

/// True if a kernel that takes such numbers can be meant to have the buffer's elements.
bool fits(const Argument& buffer, const Pointee& pointee) {
  const Element is = buffer.element, wanted = pointee.element;
  const bool is_float = is_floating(is), wants_float = is_floating(wanted);
  const std::size_t width = bytes_of(is), wanted_width = bytes_of(wanted);
  if (is == wanted) return true;
  if (wanted_width == 1 && wanted != Element::boolean) return true;
  // half2[n] for an unsigned*, where who wrote it says how many go into one.
  const bool is_packed =
      buffer.lanes > 1 && width * buffer.lanes == wanted_width * pointee.lanes && !wants_float;
  if (is_packed) return true;
  const bool is_vector = pointee.lanes > 1;
  if (is_vector && !wants_float) return true;  // an int4* copies 16 bytes of anything
  constexpr std::size_t half = 2;
  if (wanted_width == half) {
    // Kernels without the header of halves take their bits as whole numbers, and the other way
    // round.
    const bool are_bits = !is_float && (width == half || width == half * pointee.lanes);
    return are_bits || (!wants_float && width == half);
  }
  if (is_vector) return is_float && width == half;  // a float4* copies halves often
  return width == wanted_width && is_float == wants_float;
}

}  // namespace

std::optional<Pointee> pointee_of(std::string_view parameter) {
  parameter = parameter.substr(0, parameter.find('='));
  const std::size_t star = parameter.find('*'), bracket = parameter.find('[');
  const std::size_t end = std::min(star, bracket);
  if (end == std::string_view::npos) return std::nullopt;
  // More stars, references, functions, templates, names of a namespace.
  if (parameter.find_first_of("*&(<", end + 1) != std::string_view::npos) return std::nullopt;
  if (star != std::string_view::npos && bracket != std::string_view::npos) return std::nullopt;
  const std::string_view type = parameter.substr(0, end);
  const bool is_plain =
      type.find_first_of("&(<") == std::string_view::npos &&
      (type.find("::") == std::string_view::npos || type.find("std::") != std::string_view::npos);
  if (!is_plain) return std::nullopt;
  std::vector<std::string> words = warpmeter::words_of(type);
  if (star == std::string_view::npos && !words.empty())
    words.pop_back();  // the name before the '['
  return type_of(words);
}

std::string wrong_elements(const Argument& argument, std::string_view parameter) {
  if (argument.kind != Argument::Kind::buffer) return "";
  const std::optional<Pointee> pointee = pointee_of(parameter);
  if (!pointee || fits(argument, *pointee)) return "";
  return fmt::format("it points to {0}: write {0} in place of {1}", to_string(pointee->element),
                     to_string(argument.element));
}

}  // namespace warpmeter::model
