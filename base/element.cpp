// SPDX-License-Identifier: MIT
#include "base/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>

namespace warpmeter {
namespace {

struct Named {
  std::string_view name;
  Element element;
};
/// The first name of each is the one that is printed.
constexpr Named names[] = {
    {"i8", Element::i8},         {"u8", Element::u8},     {"i16", Element::i16},
    {"u16", Element::u16},       {"i32", Element::i32},   {"u32", Element::u32},
    {"i64", Element::i64},       {"u64", Element::u64},   {"f16", Element::f16},
    {"bf16", Element::bf16},     {"f32", Element::f32},   {"f64", Element::f64},
    {"bool", Element::boolean},  {"s8", Element::i8},     {"s16", Element::i16},
    {"s32", Element::i32},       {"s64", Element::i64},   {"char", Element::i8},
    {"uchar", Element::u8},      {"short", Element::i16}, {"ushort", Element::u16},
    {"int", Element::i32},       {"uint", Element::u32},  {"unsigned", Element::u32},
    {"long", Element::i64},      {"ulong", Element::u64}, {"size_t", Element::u64},
    {"half", Element::f16},      {"float", Element::f32}, {"double", Element::f64},
    {"bfloat16", Element::bf16},
};
constexpr std::size_t printed_names = 13;

template <class T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof(T));
}

/// IEEE formats of 16 bits, rounded to nearest even in one step.
std::uint16_t narrow(double value, int mantissa_bits, int least_exponent, int most_exponent) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(
      static_cast<unsigned>(most_exponent - least_exponent + 2) << mantissa_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(infinity | 1u << (mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = std::max(std::ilogb(magnitude), least_exponent);
  // In units of the last place; 2^mantissa_bits and more is a normal number.
  double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  if (units == std::ldexp(1.0, mantissa_bits + 1)) {
    units /= 2;
    ++exponent;
  }
  if (exponent > most_exponent) return sign | infinity;
  const auto whole = static_cast<unsigned>(units);
  const unsigned leading = 1u << mantissa_bits;
  if (whole < leading) return static_cast<std::uint16_t>(sign | whole);  // subnormal
  const auto biased = static_cast<unsigned>(exponent - least_exponent + 1);
  return static_cast<std::uint16_t>(sign | biased << mantissa_bits | (whole - leading));
}

template <class T>
std::optional<std::vector<std::byte>> whole(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), magnitude, is_hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  // 0xffffffff is a way to write −1 of a type of 32 bits.
  const auto most = static_cast<std::uint64_t>(
      is_hexadecimal ? std::numeric_limits<std::make_unsigned_t<T>>::max()
                     : static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max()));
  const std::uint64_t most_negative =
      std::is_signed_v<T> ? static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1 : 0;
  if (magnitude > (negative ? most_negative : most)) return {};
  std::vector<std::byte> bytes(sizeof(T));
  put(static_cast<T>(negative ? 0 - magnitude : magnitude), bytes.data());
  return bytes;
}

template <class T>
std::optional<T> real(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('f') && text.find_first_of("xni") == std::string_view::npos) {
    text.remove_suffix(1);  // 1.5f
  }
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

/// With as few digits as give the same bits.
std::string shortest(Element element, double value, std::span<const std::byte> bits) {
  if (element == Element::f64) return fmt::format("{}", value);
  if (element == Element::f32) return fmt::format("{}", static_cast<float>(value));
  std::string text;
  for (int digits = 1; digits <= 9; ++digits) {
    text = fmt::format("{:.{}g}", value, digits);
    const auto back = encode(element, text);
    if (back && std::equal(bits.begin(), bits.end(), back->begin(), back->end())) break;
  }
  return text;
}

template <class T>
T wrapped(double value) {
  if (!std::isfinite(value)) return 0;
  const double turns = std::fmod(std::trunc(value), 18446744073709551616.0);
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(turns));
  return static_cast<T>(turns < 0 ? 0 - magnitude : magnitude);
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// The reverse of narrow().
double widened(std::uint16_t bits, int mantissa_bits, int least_exponent) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const int most = (0x7fff >> mantissa_bits);
  if (exponent == most) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  const int leading = exponent == 0 ? 0 : 1 << mantissa_bits;
  return sign *
         std::ldexp(leading + mantissa, std::max(exponent, 1) - 1 + least_exponent - mantissa_bits);
}

}  // namespace

std::optional<Element> element_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(names), std::end(names),
                                   [&](const Named& known) { return known.name == name; });
  if (found == std::end(names)) return std::nullopt;
  return found->element;
}

std::string_view to_string(Element element) {
  return names[static_cast<std::size_t>(element)].name;
}

std::vector<std::string> element_names() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < printed_names; ++i) all.emplace_back(names[i].name);
  return all;
}

