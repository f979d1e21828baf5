// Loads, stores, atomics, and conversions between address spaces.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/access.h"
#include "collector/model/decode/decoder.h"
#include "collector/model/ptx/types.h"

namespace warpmeter::model {
namespace {

constexpr std::string_view may_be_merged =
    "counted at PTX level: ptxas may merge these accesses with their neighbours";

/// What may follow `ld`, `st`, `atom` or `red` without changing what they do here: caching,
/// prefetching and ordering. Lanes run in lockstep and warps one after the other, so every access
/// is as ordered as any of these asks.
bool changes_nothing(std::string_view modifier) {
  static constexpr std::string_view names[] = {
      "weak",  "volatile",     "relaxed",     "acquire",     "release", "acq_rel",
      "mmio",  "cta",          "cluster",     "gpu",         "sys",     "ca",
      "cg",    "cs",           "lu",          "cv",          "wb",      "wt",
      "nc",    "global",       "shared",      "shared::cta", "local",   "const",
      "param", "param::entry", "param::func", "noftz",       "sc",      "unified"};
  return std::find(std::begin(names), std::end(names), modifier) != std::end(names) ||
         modifier.starts_with("L1::") || modifier.starts_with("L2::");
}

/// Memory that other blocks may change meanwhile.
bool talks_to_others(const ptx::Instruction& instruction) {
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier == "volatile" || modifier == "relaxed" || modifier == "acquire" ||
        modifier == "release") {
      return true;
    }
  }
  return false;
}

struct AtomicName {
  std::string_view name;
  AtomicKind kind;
};
constexpr AtomicName atomic_names[] = {
    {"add", AtomicKind::add},       {"min", AtomicKind::minimum},
    {"max", AtomicKind::maximum},   {"and", AtomicKind::bit_and},
    {"or", AtomicKind::bit_or},     {"xor", AtomicKind::bit_xor},
    {"exch", AtomicKind::exchange}, {"cas", AtomicKind::compare_and_swap},
    {"inc", AtomicKind::increment}, {"dec", AtomicKind::decrement},
};
struct AtomicOperand {
  std::string_view name;
  AtomicType type;
  RowType row;
};
constexpr AtomicOperand atomic_operands[] = {
    {"u32", AtomicType::u32, RowType::u32}, {"b32", AtomicType::u32, RowType::u32},
    {"s32", AtomicType::s32, RowType::s32}, {"u64", AtomicType::u64, RowType::u64},
    {"b64", AtomicType::u64, RowType::u64}, {"s64", AtomicType::s64, RowType::s64},
    {"f32", AtomicType::f32, RowType::f32}, {"f64", AtomicType::f64, RowType::f64},
};

}  // namespace

AddressSpace Decoder::access_space() const {
  for (const std::string_view modifier : instruction_->modifiers) {
    if (modifier == "global") return AddressSpace::global;
    if (modifier == "shared" || modifier == "shared::cta") return AddressSpace::shared;
    if (modifier == "local") return AddressSpace::local;
    if (modifier == "const") return AddressSpace::constant;
    if (modifier.starts_with("param")) return AddressSpace::param;
  }
  return AddressSpace::generic;
}

Decoder::Target Decoder::address(const Operand& operand, AddressSpace space) {
  if (operand.kind != Operand::Kind::address || !operand.name.empty()) {
    refuse("has an address of a form that the model does not have");
  }
  Target target;
  target.space = space;
  target.offset = operand.address.offset;
  const std::string_view base = operand.address.base;
  if (base.empty()) {
    target.row = constant(0, 8);
    return target;
  }
  if (const auto found = register_row(base)) {
    if (found->second < 4) refuse("has an address of 16 bits");
    target.row = found->first;
    target.is_wide = found->second == 8;
    return target;
  }
  const std::optional<Symbol> variable = symbol(base);
  if (!variable) refuse(fmt::format("names {}, which the model does not know", base));
  target.row = variable->in_frame ? frame_row() : constant(0, 8);
  target.offset += static_cast<std::int64_t>(variable->address);
  // Parameters of a device function, and those that it is called with, lie in local memory.
  if (space == AddressSpace::param || space == AddressSpace::generic) {
    target.space = variable->space;
  } else if (space != variable->space) {
    refuse(fmt::format("takes {} memory, but {} lies in {} memory", to_string(space), base,
                       to_string(variable->space)));
  }
  return target;
}

