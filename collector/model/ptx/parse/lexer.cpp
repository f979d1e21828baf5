// SPDX-License-Identifier: MIT
#include "collector/model/ptx/parse/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace warpmeter::model::ptx {
namespace {

enum : std::uint8_t { space = 1, digit = 2, name_start = 4, name_part = 8 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (const char c : {' ', '\t', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = space;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = digit | name_part;
  for (int c = 'a'; c <= 'z'; ++c) {
    classes[static_cast<std::size_t>(c)] = name_start | name_part;
    classes[static_cast<std::size_t>(c - 'a' + 'A')] = name_start | name_part;
  }
  for (const char c : {'_', '$', '%'}) {
    classes[static_cast<unsigned char>(c)] = name_start | name_part;
  }
  return classes;
}

constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is_class(char c, int wanted) { return (classes[static_cast<unsigned char>(c)] & wanted) != 0; }

const char* skip_name(const char* at, const char* end) {
  while (at != end && is_class(*at, name_part)) ++at;
  return at;
}

/// Past `.component` and `::component`, as often as they follow.
const char* skip_components(const char* at, const char* end) {
  for (;;) {
    const char* next = at;
    if (end - at >= 2 && at[0] == '.') {
      next = at + 1;
    } else if (end - at >= 3 && at[0] == ':' && at[1] == ':') {
      next = at + 2;
    }
    if (next == at || !is_class(*next, name_part)) return at;
    at = skip_name(next, end);
  }
}

[[noreturn]] void fail_number(const Token& token, std::string_view why) {
  throw SyntaxError{{token.line, token.column, fmt::format("the number '{}' {}", token.text, why)}};
}

/// All of `digits` in `base`, or a SyntaxError that names the token.
std::uint64_t parse_digits(const Token& token, std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, base);
  if (result.ec == std::errc::result_out_of_range) {
    fail_number(token, "does not fit in 64 bits");
  }
  if (result.ec != std::errc() || result.ptr != end) fail_number(token, "is malformed");
  return value;
}

Number parse_bits(const Token& token, std::size_t digits, bool is_f32) {
  if (token.text.size() != digits + 2) {
    fail_number(token, fmt::format("must have {} hexadecimal digits", digits));
  }
  return {parse_digits(token, token.text.substr(2), 16), false, true, is_f32};
}

Number parse_decimal_float(const Token& token) {
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto result = std::from_chars(token.text.data(), end, value);
  if (result.ec == std::errc::result_out_of_range) {
    fail_number(token, "is too large or too small for a double");
  }
  if (result.ec != std::errc() || result.ptr != end) fail_number(token, "is malformed");
  return {std::bit_cast<std::uint64_t>(value), false, true, false};
}

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end:
      return "the end of the text";
    case Token::Kind::string:
      return "a string";
    default:
      // A mutilated text can hold a word of any length; a message cannot.
      return fmt::format("'{}{}'", token.text.substr(0, 60), token.text.size() > 60 ? "…" : "");
  }
}

Lexer::Lexer(std::string_view text)
    : at_(text.data()), end_(text.data() + text.size()), line_start_(text.data()) {}

void Lexer::fail(std::string message) const {
  throw SyntaxError{{line_, column(), std::move(message)}};
}

