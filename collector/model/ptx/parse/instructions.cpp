// SPDX-License-Identifier: MIT
// Labels, guards, instructions and their operands.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collector/model/ptx/parse/parser.h"

namespace warpmeter::model::ptx {
namespace {

constexpr std::uint64_t warp_size = 32;

/// Where the parts begin that a video instruction names behind a register, %r1.b0 or %r1.h31; the
/// length of the name where it names none. Those of special registers (%tid.x) are other letters.
std::size_t selector_begin(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name.size() - dot < 3) return name.size();
  if (name[dot + 1] != 'b' && name[dot + 1] != 'h') return name.size();
  return name.find_first_not_of("01234567", dot + 2) == std::string_view::npos ? dot : name.size();
}

}  // namespace

void Parser::label_or_instruction(Body& body) {
  const Token word = token_;
  advance();
  if (accept(':')) return label(body, word);
  instruction(body, word, std::nullopt);
}

void Parser::label(Body& body, const Token& name) {
  if (accept_directive(".branchtargets") || accept_directive(".calltargets")) {
    return target_list(body, name);
  }
  if (accept_directive(".callprototype")) {
    // How the arguments are laid out is said again by the parameters of the call itself.
    while (token_.kind != Token::Kind::end && !token_.is(';')) advance();
    return expect(';', "after .callprototype");
  }
  const std::optional<std::string_view> unique = body.scopes.declare_label(name.text);
  if (!unique) fail(name, fmt::format("the label {} is declared twice", describe(name)));
  body.function.labels.emplace(*unique, body.function.body.size());
}

void Parser::target_list(Body& body, const Token& name) {
  const std::optional<std::string_view> unique = body.scopes.declare_label(name.text);
  if (!unique) fail(name, fmt::format("the label {} is declared twice", describe(name)));
  std::vector<std::string_view>& targets = body.function.target_lists[*unique];
  do {
    targets.push_back(expect_word("a label"));
  } while (accept(','));
  expect(';', "after the list of targets");
  body.scope_of_target_list.emplace_back(*unique, body.scopes.current());
}

void Parser::guarded_instruction(Body& body) {
  expect('@', "before a guard");
  Guard guard;
  guard.negated = accept('!');
  guard.predicate = body.scopes.resolve(expect_word("a predicate"));
  const Token opcode = token_;
  expect_word("an instruction after its guard");
  instruction(body, opcode, guard);
}

void Parser::instruction(Body& body, const Token& opcode, std::optional<Guard> guard) {
  Instruction& instruction = body.function.body.emplace_back();
  const auto [mnemonic, is_new] = mnemonics_.try_emplace(opcode.text);
  if (is_new) mnemonic->second = read_mnemonic(opcode.text);
  static_cast<Mnemonic&>(instruction) = mnemonic->second;
  instruction.guard = guard;
  instruction.line = opcode.line;
  instruction.location = body.location;
  body.scope_of_instruction.push_back(body.scopes.current());
  if (instruction.is(Opcode::alloca)) module_.takes_stack = true;
  if (instruction.is(Opcode::call)) {
    call_operands(body, instruction);
  } else {
    operands(body, instruction);
  }
  if (!accept(';')) {
    fail_expected(fmt::format("',' or ';' after an operand of '{}' in line {}",
                              opcode.text.substr(0, 60), opcode.line));
  }
}

void Parser::operands(Body& body, Instruction& instruction) {
  if (token_.is(';')) return;
  instruction.operands.reserve(4);
  do {
    instruction.operands.push_back(operand(body));
  } while (accept(','));
}

/// `call (results), callee, (arguments), prototype`, where only the callee must be.
void Parser::call_operands(Body& body, Instruction& instruction) {
  Operand results, arguments;
  results.kind = arguments.kind = Operand::Kind::list;
  if (token_.is('(')) {
    results = list_operand(body);
    expect(',', "after the results of a call");
  }
  Operand callee = name_operand(body);
  std::optional<Operand> prototype;
  if (accept(',')) {
    if (token_.is('(')) {
      arguments = list_operand(body);
      if (accept(',')) prototype = name_operand(body);
    } else {
      prototype = name_operand(body);
    }
  }
  instruction.operands.reserve(4);
  instruction.operands.push_back(std::move(results));
  instruction.operands.push_back(std::move(callee));
  instruction.operands.push_back(std::move(arguments));
  if (prototype) instruction.operands.push_back(std::move(*prototype));
}