std::uint32_t Decoder::add_site(const SiteInfo& info) {
  program_.sites.push_back(info);
  SiteInfo& site = program_.sites.back();
  site.instruction = ordinal_;
  site.requests = {{0, info.width, false, false}};
  if (instance_->analysis->may_be_merged[index_]) site.doubt = may_be_merged;
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

/// The type and the number of registers of a load or store.
Decoder::Accessed Decoder::accessed() const {
  Accessed result;
  for (const std::string_view modifier : instruction_->modifiers) {
    if (modifier == "v2" || modifier == "v4") {
      result.parts = modifier == "v2" ? 2 : 4;
    } else if (ptx::bits_of_type(modifier) && result.type.empty()) {
      result.type = modifier;
    } else if (!changes_nothing(modifier)) {
      refuse_opcode();
    }
  }
  const unsigned bits = ptx::bits_of_type(result.type).value_or(0);
  if (bits < 8 || bits > 64) refuse_opcode();
  result.bytes = bits / 8;
  return result;
}

/// The rows of a load's or store's registers, and how wide those are: they may be wider than what
/// is in memory.
std::array<std::uint16_t, 4> Decoder::data_rows(const Operand& data, const Accessed& what,
                                                bool is_load, unsigned& row_bytes) {
  const bool is_vector = data.kind == Operand::Kind::vector;
  if ((is_vector ? data.parts.size() : 1) != what.parts) {
    refuse("has another number of registers than it says");
  }
  const auto part = [&](std::size_t i) -> const Operand& {
    return is_vector ? data.parts[i] : data;
  };
  row_bytes = std::max(what.bytes, 2u);
  for (std::size_t i = 0; i < what.parts; ++i) {
    if (part(i).kind != Operand::Kind::name) continue;
    if (const auto found = register_row(part(i).name)) row_bytes = found->second;
  }
  const bool is_float = what.type.starts_with('f');
  const RowType type = is_float && what.bytes == 4   ? RowType::f32
                       : is_float && what.bytes == 8 ? RowType::f64
                       : row_bytes == 2              ? RowType::u16
                       : row_bytes == 4              ? RowType::u32
                                                     : RowType::u64;
  std::array<std::uint16_t, 4> rows{};
  for (std::size_t i = 0; i < what.parts; ++i) {
    rows[i] = is_load ? destination(part(i), type) : source(part(i), type);
  }
  return rows;
}

void Decoder::decode_load_store(bool is_load) {
  expect_operands(2, is_load ? 3 : 2);
  const Accessed what = accessed();
  const Target target = address(instruction_->operands[is_load ? 1 : 0], access_space());
  if (!is_load && (target.space == AddressSpace::constant || target.space == AddressSpace::param)) {
    refuse("writes to memory that a kernel can only read");
  }
  if (talks_to_others(*instruction_) &&
      (target.space == AddressSpace::global || target.space == AddressSpace::generic)) {
    program_.blocks_communicate = true;
  }
  unsigned row_bytes = 0;
  const Operand& data = instruction_->operands[is_load ? 0 : 1];
  const std::array<std::uint16_t, 4> rows = data_rows(data, what, is_load, row_bytes);
  const std::optional<Code> first =
      is_load ? find_load(what.bytes, what.type.starts_with('s'), row_bytes)
              : find_store(what.bytes, row_bytes);
  if (!first) refuse(fmt::format("has a register of {} bits", row_bytes * 8));

  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = target.space;
  info.width = static_cast<std::uint8_t>(what.bytes * what.parts);
  info.alignment = info.width;
  info.parts = static_cast<std::uint8_t>(what.parts);
  const std::uint32_t site = add_site(info);
  const unsigned variant = (target.is_wide ? 1 : 0) + (data.kind == Operand::Kind::vector ? 2 : 0);
  Operation& operation = emit(static_cast<Code>(static_cast<std::uint16_t>(*first) + variant));
  operation.a = target.row;
  operation.d = rows[0];
  operation.b = rows[1];
  operation.c = rows[2];
  operation.e = rows[3];
  operation.f = static_cast<std::uint16_t>(what.parts);
  operation.imm = target.offset;
  operation.extra = site;
}

void Decoder::decode_atomic(bool returns) {
  const AtomicName* kind = nullptr;
  const AtomicOperand* type = nullptr;
  for (const std::string_view modifier : instruction_->modifiers) {
    const auto same = [&](const auto& known) { return known.name == modifier; };
    const auto* const a_kind = std::find_if(std::begin(atomic_names), std::end(atomic_names), same);
    const auto* const a_type =
        std::find_if(std::begin(atomic_operands), std::end(atomic_operands), same);
    if (a_kind != std::end(atomic_names)) {
      kind = a_kind;
    } else if (a_type != std::end(atomic_operands)) {
      type = a_type;
    } else if (!changes_nothing(modifier)) {
      refuse_opcode();
    }
  }
  if (kind == nullptr || type == nullptr) refuse_opcode();
  const bool is_float = type->row == RowType::f32 || type->row == RowType::f64;
  if (is_float && kind->kind != AtomicKind::add && kind->kind != AtomicKind::exchange) {
    refuse_opcode();
  }
  const std::size_t first = returns ? 1 : 0;
  const std::size_t sources = kind->kind == AtomicKind::compare_and_swap ? 2 : 1;
  expect_operands(first + 1 + sources, first + 1 + sources);
  const Target target = address(instruction_->operands[first], access_space());
  if (target.space != AddressSpace::shared) program_.blocks_communicate = true;

  SiteInfo info;
  info.kind = returns ? AccessKind::atomic : AccessKind::reduction;
  info.space = target.space;
  info.width = static_cast<std::uint8_t>(bytes_of(type->row));
  info.alignment = info.width;
  info.is_float = is_float;
  const std::uint16_t b = source(instruction_->operands[first + 1], type->row);
  const std::uint16_t e = sources == 2 ? source(instruction_->operands[first + 2], type->row) : b;
  const std::uint16_t d = returns ? destination(instruction_->operands[0], type->row) : no_operand;
  const std::uint32_t site = add_site(info);
  Operation& operation = emit(Code::atomic);
  operation.d = d;
  operation.a = target.row;
  operation.b = b;
  operation.e = e;
  operation.c = static_cast<std::uint16_t>(static_cast<unsigned>(kind->kind) |
                                           static_cast<unsigned>(type->type) << atomic_type_shift |
                                           (target.is_wide ? atomic_wide_address : 0u));
  operation.imm = target.offset;
  operation.extra = site;
}

/// The windows are added and taken away again; addresses of global memory are generic ones.
void Decoder::decode_cvta() {
  expect_operands(2, 2);
  const bool is_wide = has("u64") || has("s64") || has("b64");
  const RowType type = is_wide ? RowType::u64 : RowType::u32;
  const AddressSpace space = access_space();
  if (space == AddressSpace::generic) refuse_opcode();
  const std::uint64_t window = window_of(space);
  if (window != 0 && !is_wide) refuse("has addresses of 32 bits");
  const std::uint16_t from = source(instruction_->operands[1], type);
  const std::uint16_t to = destination(instruction_->operands[0], type);
  if (window == 0) {
    Operation& move = emit(is_wide ? Code::mov_b64 : Code::mov_b32);
    move.a = from;
    move.d = to;
    return;
  }
  const std::uint16_t base = constant(window, 8);
  Operation& sum = emit(has("to") ? Code::sub_u64 : Code::add_u64);
  sum.a = from;
  sum.b = base;
  sum.d = to;
}

/// Within the space's window; global memory is what lies in none.
void Decoder::decode_isspacep() {
  expect_operands(2, 2);
  const AddressSpace space = access_space();
  if (space == AddressSpace::generic) refuse_opcode();
  const bool is_global = space == AddressSpace::global;
  const std::uint16_t p = predicate_destination(instruction_->operands[0]);
  const std::uint16_t address_row = source(instruction_->operands[1], RowType::u64);
  const std::uint16_t base = constant(is_global ? first_window : window_of(space), 8);
  const std::uint16_t bytes = constant(is_global ? all_windows_bytes : window_bytes, 8);
  const std::uint16_t distance = scratch(8, 8);
  Operation& difference = emit(Code::sub_u64, false);
  difference.a = address_row;
  difference.b = base;
  difference.d = distance;
  Operation& comparison = emit(is_global ? Code::le_u64 : Code::lt_u64);
  comparison.a = is_global ? bytes : distance;
  comparison.b = is_global ? distance : bytes;
  comparison.d = p;
}

}  // namespace warpmeter::model
