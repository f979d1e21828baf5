// SPDX-License-Identifier: MIT
// A PTX module as the parser leaves it: instructions and types understood, names resolved to
// nothing yet, every instruction with its line. The decoder (collector/model/decode) turns it into
// operations; this form stays close to the text, so that an error can always say what was written
// where.
//
// All string_views point into Module::text or Module::unique_names: every name of a function is
// unique, because a register, variable or label that a nested scope declares anew is renamed
// ("param0" of the scope numbered 7 becomes "param0@7", which no PTX identifier can be).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "collector/model/ptx/mnemonic.h"
#include "collector/model/ptx/special_registers.h"

namespace warpmeter::model::ptx {

/// A mistake in the text, or something that cannot be run. `line` counts from 1; 0: no line.
struct Diagnostic {
  int line = 0, column = 0;
  std::string message;
};

/// One source position from `.loc`; `file` indexes Module::files.
struct Location {
  int file = 0, line = 0, column = 0;
  /// In the same file: of code inlined from a function of that file, where the code itself stands,
  /// while `line` is that of the outermost call; else `line`.
  int own_line = 0;
  int code_file = 0, code_line = 0;  ///< where the code itself stands, in whatever file
};

/// `[base + offset]`, `[offset]`, or the address of a name without brackets.
struct Address {
  std::string_view base;  ///< register or variable; empty: absolute
  std::int64_t offset = 0;
};

struct Operand {
  enum class Kind {
    name,      ///< register, predicate, label, variable, function: told apart by the opcode
    integer,   ///< `bits` holds it, sign-extended; `is_unsigned` for a U suffix
    floating,  ///< `bits` holds 0fXXXXXXXX (32 bits), 0dXXXXXXXXXXXXXXXX or a decimal as f64 bits
    address,   ///< in brackets
    vector,    ///< {a, b, c, d}
    pair,      ///< p|q of setp, shfl, vote
    list,      ///< ( … ) of call
  };
  Kind kind = Kind::name;
  std::string_view name;            ///< for a name
  Special special = Special::none;  ///< the special of a name that is no register of the function
  std::string_view selector;        ///< the selector of a video instruction's: "b0" of %r1.b0
  bool negated = false;             ///< !p; of vmad -%r1
  std::uint64_t bits = 0;
  bool is_unsigned = false;
  bool is_f32 = false;  ///< floating given as 0f…
  /// The address; of a name written as `variable+8`, base is the name and offset is 8.
  Address address;
  /// The parts of a vector, pair or list; of an address, what follows its base: the coordinates of
  /// `[texture, {x, y}]`, a vector.
  std::vector<Operand> parts;

