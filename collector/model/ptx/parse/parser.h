// SPDX-License-Identifier: MIT
// The parser: recursive descent over the lexer's tokens, one token ahead, in linear time. It knows
// the grammar of declarations and of operands; what an instruction is it leaves to mnemonic.h.
//
// Its parts, a file each: modules (parser.cpp), functions (functions.cpp), variables, registers and
// initialisers (declarations.cpp), instructions (instructions.cpp). Within these files a mistake in
// the text is a SyntaxError; parse() hands it out as a Diagnostic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "collector/model/ptx/module.h"
#include "collector/model/ptx/parse/lexer.h"
#include "collector/model/ptx/scopes.h"

namespace warpmeter::model::ptx {

/// The space of the variables that a directive declares; nullopt: it declares none.
std::optional<Space> variable_space(std::string_view directive);

class Parser {
 public:
  /// Fills `module`, whose text is set and stays where it is.
  explicit Parser(Module& module);

  /// Throws SyntaxError.
  void parse_module();

 private:
  /// The common prefix of the declarations `.global .align 8 .v2 .f32 x, y[4]`.
  struct DeclarationPrefix {
    Space space = Space::none;
    Type type = Type::none;
    std::uint32_t alignment = 0;  ///< 0: not written
    std::uint32_t lanes = 1;      ///< the lanes of .v2, .v4
    bool is_extern = false;
    bool is_managed = false;
  };
  /// Where an initialiser is: which dimension's braces, which element comes next.
  struct InitialiserPosition {
    std::vector<std::uint64_t> dimensions;
    std::uint64_t element = 0;
  };
  /// A function while its body is read.
  struct Body {
    Body(Module& module, Function& into) : function(into), scopes(module, into) {}
    Function& function;
    Scopes scopes;
    std::vector<int> scope_of_instruction;
    std::vector<std::pair<std::string_view, int>> scope_of_target_list;
    std::optional<Location> location;
    /// Position of inlined code → where the outermost call stands that it was inlined for.
    std::map<std::tuple<int, int, int>, Location> outermost;
  };

  // Tokens (parser.cpp).
  void advance() { token_ = lexer_.next(); }
  bool accept(char punctuation);
  bool accept_directive(std::string_view name);
  void expect(char punctuation, std::string_view where);
  std::string_view expect_word(std::string_view what);
  std::uint64_t expect_integer(std::string_view what);
  std::int64_t signed_offset();
  [[noreturn]] void fail(const Token& at, std::string message) const;
  [[noreturn]] void fail_expected(std::string_view what) const;

  // Modules (parser.cpp).
  void version();
  void target();
  void file();
  void alias();
  void skip_section();
  bool skip_parentheses(std::string_view word = {});
  void pragma();
  void module_statement();
  void linked_declaration();

  // Functions (functions.cpp).
  void function(bool is_entry);
  void function_directives(Function& function);
  Extent extent();
  void parameters(Body& body, std::vector<Variable>& into);
  void function_body(Body& body);
  void body_directive(Body& body);
  void location(Body& body);
  void resolve_labels(Body& body) const;

  // Declarations (declarations.cpp).
  DeclarationPrefix declaration_prefix(Space space);
  Variable declarator(const DeclarationPrefix& prefix);
  Variable parameter(const DeclarationPrefix& prefix);
  std::vector<std::uint64_t> array_dimensions();
  void module_variables(Space space, bool is_extern);
  void local_variables(Body& body, Space space);
  void registers(Body& body);
  void initialiser(Variable& variable, std::vector<std::uint64_t> dimensions);
  void initialiser_list(Variable& variable, InitialiserPosition& position, std::size_t level);
  void initialiser_value(Variable& variable, InitialiserPosition& position);
  void store_number(Variable& variable, std::uint64_t offset, std::uint32_t bytes);
  void store_address(Variable& variable, std::uint64_t offset, std::uint32_t bytes);
  void reserve_initial(Variable& variable, std::uint64_t bytes);

  // Instructions (instructions.cpp).
  void label_or_instruction(Body& body);
  void label(Body& body, const Token& name);
  void target_list(Body& body, const Token& name);
  void guarded_instruction(Body& body);
  void instruction(Body& body, const Token& opcode, std::optional<Guard> guard);
  void operands(Body& body, Instruction& instruction);
  void call_operands(Body& body, Instruction& instruction);
  Operand operand(Body& body);
  Operand name_operand(Body& body);
  Operand number_operand();
  Operand number_operand(bool is_negative);
  Operand negative_operand(Body& body);
  Operand vector_operand(Body& body);
  Operand vector_or_pair(Body& body);
  Operand address_operand(Body& body);
  Operand list_operand(Body& body);

  Module& module_;
  Lexer lexer_;
  std::unordered_map<std::string_view, Mnemonic> mnemonics_;  ///< the mnemonics of each text once
  Token token_;
  std::uint64_t initial_bytes_left_;
};

}  // namespace warpmeter::model::ptx
