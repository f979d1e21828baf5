// SPDX-License-Identifier: MIT
// Functions: their directives, parameters, bodies, and the places that `.loc` gives.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "collector/model/ptx/parse/contraction.h"
#include "collector/model/ptx/parse/parser.h"

namespace warpmeter::model::ptx {
namespace {

int to_line(std::uint64_t number) {
  return static_cast<int>(std::min<std::uint64_t>(number, std::numeric_limits<int>::max()));
}

}  // namespace

void Parser::function(bool is_entry) {
  Function function;
  Body body(module_, function);
  function.is_entry = is_entry;
  function.line = token_.line;
  if (accept_directive(".attribute")) skip_parentheses();
  if (!is_entry && token_.is('(')) parameters(body, function.results);
  function.name = expect_word("the function's name");
  if (token_.is('(')) parameters(body, function.parameters);
  function_directives(function);
  if (accept(';')) {
    function.is_declaration = true;
  } else {
    function_body(body);
    if (!module_.is_for_debugging) contract(function);
  }
  module_.functions.push_back(std::move(function));
}

void Parser::function_directives(Function& function) {
  while (token_.kind == Token::Kind::directive) {
    const std::string_view name = token_.text;
    if (name == ".maxntid" || name == ".reqntid") {
      advance();
      function.max_threads = static_cast<std::uint32_t>(extent().count());
    } else if (name == ".minnctapersm" || name == ".maxnctapersm" || name == ".maxnreg" ||
               name == ".maxclusterrank" || name == ".abi_preserve" ||
               name == ".abi_preserve_control") {
      advance();
      expect_integer(fmt::format("a number after {}", name));
    } else if (name == ".reqnctapercluster") {
      advance();
      function.cluster = extent();
    } else if (name == ".noreturn" || name == ".noinline" || name == ".explicitcluster" ||
               name == ".blocksareclusters" || name == ".unique") {
      advance();
    } else if (name == ".attribute") {
      advance();
      skip_parentheses();
    } else if (name == ".pragma") {
      advance();
      pragma();
    } else {
      fail(token_, fmt::format("unknown directive {} of function '{}'", describe(token_),
                               function.name.substr(0, 60)));
    }
  }
}

/// `256, 1, 1`, of which the last may be missing.
Extent Parser::extent() {
  const Token at = token_;
  std::uint64_t product = 1;
  Extent extent;
  std::uint32_t* const sides[] = {&extent.x, &extent.y, &extent.z};
  std::size_t side = 0;
  do {
    const std::uint64_t count = expect_integer("a number of threads");
    if (count == 0 || count > 0xffff'ffff || product * count > 0xffff'ffff) {
      fail(at, "a number of threads must be positive and below 2^32");
    }
    if (side == std::size(sides)) fail(at, "an extent has at most three numbers");
    product *= count;
    *sides[side++] = static_cast<std::uint32_t>(count);
  } while (accept(','));
  return extent;
}

void Parser::parameters(Body& body, std::vector<Variable>& into) {
  expect('(', "before the parameters");
  if (accept(')')) return;
  do {
    const Token at = token_;
    if (!accept_directive(".param") && !accept_directive(".reg")) {
      fail_expected("'.param' before a parameter");
    }
    const bool is_register = at.text == ".reg";
    Variable variable = parameter(declaration_prefix(is_register ? Space::reg : Space::param));
    if (variable.name != "_") {
      const bool is_new = is_register
                              ? body.scopes.declare_register({variable.name, 0, variable.type})
                              : body.scopes.declare(variable.name).has_value();
      if (!is_new) fail(at, fmt::format("the parameter '{}' is declared twice", variable.name));
    }
    into.push_back(std::move(variable));
  } while (accept(','));
  expect(')', "after the parameters");
}

void Parser::function_body(Body& body) {
  expect('{', "before the function's body");
  while (body.scopes.depth() > 0) {
    if (accept('}')) {
      // The function's own scope stays open: labels at the end may still be declared twice.
      if (body.scopes.depth() == 1) break;
      body.scopes.close();
    } else if (token_.is('{')) {
      if (body.scopes.depth() == Scopes::deepest) {
        fail(token_, fmt::format("scopes are nested deeper than {}", Scopes::deepest));
      }
      body.scopes.open();
      advance();
    } else if (token_.is('@')) {
      guarded_instruction(body);
    } else if (token_.kind == Token::Kind::word) {
      label_or_instruction(body);
    } else if (token_.kind == Token::Kind::directive) {
      body_directive(body);
    } else if (!accept(';')) {
      fail_expected(fmt::format("an instruction or the '}}' that ends function '{}'",
                                body.function.name.substr(0, 60)));
    }
  }
  resolve_labels(body);
}

void Parser::body_directive(Body& body) {
  if (accept_directive(".loc")) return location(body);
  if (accept_directive(".reg")) return registers(body);
  if (accept_directive(".pragma")) return pragma();
  if (accept_directive(".file")) return file();
  const std::optional<Space> space = variable_space(token_.text);
  if (!space) fail(token_, fmt::format("unknown directive {}", describe(token_)));
  advance();
  local_variables(body, *space);
}

/// `.loc 2 457 5, function_name $L__info_string1, inlined_at 2 542 5`. The position after
/// inlined_at may have been inlined itself, as an earlier `.loc` said. Within inline assembly LLVM
/// counts the lines of its text on from the source's line: Triton's PTX has such lines, which are
/// of other statements. All of it belongs to the line before.
void Parser::location(Body& body) {
  const bool is_counted_on = lexer_.is_in_assembly();
  const auto position = [this] {
    Location at;
    at.file = to_line(expect_integer("the number of a file"));
    at.line = to_line(expect_integer("a line"));
    at.column = to_line(expect_integer("a column"));
    at.own_line = at.line;
    at.code_file = at.file;
    at.code_line = at.line;
    return at;
  };
  const auto key = [](const Location& at) { return std::tuple(at.file, at.line, at.column); };
  const Location innermost = position();
  std::optional<Location> call;
  while (accept(',')) {
    const std::string_view word = expect_word("function_name or inlined_at");
    if (word == "function_name") {
      expect_word("the label of a function's name");
      signed_offset();
    } else if (word == "inlined_at") {
      call = position();
    } else {
      fail_expected("function_name or inlined_at");
    }
  }
  if (is_counted_on && body.location) return;
  if (!call) {
    body.outermost.erase(key(innermost));
    body.location = innermost;
    // Compilers mark what belongs to no line with line 0.
    if (innermost.line == 0) body.location.reset();
    return;
  }
  const auto known = body.outermost.find(key(*call));
  body.location = known == body.outermost.end() ? *call : known->second;
  const bool is_own = innermost.file == body.location->file && innermost.line > 0;
  if (is_own) body.location->own_line = innermost.line;
  body.location->code_file = innermost.file;
  body.location->code_line = innermost.line;
  body.outermost[key(innermost)] = *body.location;
}

/// A branch may come before its label, so names that stand for a label of a nested scope are known
/// only now. Nothing to do unless two scopes have a label of the same name.
void Parser::resolve_labels(Body& body) const {
  if (!body.scopes.has_renamed_labels()) return;
  for (std::size_t i = 0; i < body.function.body.size(); ++i) {
    for (Operand& operand : body.function.body[i].operands) {
      if (operand.kind != Operand::Kind::name) continue;
      operand.name = body.scopes.resolve_label(operand.name, body.scope_of_instruction[i]);
    }
  }
  for (const auto& [list, scope] : body.scope_of_target_list) {
    for (std::string_view& target : body.function.target_lists[list]) {
      target = body.scopes.resolve_label(target, scope);
    }
  }
}

}  // namespace warpmeter::model::ptx
