// SPDX-License-Identifier: MIT
// The words of a PTX text. The language needs few kinds of token, because the lexer keeps dotted
// names together: `ld.shared::cta.v4.f32` and `%tid.x` are one word each, while `.param` and
// `.align`, which start with the dot, are directives of one component each.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/model/ptx/module.h"

namespace warpmeter::model::ptx {

/// Thrown inside the parser only; parse() turns it into its result.
struct SyntaxError {
  Diagnostic diagnostic;
};

struct Token {
  enum class Kind { end, word, directive, number, string, punctuation };
  Kind kind = Kind::end;
  std::string_view text;  ///< for a string, what stands between the quotes
  int line = 1, column = 1;

  bool is(char punctuation) const {
    return kind == Kind::punctuation && text.front() == punctuation;
  }
  bool is_directive(std::string_view name) const { return kind == Kind::directive && text == name; }
};

/// The token as a message names it: `'bra'`, `the end of the text`.
std::string describe(const Token& token);

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  /// The next token; Kind::end for ever after the last. Throws SyntaxError for a character that no
  /// token starts with, and for a comment or string that never ends.
  Token next();

  /// True between the two comments with which compilers enclose inline assembly.
  bool is_in_assembly() const { return is_in_assembly_; }

  /// Goes past the rest of the line, whatever stands there.
  void skip_line();

  /// Goes past the `}` that matches an opening brace already read, looking at nothing in between
  /// but comments, strings and braces. False when the text ends first.
  bool skip_braces();

  /// The text from `begin`, which points into it, to where the lexer stands.
  std::string_view since(const char* begin) const;

 private:
  void skip_space();
  void skip_comment();
  Token take(Token::Kind kind, const char* end);
  Token number();
  Token string();
  [[noreturn]] void fail(std::string message) const;
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  const char* at_;
  const char* end_;
  const char* line_start_;
  int line_ = 1;
  bool is_in_assembly_ = false;
};

/// A number as PTX writes it: decimal, 0x, 0b or octal with an optional U; 0f and 0d with the bits
/// of a float or double; a decimal float, which is kept as a double.
struct Number {
  std::uint64_t bits = 0;
  bool is_unsigned = false, is_floating = false;
  bool is_f32 = false;  ///< `bits` are a float's

  void negate();
};

/// Throws SyntaxError for a number that is malformed or needs more than 64 bits.
Number parse_number(const Token& token);

}  // namespace warpmeter::model::ptx
