// SPDX-License-Identifier: MIT
// Variables, registers, parameters and initialisers.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "collector/model/ptx/parse/parser.h"

namespace warpmeter::model::ptx {
namespace {

/// No variable is larger than the address space of a GPU; sums of a few such sizes fit in 64 bits.
constexpr std::uint64_t largest_variable_bytes = std::uint64_t{1} << 48;
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20;
constexpr std::uint64_t most_registers = std::uint64_t{1} << 24;
constexpr std::size_t most_dimensions = 16;

/// Bytes of one element, of which a vector has several; a predicate takes one.
std::uint32_t element_bytes(Type type) { return (info_of(type).bits + 7u) / 8; }

std::uint64_t product_from(const std::vector<std::uint64_t>& dimensions, std::size_t first) {
  std::uint64_t product = 1;
  for (std::size_t i = first; i < dimensions.size(); ++i) product *= dimensions[i];
  return product;
}

}  // namespace

// The grammar lets type, alignment and vector come in any order.
Parser::DeclarationPrefix Parser::declaration_prefix(Space space) {
  DeclarationPrefix prefix;
  prefix.space = space;
  bool is_pointee = false;  // after .ptr, space and alignment are those of what is pointed at
  while (token_.kind == Token::Kind::directive) {
    const Token at = token_;
    const std::string_view name = at.text.substr(1);
    advance();
    if (name == "align") {
      const std::uint64_t alignment = expect_integer("an alignment in bytes");
      if (!std::has_single_bit(alignment) || alignment > largest_alignment) {
        fail(at, fmt::format("an alignment must be a power of two up to {}", largest_alignment));
      }
      if (!is_pointee) prefix.alignment = static_cast<std::uint32_t>(alignment);
    } else if (name == "v2" || name == "v4" || name == "v8") {
      prefix.lanes = static_cast<std::uint32_t>(name[1] - '0');
    } else if (name == "ptr") {
      is_pointee = true;
    } else if (name == "attribute") {
      prefix.is_managed |= skip_parentheses(".managed");
    } else if (type_named(name) != Type::none) {
      prefix.type = type_named(name);
    } else if (!is_pointee || (name != "global" && name != "const" && name != "shared" &&
                               name != "local" && name != "param")) {
      fail(at, fmt::format("unknown type or attribute {} in a declaration", describe(at)));
    }
  }
  if (prefix.type == Type::none) fail_expected("a type such as .b32");
  if (prefix.type == Type::pred && space != Space::reg) {
    fail(token_, "only a register can be a predicate");
  }
  return prefix;
}

/// Name, dimensions and initialiser of one variable.
Variable Parser::declarator(const DeclarationPrefix& prefix) {
  Variable variable;
  variable.space = prefix.space;
  variable.type = prefix.type;
  variable.is_extern = prefix.is_extern;
  variable.is_managed = prefix.is_managed;
  variable.line = token_.line;
  const Token at = token_;
  variable.name = expect_word("the variable's name");
  const std::uint64_t element = std::uint64_t{element_bytes(prefix.type)} * prefix.lanes;
  variable.alignment =
      prefix.alignment != 0 ? prefix.alignment : static_cast<std::uint32_t>(element);
  std::vector<std::uint64_t> dimensions = array_dimensions();
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : dimensions) {
    // An empty dimension must not hide how large the others are.
    if (elements > largest_variable_bytes / element / std::max<std::uint64_t>(dimension, 1)) {
      fail(at, fmt::format("the variable {} is too large", describe(at)));
    }
    elements *= std::max<std::uint64_t>(dimension, 1);
  }
  const bool is_empty = std::count(dimensions.begin(), dimensions.end(), 0u) != 0;
  variable.bytes = is_empty ? 0 : elements * element;
  if (accept('=')) {
    if (prefix.lanes > 1) dimensions.push_back(prefix.lanes);
    initialiser(variable, std::move(dimensions));
  }
  return variable;
}

/// `[4][2]`; an empty first pair of brackets counts as 0.
std::vector<std::uint64_t> Parser::array_dimensions() {
  std::vector<std::uint64_t> dimensions;
  while (accept('[')) {
    if (dimensions.size() == most_dimensions) {
      fail(token_, fmt::format("an array has at most {} dimensions", most_dimensions));
    }
    if (dimensions.empty() && accept(']')) {
      dimensions.push_back(0);
      continue;
    }
    dimensions.push_back(expect_integer("the number of elements"));
    expect(']', "after the number of elements");
  }
  return dimensions;
}