void Lexer::skip_space() {
  while (at_ != end_) {
    if (*at_ == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (is_class(*at_, space)) {
      ++at_;
    } else if (*at_ == '/' && end_ - at_ >= 2 && (at_[1] == '/' || at_[1] == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

/// Leaves at_ behind the comment; a line comment keeps its newline.
void Lexer::skip_comment() {
  if (at_[1] == '/') {
    const char* const end = std::find(at_, end_, '\n');
    const std::string_view comment(at_, static_cast<std::size_t>(end - at_));
    if (comment == "// begin inline asm") is_in_assembly_ = true;
    if (comment == "// end inline asm") is_in_assembly_ = false;
    at_ = end;
    return;
  }
  const int line = line_, start_column = column();
  for (at_ += 2; end_ - at_ >= 2; ++at_) {
    if (at_[0] == '*' && at_[1] == '/') {
      at_ += 2;
      return;
    }
    if (*at_ == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  }
  throw SyntaxError{{line, start_column, "this comment has no end; expected '*/'"}};
}

Token Lexer::take(Token::Kind kind, const char* end) {
  const Token token{kind, {at_, static_cast<std::size_t>(end - at_)}, line_, column()};
  at_ = end;
  return token;
}

Token Lexer::next() {
  skip_space();
  if (at_ == end_) return {Token::Kind::end, {}, line_, column()};
  const char c = *at_;
  if (is_class(c, name_start)) {
    return take(Token::Kind::word, skip_components(skip_name(at_, end_), end_));
  }
  if (is_class(c, digit)) return number();
  if (c == '.' && end_ - at_ >= 2 && is_class(at_[1], name_start)) {
    return take(Token::Kind::directive, skip_name(at_ + 1, end_));
  }
  if (c == '"') return string();
  if (std::string_view(",;:{}[]()<>@!=+-|").find(c) != std::string_view::npos) {
    return take(Token::Kind::punctuation, at_ + 1);
  }
  if (c > ' ' && c <= '~') fail(fmt::format("unexpected character '{}'", c));
  fail(fmt::format("unexpected byte 0x{:02x}", static_cast<unsigned char>(c)));
}

Token Lexer::number() {
  const char* end = at_;
  const bool has_prefix = end_ - at_ >= 2 && at_[0] == '0' && !is_class(at_[1], digit);
  for (; end != end_; ++end) {
    const bool is_exponent_sign = (*end == '+' || *end == '-') && !has_prefix && end != at_ &&
                                  (end[-1] == 'e' || end[-1] == 'E');
    if (!is_class(*end, name_part) && *end != '.' && !is_exponent_sign) break;
  }
  return take(Token::Kind::number, end);
}

Token Lexer::string() {
  const char* begin = at_ + 1;
  const char* end = begin;
  while (end != end_ && *end != '"' && *end != '\n') end += *end == '\\' && end_ - end > 1 ? 2 : 1;
  if (end == end_ || *end != '"') fail("this string has no end on its line; expected '\"'");
  Token token = take(Token::Kind::string, end + 1);
  token.text = {begin, static_cast<std::size_t>(end - begin)};
  return token;
}

void Lexer::skip_line() { at_ = std::find(at_, end_, '\n'); }

bool Lexer::skip_braces() {
  for (int depth = 1; depth > 0;) {
    skip_space();
    if (at_ == end_) return false;
    if (*at_ == '"') {
      string();
      continue;
    }
    if (*at_ == '{') ++depth;
    if (*at_ == '}') --depth;
    ++at_;
  }
  return true;
}

std::string_view Lexer::since(const char* begin) const {
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

void Number::negate() {
  if (is_floating) {
    bits ^= is_f32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 63;
  } else {
    bits = ~bits + 1;
  }
}

Number parse_number(const Token& token) {
  std::string_view text = token.text;
  if (text.size() > 2 && text[0] == '0') {
    if (text[1] == 'f' || text[1] == 'F') return parse_bits(token, 8, true);
    if (text[1] == 'd' || text[1] == 'D') return parse_bits(token, 16, false);
  }
  const bool is_hexadecimal =
      text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!is_hexadecimal && text.find_first_of(".eE") != std::string_view::npos) {
    return parse_decimal_float(token);
  }
  Number number;
  if (text.back() == 'U') {
    number.is_unsigned = true;
    text.remove_suffix(1);
  }
  if (is_hexadecimal) {
    number.bits = parse_digits(token, text.substr(2), 16);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    number.bits = parse_digits(token, text.substr(2), 2);
  } else if (text.size() > 1 && text[0] == '0') {
    number.bits = parse_digits(token, text.substr(1), 8);
  } else {
    number.bits = parse_digits(token, text, 10);
  }
  return number;
}

}  // namespace warpmeter::model::ptx