std::size_t bytes_of(Element element) {
  constexpr std::size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1};  // in their order
  return bytes[static_cast<std::size_t>(element)];
}

bool is_floating(Element element) {
  return element == Element::f16 || element == Element::bf16 || element == Element::f32 ||
         element == Element::f64;
}

std::optional<std::vector<std::byte>> encode(Element element, std::string_view text) {
  switch (element) {
    case Element::i8:
      return whole<std::int8_t>(text);
    case Element::u8:
      return whole<std::uint8_t>(text);
    case Element::i16:
      return whole<std::int16_t>(text);
    case Element::u16:
      return whole<std::uint16_t>(text);
    case Element::i32:
      return whole<std::int32_t>(text);
    case Element::u32:
      return whole<std::uint32_t>(text);
    case Element::i64:
      return whole<std::int64_t>(text);
    case Element::u64:
      return whole<std::uint64_t>(text);
    case Element::boolean:
      if (text == "true" || text == "1") return std::vector{std::byte{1}};
      if (text == "false" || text == "0") return std::vector{std::byte{0}};
      return std::nullopt;
    default:
      break;
  }
  const std::optional<double> value = real<double>(text);
  if (!value) return std::nullopt;
  std::vector<std::byte> bytes(bytes_of(element));
  encode(element, *value, bytes.data());
  if (std::isfinite(*value) && std::isinf(number_at(element, bytes.data()))) return std::nullopt;
  return bytes;
}

std::optional<std::string> exceeded_greatest(Element element, std::string_view text) {
  const auto value = is_floating(element) ? real<long double>(text) : std::nullopt;
  if (!value || !std::isfinite(*value)) return std::nullopt;
  std::vector<std::byte> bytes(bytes_of(element));
  encode(element, static_cast<double>(*value), bytes.data());
  if (!std::isinf(number_at(element, bytes.data()))) return std::nullopt;
  switch (element) {
    case Element::f16:
      return "65504";
    case Element::bf16:
      return "3.39e+38";
    case Element::f32:
      return "3.4028235e+38";
    default:
      return "1.7976931348623157e+308";
  }
}

void encode(Element element, double value, std::byte* to) {
  switch (element) {
    case Element::i8:
    case Element::u8:
      return put(wrapped<std::uint8_t>(value), to);
    case Element::i16:
    case Element::u16:
      return put(wrapped<std::uint16_t>(value), to);
    case Element::i32:
    case Element::u32:
      return put(wrapped<std::uint32_t>(value), to);
    case Element::i64:
    case Element::u64:
      return put(wrapped<std::uint64_t>(value), to);
    case Element::boolean:
      return put(static_cast<std::uint8_t>(value != 0 ? 1 : 0), to);
    case Element::f16:
      return put(narrow(value, 10, -14, 15), to);
    case Element::bf16:
      return put(narrow(value, 7, -126, 127), to);
    case Element::f32:
      return put(static_cast<float>(value), to);
    case Element::f64:
      return put(value, to);
  }
}

double number_at(Element element, const std::byte* from) {
  switch (element) {
    case Element::i8:
      return get<std::int8_t>(from);
    case Element::u8:
    case Element::boolean:
      return get<std::uint8_t>(from);
    case Element::i16:
      return get<std::int16_t>(from);
    case Element::u16:
      return get<std::uint16_t>(from);
    case Element::i32:
      return get<std::int32_t>(from);
    case Element::u32:
      return get<std::uint32_t>(from);
    case Element::i64:
      return static_cast<double>(get<std::int64_t>(from));
    case Element::u64:
      return static_cast<double>(get<std::uint64_t>(from));
    case Element::f16:
      return widened(get<std::uint16_t>(from), 10, -14);
    case Element::bf16:
      return widened(get<std::uint16_t>(from), 7, -126);
    case Element::f32:
      return get<float>(from);
    case Element::f64:
      break;
  }
  return get<double>(from);
}

std::string text_at(Element element, const std::byte* from) {
  if (is_floating(element) && std::isnan(number_at(element, from)))
    return "nan";  // for either sign
  switch (element) {
    case Element::boolean:
      return fmt::format("{}", get<std::uint8_t>(from) != 0);
    case Element::i64:
      return fmt::format("{}", get<std::int64_t>(from));
    case Element::u64:
      return fmt::format("{}", get<std::uint64_t>(from));
    default:
      break;
  }
  const double value = number_at(element, from);
  const bool is_minus_zero = value == 0 && std::signbit(value);
  const bool has_all_digits = std::trunc(value) == value && std::fabs(value) < 1e16;
  return has_all_digits && !is_minus_zero ? fmt::format("{}", static_cast<std::int64_t>(value))
                                          : shortest(element, value, {from, bytes_of(element)});
}

}  // namespace warpmeter
