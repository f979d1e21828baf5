// SPDX-License-Identifier: MIT
#include "collector/model/ptx/parse/parser.h"

#include <fmt/format.h>

#include <utility>

#include "collector/model/ptx/parse/device_runtime.h"

namespace warpmeter::model::ptx {
namespace {

/// `.file` numbers index a list, so a mistyped one must not make it huge.
constexpr std::uint64_t most_files = 1 << 16;

/// The byte that "\303" stands for; nullopt: these are no three octal digits.
std::optional<char> octal_byte(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  unsigned value = 0;
  for (const char digit : text.substr(1, 3)) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = 8 * value + static_cast<unsigned>(digit - '0');
  }
  if (value == 0 || value > 0xff) return std::nullopt;
  return static_cast<char>(value);
}

/// The paths of `.file` write a quote or backslash with a backslash before it, and what is not
/// ASCII as octal numbers of its bytes.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (const std::optional<char> byte = octal_byte(text.substr(i))) {
        plain.push_back(*byte);
        i += 3;
        continue;
      }
      if (i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    }
    plain.push_back(text[i]);
  }
  return plain;
}

}  // namespace

std::optional<Space> variable_space(std::string_view directive) {
  if (directive == ".global") return Space::global;
  if (directive == ".shared") return Space::shared;
  if (directive == ".const") return Space::constant;
  if (directive == ".local") return Space::local;
  if (directive == ".param") return Space::param;
  return std::nullopt;
}

Parser::Parser(Module& module)
    : module_(module),
      lexer_(module.text),
      // Every value takes two characters and at most 16 bytes; the rest is for rows cut short.
      initial_bytes_left_((std::uint64_t{16} << 20) + 16 * module.text.size()) {}

// Tokens

bool Parser::accept(char punctuation) {
  if (!token_.is(punctuation)) return false;
  advance();
  return true;
}

bool Parser::accept_directive(std::string_view name) {
  if (!token_.is_directive(name)) return false;
  advance();
  return true;
}

void Parser::expect(char punctuation, std::string_view where) {
  if (!accept(punctuation)) fail_expected(fmt::format("'{}' {}", punctuation, where));
}

std::string_view Parser::expect_word(std::string_view what) {
  if (token_.kind != Token::Kind::word) fail_expected(what);
  const std::string_view word = token_.text;
  advance();
  return word;
}

std::uint64_t Parser::expect_integer(std::string_view what) {
  if (token_.kind != Token::Kind::number) fail_expected(what);
  const Number number = parse_number(token_);
  if (number.is_floating) fail_expected(what);
  advance();
  return number.bits;
}

/// Any number of `+ 8`, `- 8`, `+-8`.
std::int64_t Parser::signed_offset() {
  std::uint64_t sum = 0;
  while (token_.is('+') || token_.is('-')) {
    bool is_negative = token_.is('-');
    advance();
    if (accept('-')) is_negative = !is_negative;
    const std::uint64_t number = expect_integer("an offset");
    sum += is_negative ? 0 - number : number;
  }
  return static_cast<std::int64_t>(sum);
}

void Parser::fail(const Token& at, std::string message) const {
  throw SyntaxError{{at.line, at.column, std::move(message)}};
}

void Parser::fail_expected(std::string_view what) const {
  fail(token_, fmt::format("expected {}, found {}", what, describe(token_)));
}

// The module

void Parser::parse_module() {
  advance();
  if (!token_.is_directive(".version")) {
    fail_expected("'.version', with which every PTX module starts");
  }
  while (token_.kind != Token::Kind::end) module_statement();
}

void Parser::module_statement() {
  if (accept_directive(".version")) return version();
  if (accept_directive(".target")) return target();
  if (accept_directive(".address_size")) {
    const Token size = token_;
    if (expect_integer("64") != 64) fail(size, "only modules with 64-bit addresses are supported");
    return;
  }
  if (accept_directive(".file")) return file();
  if (accept_directive(".alias")) return alias();
  if (token_.is_directive(".section")) return skip_section();
  if (accept_directive(".pragma")) return pragma();
  if (token_.is('@')) {  // "@@DWARF …", of old compilers
    lexer_.skip_line();
    return advance();
  }
  linked_declaration();
}