Operand Parser::operand(Body& body) {
  if (token_.kind == Token::Kind::word) return name_operand(body);
  if (token_.kind == Token::Kind::number || token_.is('+')) return number_operand();
  if (token_.is('-')) return negative_operand(body);
  if (token_.is('[')) return address_operand(body);
  if (token_.is('{')) return vector_or_pair(body);
  if (accept('!')) {
    Operand negated;
    negated.name = body.scopes.resolve(expect_word("a predicate"));
    negated.negated = true;
    return negated;
  }
  fail_expected("an operand");
}

/// A name, `name+8`, or the pair `p|q`.
Operand Parser::name_operand(Body& body) {
  Operand operand;
  const std::string_view written = expect_word("a name");
  const std::size_t end = selector_begin(written);
  if (end < written.size()) operand.selector = written.substr(end + 1);
  operand.name = body.scopes.resolve(written.substr(0, end));
  operand.special = special_named(operand.name);
  if (is_of_reserved_shared(operand.special)) module_.reserves_shared = true;
  if (operand.name == "WARP_SZ") {
    operand.kind = Operand::Kind::integer;
    operand.name = {};
    operand.bits = warp_size;
    return operand;
  }
  if (token_.is('+') || token_.is('-')) {
    operand.address = {operand.name, signed_offset()};
  } else if (accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.parts.push_back(std::move(operand));
    Operand second;
    second.name = body.scopes.resolve(expect_word("the second name of a pair"));
    pair.parts.push_back(std::move(second));
    return pair;
  }
  return operand;
}

/// -5, or -%r1 of vmad.
Operand Parser::negative_operand(Body& body) {
  expect('-', "before a number");
  const bool is_name = token_.kind == Token::Kind::word;
  Operand operand = is_name ? name_operand(body) : number_operand(true);
  operand.negated = is_name;
  return operand;
}

Operand Parser::number_operand() {
  const bool is_negative = accept('-');
  if (!is_negative) accept('+');
  return number_operand(is_negative);
}

Operand Parser::number_operand(bool is_negative) {
  if (token_.kind != Token::Kind::number) fail_expected("a number");
  Number number = parse_number(token_);
  advance();
  if (is_negative) number.negate();
  Operand operand;
  operand.kind = number.is_floating ? Operand::Kind::floating : Operand::Kind::integer;
  operand.bits = number.bits;
  operand.is_unsigned = number.is_unsigned;
  operand.is_f32 = number.is_f32;
  return operand;
}

Operand Parser::vector_operand(Body& body) {
  Operand vector;
  vector.kind = Operand::Kind::vector;
  expect('{', "before the parts of a vector");
  do {
    // A part is a name or a number, so vectors do not nest.
    vector.parts.push_back(token_.kind == Token::Kind::word ? name_operand(body)
                                                            : number_operand());
  } while (accept(','));
  expect('}', "after the parts of a vector");
  return vector;
}

/// A vector, or with a predicate behind it, {a, b, c, d}|p.
Operand Parser::vector_or_pair(Body& body) {
  Operand vector = vector_operand(body);
  if (!accept('|')) return vector;
  Operand pair;
  pair.kind = Operand::Kind::pair;
  pair.parts.push_back(std::move(vector));
  pair.parts.push_back(name_operand(body));
  return pair;
}

Operand Parser::address_operand(Body& body) {
  Operand operand;
  operand.kind = Operand::Kind::address;
  expect('[', "before an address");
  if (token_.kind == Token::Kind::word) {
    operand.address.base = body.scopes.resolve(token_.text);
    advance();
    operand.address.offset = signed_offset();
  } else if (token_.kind == Token::Kind::number) {
    operand.address.offset = static_cast<std::int64_t>(expect_integer("an address"));
    const std::int64_t more = signed_offset();
    operand.address.offset = static_cast<std::int64_t>(
        static_cast<std::uint64_t>(operand.address.offset) + static_cast<std::uint64_t>(more));
  } else if (token_.is('-') || token_.is('+')) {
    operand.address.offset = signed_offset();
  } else {
    fail_expected("a register, a variable or a number");
  }
  while (accept(',')) {  // [texture, {coordinates}], [texture, sampler, {coordinates}]
    operand.parts.push_back(token_.is('{') ? vector_operand(body) : name_operand(body));
  }
  expect(']', "after an address");
  return operand;
}

Operand Parser::list_operand(Body& body) {
  Operand list;
  list.kind = Operand::Kind::list;
  expect('(', "before a list");
  if (accept(')')) return list;
  do {
    list.parts.push_back(token_.kind == Token::Kind::word ? name_operand(body) : number_operand());
  } while (accept(','));
  expect(')', "after a list");
  return list;
}

}  // namespace warpmeter::model::ptx