Variable Parser::parameter(const DeclarationPrefix& prefix) {
  Variable variable = declarator(prefix);
  if (!variable.initial.empty() || !variable.relocations.empty()) {
    fail(token_, "a parameter cannot have an initialiser");
  }
  return variable;
}

void Parser::module_variables(Space space, bool is_extern) {
  DeclarationPrefix prefix = declaration_prefix(space);
  prefix.is_extern = is_extern;
  do {
    module_.variables.push_back(declarator(prefix));
  } while (accept(','));
  expect(';', "after the variable");
}

void Parser::local_variables(Body& body, Space space) {
  const DeclarationPrefix prefix = declaration_prefix(space);
  // PTX 1.0 to 1.3 declare the parameters of a kernel in its body, later PTX only those of calls.
  const bool are_parameters =
      space == Space::param && body.function.is_entry && module_.version < 14;
  do {
    const Token at = token_;
    Variable variable = are_parameters ? parameter(prefix) : declarator(prefix);
    const std::optional<std::string_view> unique = body.scopes.declare(variable.name);
    if (!unique) {
      fail(at, fmt::format("{} is declared twice in this scope", describe(at)));
    }
    variable.name = *unique;
    (are_parameters ? body.function.parameters : body.function.variables)
        .push_back(std::move(variable));
  } while (accept(','));
  expect(';', "after the variable");
}

/// `.reg .b32 %r<12>, x;`
void Parser::registers(Body& body) {
  const Token start = token_;
  const DeclarationPrefix prefix = declaration_prefix(Space::reg);
  if (prefix.lanes != 1) {
    fail(start, "vector registers are not supported; declare scalar ones and write {a, b}");
  }
  do {
    const Token at = token_;
    RegisterDeclaration declaration{expect_word("a register's name"), 0, prefix.type};
    if (accept('<')) {
      const Token count_at = token_;
      const std::uint64_t count = expect_integer("the number of registers");
      if (count > most_registers) {
        fail(count_at, fmt::format("at most {} registers can be declared at once", most_registers));
      }
      declaration.count = static_cast<int>(count);
      expect('>', "after the number of registers");
      if (count == 0) continue;
    }
    if (!body.scopes.declare_register(declaration)) {
      fail(at, fmt::format("{} is declared twice in this scope", describe(at)));
    }
  } while (accept(','));
  expect(';', "after the registers");
}

// Initialisers

/// Braces nest as the dimensions do, but may also be left out inside: `{1, 2, 3, 4}` fills a 2 × 2
/// array. Parts that no value names is zero.
void Parser::initialiser(Variable& variable, std::vector<std::uint64_t> dimensions) {
  InitialiserPosition position{std::move(dimensions), 0};
  const bool takes_size_from_values = !position.dimensions.empty() && position.dimensions[0] == 0;
  const std::uint64_t bytes = element_bytes(variable.type);
  if (takes_size_from_values) {
    // Values are checked against the size, so let it be any for now.
    variable.bytes = largest_variable_bytes;
  }
  if (token_.is('{')) {
    initialiser_list(variable, position, 0);
  } else {
    initialiser_value(variable, position);
  }
  if (takes_size_from_values) {
    const std::uint64_t row = std::max<std::uint64_t>(product_from(position.dimensions, 1), 1);
    variable.bytes = (position.element + row - 1) / row * row * bytes;
  }
}

void Parser::initialiser_list(Variable& variable, InitialiserPosition& position,
                              std::size_t level) {
  const Token open = token_;
  expect('{', "before the values");
  if (level > 0 && level >= position.dimensions.size()) {  // a scalar may stand in braces too
    fail(open, "braces are nested deeper here than the array has dimensions");
  }
  const std::uint64_t stride =
      level == 0 ? 0 : std::max<std::uint64_t>(product_from(position.dimensions, level), 1);
  if (stride > 1) position.element = (position.element + stride - 1) / stride * stride;
  const std::uint64_t start = position.element;
  while (!token_.is('}')) {
    if (token_.is('{')) {
      initialiser_list(variable, position, level + 1);
    } else {
      initialiser_value(variable, position);
    }
    if (!accept(',')) break;
  }
  const Token close = token_;
  expect('}', "after the values");
  if (level == 0) return;
  if (position.element - start > stride) {
    fail(close,
         fmt::format("there are more values between these braces than the {} that fit", stride));
  }
  position.element = start + stride;
}