  /// True if it, or a part of it, is a special register whose value that decides.
  bool has_special_of(DecidedBy by) const {
    return decided_by(special) == by ||
           std::any_of(parts.begin(), parts.end(),
                       [by](const Operand& part) { return part.has_special_of(by); });
  }
};

struct Guard {
  std::string_view predicate;
  bool negated = false;
};

/// The use of a product in a sum: see contraction.h.
enum class Contraction : std::uint8_t { none, adds, subtracts, is_subtracted };
enum class Product : std::uint8_t { mul, div_approx, div_full };

struct Instruction : Mnemonic {
  std::optional<Guard> guard;
  /// As written, save that `call` always has a list of results, the callee, a list of arguments,
  /// and then, where written, the prototype or target list; the lists may be empty.
  std::vector<Operand> operands;
  Contraction contraction = Contraction::none;
  Product product =
      Product::mul;          ///< the product of a contraction; its factors are operands 1 and 2
  bool is_taken_in = false;  ///< a product that only contractions have read
  int line = 0;              ///< the line of the PTX text
  /// The `.loc` in force, of inlined code that of the outermost call; nothing where the
  /// text has none, or says line 0, which is compilers' word for no line.
  std::optional<Location> location;
};

/// `.reg .b32 %r<12>;` gives {"%r", 12, Type::b32}; a plain `.reg .pred p;` gives {"p", 0,
/// Type::pred}.
struct RegisterDeclaration {
  std::string_view name;
  int count = 0;
  Type type = Type::none;
};

/// A variable of any space, with its initialiser.
struct Variable {
  Space space = Space::none;
  std::string_view name;
  Type type = Type::none;       ///< the type of an element
  std::uint32_t alignment = 0;  ///< in bytes; the element size when not written
  std::uint64_t bytes = 0;      ///< 0 for `extern .shared x[]`
  bool is_extern = false;
  bool is_managed = false;         ///< host and devices reach it at one address
  std::vector<std::byte> initial;  ///< the first bytes; all that follow are zero
  /// The address of a variable or function inside `initial`: `bytes` bytes at `offset` hold
  /// (address of `name` + `addend`) >> `shift_bits`.
  struct Relocation {
    std::uint64_t offset = 0;
    std::string_view name;
    std::int64_t addend = 0;
    std::uint32_t bytes = 8;
    std::uint32_t shift_bits = 0;  ///< the shift bits of a mask, 0xFF00(name): 8
    bool is_generic = false;       ///< generic(name), else the address in the name's own space
  };
  std::vector<Relocation> relocations;
  int line = 0;
};

/// Threads of a block, or blocks of a cluster, as directives give them.
struct Extent {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_declaration = false;
  bool is_of_library = false;                  ///< libcudadevrt's: its lines are its declaration's
  std::vector<Variable> parameters;            ///< in the order of the signature, space param
  std::vector<Variable> results;               ///< return parameters of a device function
  std::vector<RegisterDeclaration> registers;  ///< the registers of every nested scope as well
  std::vector<Variable> variables;             ///< .shared, .local, .param of the body
  std::vector<Instruction> body;
  /// Label → index into `body` of the instruction it stands before (body.size() at the end).
  std::unordered_map<std::string_view, std::size_t> labels;
  /// `.branchtargets` and `.calltargets` lists by their label.
  std::unordered_map<std::string_view, std::vector<std::string_view>> target_lists;
  Extent cluster = {};                       ///< .reqnctapercluster
  std::optional<std::uint32_t> max_threads;  ///< product of .maxntid or .reqntid
  int line = 0;
};

struct Module {
  std::string text;
  int version = 0;                 ///< 90 is 9.0
  int target = 0;                  ///< 90 is sm_90
  std::string_view target_name;    ///< as it was written: "sm_90a"
  bool is_for_debugging = false;   ///< `.target …, debug`: ptxas optimises nothing
  std::vector<std::string> files;  ///< the files of `.file`, by index; index 0 may be unused
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::pair<std::string_view, std::string_view>> aliases;  ///< `.alias name, function`
  bool takes_stack = false;                                            ///< some function has alloca
  bool is_linked = false;                ///< for files that were compiled apart (nvcc -rdc=true)
  bool reserves_shared = false;          ///< somebody asks for the system's part of shared memory
  std::deque<std::string> unique_names;  ///< the names that the parser made

  /// The function of this name or alias, its definition rather than a declaration of it; null when
  /// there is none.
  const Function* find(std::string_view name) const;
  /// Makes find() quick. To be called when functions and aliases are complete.
  void index_functions();

 private:
  std::unordered_map<std::string_view, std::size_t> places_;  ///< in `functions`; empty: none yet
};

/// Parses a whole module. Never crashes, loops or allocates without bound, whatever the text.
std::variant<std::unique_ptr<Module>, Diagnostic> parse(std::string text);

/// The position of the address among an access's operands; nothing for an instruction without one.
std::optional<std::size_t> address_position(const Instruction& instruction);

/// A diagnostic for the first instruction of the function that PTX does not have.
std::optional<Diagnostic> check_opcodes(const Function& function);

}  // namespace warpmeter::model::ptx