void Parser::version() {
  const Token token = token_;
  const std::size_t dot = token.text.find('.');
  if (token.kind != Token::Kind::number || dot == std::string_view::npos) {
    fail_expected("a version such as 9.0");
  }
  Token major = token, minor = token;
  major.text = token.text.substr(0, dot);
  minor.text = token.text.substr(dot + 1);
  if (minor.text.empty() || major.text.size() > 3 || minor.text.size() > 1) {
    fail_expected("a version such as 9.0");
  }
  module_.version = static_cast<int>(parse_number(major).bits * 10 + parse_number(minor).bits);
  advance();
}

/// `.target sm_90a, debug`: the number counts, letters that follow it and options do not.
void Parser::target() {
  do {
    const Token token = token_;
    const std::string_view name = expect_word("a target such as sm_90");
    module_.is_for_debugging |= name == "debug";
    if (name.substr(0, 3) != "sm_") continue;
    int number = 0;
    for (const char c : name.substr(3, 4)) {
      if (c < '0' || c > '9') break;
      number = number * 10 + (c - '0');
    }
    if (number == 0)
      fail(token, fmt::format("{} is no target; expected sm_90 or its like", describe(token)));
    module_.target = number;
    module_.target_name = name;
  } while (accept(','));
}

void Parser::file() {
  const Token at = token_;
  const std::uint64_t index = expect_integer("the number of the file");
  if (index >= most_files) fail(at, fmt::format("a file's number must be below {}", most_files));
  if (token_.kind != Token::Kind::string) fail_expected("the file's name in quotes");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = unescape(token_.text);
  advance();
  while (accept(',')) expect_integer("a time stamp or size");
}

void Parser::alias() {
  const std::string_view name = expect_word("the alias");
  expect(',', "after the alias");
  module_.aliases.emplace_back(name, expect_word("the function that the alias stands for"));
  expect(';', "after .alias");
}

/// The parser skips debugging information; the line numbers that matter come from `.loc`.
void Parser::skip_section() {
  const Token section = token_;
  while (!token_.is('{')) {
    if (token_.kind == Token::Kind::end) fail_expected("'{' after .section");
    advance();
  }
  if (!lexer_.skip_braces()) fail(section, "this section has no end; expected '}'");
  advance();
}

/// True if the word stands between them.
bool Parser::skip_parentheses(std::string_view word) {
  bool has_word = false;
  const Token open = token_;
  expect('(', "after .attribute");
  for (int depth = 1; depth > 0; advance()) {
    if (token_.kind == Token::Kind::end) fail(open, "this '(' is never closed");
    if (token_.is('(')) ++depth;
    if (token_.is(')')) --depth;
    has_word |= token_.text == word;
  }
  return has_word;
}

void Parser::pragma() {
  do {
    if (token_.kind != Token::Kind::string) fail_expected("a string after .pragma");
    advance();
  } while (accept(','));
  expect(';', "after .pragma");
}

/// A function or variable with what it says about its linkage.
void Parser::linked_declaration() {
  bool is_extern = false;
  for (;;) {
    if (accept_directive(".extern")) {
      is_extern = true;
    } else if (!accept_directive(".visible") && !accept_directive(".weak") &&
               !accept_directive(".common")) {
      break;
    }
  }
  if (accept_directive(".entry")) return function(true);
  if (accept_directive(".func")) return function(false);
  if (token_.kind == Token::Kind::directive) {
    const std::optional<Space> space = variable_space(token_.text);
    if (space && *space != Space::local && *space != Space::param) {
      advance();
      return module_variables(*space, is_extern);
    }
    fail(token_, fmt::format("unknown directive {}", describe(token_)));
  }
  fail_expected("a function, a variable or another directive");
}

std::variant<std::unique_ptr<Module>, Diagnostic> parse(std::string text) {
  auto module = std::make_unique<Module>();
  // NVRTC counts the NUL that ends its text.
  while (!text.empty() && text.back() == '\0') text.pop_back();
  module->text = std::move(text);
  try {
    Parser(*module).parse_module();
    add_group_functions(*module);
    module->index_functions();
  } catch (const SyntaxError& error) {
    return error.diagnostic;
  }
  return module;
}

}  // namespace warpmeter::model::ptx