/// One element: a number, an address, or bytes of an address as `0xFF00(name)`.
void Parser::initialiser_value(Variable& variable, InitialiserPosition& position) {
  const std::uint32_t bytes = element_bytes(variable.type);
  const std::uint64_t offset = position.element * bytes;
  if (variable.bytes < bytes || offset > variable.bytes - bytes) {
    fail(token_, fmt::format("'{}' has more values than the {} that fit",
                             variable.name.substr(0, 60), variable.bytes / bytes));
  }
  if (token_.kind == Token::Kind::word) {
    store_address(variable, offset, bytes);
  } else {
    store_number(variable, offset, bytes);
  }
  ++position.element;
}

/// Makes `initial` at least as long, within what the module may take: braces that skip elements
/// could otherwise ask for any amount of memory.
void Parser::reserve_initial(Variable& variable, std::uint64_t bytes) {
  if (bytes <= variable.initial.size()) return;
  const std::uint64_t more = bytes - variable.initial.size();
  if (more > initial_bytes_left_) fail(token_, "the initialisers skip too many elements");
  initial_bytes_left_ -= more;
  variable.initial.resize(bytes);
}

void Parser::store_number(Variable& variable, std::uint64_t offset, std::uint32_t bytes) {
  const bool is_negative = accept('-');
  const Token at = token_;
  if (at.kind != Token::Kind::number) fail_expected("a number or a name");
  Number number = parse_number(at);
  advance();
  if (token_.is('(') && !number.is_floating && !is_negative) {
    const std::uint32_t shift_bits =
        number.bits == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(number.bits));
    if (bytes > 8 || (number.bits >> shift_bits) != ~std::uint64_t{0} >> (64 - 8 * bytes)) {
      fail(at, fmt::format("the mask {} must select {} adjoining bytes, as many as an element has",
                           describe(at), bytes));
    }
    advance();
    store_address(variable, offset, bytes);
    variable.relocations.back().shift_bits = shift_bits;
    expect(')', "after the masked address");
    return;
  }
  if (is_negative) number.negate();
  std::uint64_t value = number.bits;
  const bool wants_f32 = variable.type == Type::f32, wants_f64 = variable.type == Type::f64;
  if (wants_f32 && !number.is_f32) {
    const double wide = number.is_floating ? std::bit_cast<double>(value)
                                           : static_cast<double>(static_cast<std::int64_t>(value));
    value = std::bit_cast<std::uint32_t>(static_cast<float>(wide));
  } else if (wants_f64 && number.is_f32) {
    value = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value))));
  } else if (wants_f64 && !number.is_floating) {
    value = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(value)));
  } else if (number.is_floating && bytes != (number.is_f32 ? 4u : 8u)) {
    fail(at, fmt::format("{} does not fit an element of type .{}", describe(at),
                         text_of(variable.type)));
  }
  reserve_initial(variable, offset + bytes);
  // The host is little-endian as the device is; bytes past the eighth are the sign's.
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const std::uint64_t byte = i < 8 ? value >> (8 * i) : (is_negative ? 0xff : 0);
    variable.initial[offset + i] = static_cast<std::byte>(byte & 0xff);
  }
}

/// `name`, `name+8`, `generic(name)+8`.
void Parser::store_address(Variable& variable, std::uint64_t offset, std::uint32_t bytes) {
  Variable::Relocation relocation;
  relocation.offset = offset;
  relocation.bytes = bytes;
  relocation.name = expect_word("the name of a variable or function");
  if (relocation.name == "generic" && accept('(')) {
    relocation.is_generic = true;
    relocation.name = expect_word("the name of a variable");
    expect(')', "after generic(name");
  }
  relocation.addend = signed_offset();
  reserve_initial(variable, offset + bytes);
  variable.relocations.push_back(relocation);
}

}  // namespace warpmeter::model::ptx
