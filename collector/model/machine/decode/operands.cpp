// SPDX-License-Identifier: MIT
// Operands to rows and predicates.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/device_limits.h"

namespace warpmeter::model {
namespace {

/// The source of a row of the machine for a special register.
struct SpecialSource {
  ptx::Special name;
  Special special;
};
constexpr SpecialSource special_sources[] = {
#define SAME(name) \
  { ptx::Special::name, Special::name }
    SAME(tid_x),
    SAME(tid_y),
    SAME(tid_z),
    SAME(ntid_x),
    SAME(ntid_y),
    SAME(ntid_z),
    SAME(ctaid_x),
    SAME(ctaid_y),
    SAME(ctaid_z),
    SAME(nctaid_x),
    SAME(nctaid_y),
    SAME(nctaid_z),
    SAME(laneid),
    SAME(warpid),
    SAME(smid),
    SAME(lanemask_eq),
    SAME(lanemask_le),
    SAME(lanemask_lt),
    SAME(lanemask_ge),
    SAME(lanemask_gt),
    SAME(dynamic_smem_size),
    SAME(total_smem_size),
    SAME(clusterid_x),
    SAME(clusterid_y),
    SAME(clusterid_z),
    SAME(nclusterid_x),
    SAME(nclusterid_y),
    SAME(nclusterid_z),
    SAME(cluster_ctaid_x),
    SAME(cluster_ctaid_y),
    SAME(cluster_ctaid_z),
    SAME(cluster_nctaid_x),
    SAME(cluster_nctaid_y),
    SAME(cluster_nctaid_z),
    SAME(cluster_ctarank),
    SAME(cluster_nctarank),
#undef SAME
    {ptx::Special::aggr_smem_size, Special::total_smem_size},
};

/// A device of the architecture has one grid.
std::optional<std::uint64_t> fixed_value(ptx::Special special, int arch) {
  using enum ptx::Special;
  const DeviceLimits& device = device_limits(arch);
  switch (special) {
    case nsmid:
      return device.multiprocessors;
    case nwarpid:
      return device.threads_of_multiprocessor / 32;
    case gridid:
    case envreg:
    case counter:
      return 0;
    default:
      return std::nullopt;
  }
}

constexpr std::string_view grid_workspace_name = "the workspace of the grid";

unsigned row_bytes(std::uint32_t bits) { return bits <= 16 ? 2 : bits / 8; }

double as_double(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

float as_float(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof(value));
  return value;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

std::uint64_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

}  // namespace

void Decoder::expect_operands(std::size_t least, std::size_t most) const {
  const std::size_t count = instruction_->operands.size();
  if (count >= least && count <= most) return;
  refuse(least == most ? fmt::format("has {} operands instead of {}", count, least)
                       : fmt::format("has {} operands instead of {} to {}", count, least, most));
}

void Decoder::refuse_form_of_operand() const {
  refuse("has an operand of a form that it does not take");
}

std::uint16_t Decoder::allocate_row(unsigned element_bytes) {
  constexpr std::uint32_t most_units = 0xfff0;
  const std::uint32_t units = element_bytes * 32 / row_unit_bytes;
  const std::uint32_t row = program_.row_units;
  if (row + units > most_units) refuse("needs more registers than the model has");
  program_.row_units += units;
  return static_cast<std::uint16_t>(row);
}

std::uint16_t Decoder::scratch(unsigned element_bytes) { return scratch_rows(element_bytes, 1); }

/// Rows that follow each other, for operations that take more of them than they can name.
std::uint16_t Decoder::scratch_rows(unsigned element_bytes, unsigned count) {
  return scratch_.take({element_bytes, count}, [&] {
    const std::uint16_t first = allocate_row(element_bytes);
    for (unsigned i = 1; i < count; ++i) allocate_row(element_bytes);
    return first;
  });
}

std::uint16_t Decoder::constant(std::uint64_t bits, unsigned element_bytes) {
  if (element_bytes < 8) bits &= (std::uint64_t{1} << element_bytes * 8) - 1;
  const auto [found, is_new] = constants_.try_emplace({bits, element_bytes});
  if (is_new) {
    found->second = allocate_row(element_bytes);
    program_.constants.push_back({found->second, static_cast<std::uint8_t>(element_bytes), bits});
  }
  return found->second;
}

std::uint16_t Decoder::special(Special what) {
  const auto [found, is_new] = specials_.try_emplace(what);
  if (is_new) {
    found->second = allocate_row(4);
    program_.specials.push_back({found->second, what});
  }
  return found->second;
}

std::uint16_t Decoder::scratch_predicate() {
  return scratch_.take({0, 1},
                       [&] { return static_cast<std::uint16_t>(program_.predicate_count++); });
}

std::optional<std::pair<std::uint16_t, unsigned>> Decoder::register_row(
    std::string_view name) const {
  const Analysis& analysis = *instance_->analysis;
  const std::optional<ptx::RegisterId> id = analysis.data.find(name);
  if (!id) return std::nullopt;
  const ptx::Register& declared = analysis.data.registers()[*id];
  const std::uint32_t slot = analysis.slots.slot[*id];
  const unsigned bytes = row_bytes(ptx::info_of(declared.type).bits);
  switch (declared.width) {
    case ptx::Width::word:
      return std::pair{static_cast<std::uint16_t>(instance_->first_word + slot * 2), bytes};
    case ptx::Width::pair:
      return std::pair{static_cast<std::uint16_t>(instance_->first_pair + slot * 4), bytes};
    case ptx::Width::quad:
      return std::pair{static_cast<std::uint16_t>(instance_->first_quad + slot * 8), 16u};
    case ptx::Width::predicate:
      break;
  }
  return std::nullopt;
}

std::optional<std::uint16_t> Decoder::predicate_index(std::string_view name) const {
  const Analysis& analysis = *instance_->analysis;
  const std::optional<ptx::RegisterId> id = analysis.data.find(name);
  if (!id || analysis.data.registers()[*id].width != ptx::Width::predicate) return std::nullopt;
  return static_cast<std::uint16_t>(instance_->first_predicate + analysis.slots.slot[*id]);
}

std::optional<Symbol> Decoder::symbol(std::string_view name) const {
  if (const auto own = instance_->symbols.find(name); own != instance_->symbols.end()) {
    return own->second;
  }
  if (const auto shared = module_symbols_.find(name); shared != module_symbols_.end()) {
    used_variables_.insert(name);
    return shared->second;
  }
  return std::nullopt;
}

std::uint64_t Decoder::immediate(const Operand& operand, RowType type) const {
  if (operand.kind == Operand::Kind::integer) {
    if (type == RowType::f32 || type == RowType::f64) {
      refuse("has a whole number where it takes a float");
    }
    return operand.bits;
  }
  if (type == RowType::f64) {
    return operand.is_f32 ? bits_of(double{as_float(operand.bits)}) : operand.bits;
  }
  if (type == RowType::f32) {
    return operand.is_f32 ? operand.bits : bits_of(static_cast<float>(as_double(operand.bits)));
  }
  return operand.bits;  // the bits of a float, for mov.b32 and the like
}

/// The address of what a cooperative launch gives the grid to wait with.
std::uint64_t Decoder::grid_workspace() {
  const auto& variables = program_.variables;
  for (const ModuleVariable& variable : variables) {
    if (variable.name == grid_workspace_name) return variable.address;
  }
  std::uint64_t address = rooms_.own;
  for (const ModuleVariable& variable : variables) {
    address = std::max(address, variable.address + variable.initial.size());
  }
  address = (address + 0x1fff) / 0x1000 * 0x1000;
  program_.variables.push_back(
      {std::string(grid_workspace_name), address, std::vector<std::byte>(64)});
  program_.blocks_communicate = true;
  return address;
}

/// Where the shared memory lies that the system keeps for itself and cooperative groups use.
std::optional<std::uint64_t> Decoder::reserved_shared(ptx::Special special) const {
  if (!ptx::is_of_reserved_shared(special)) return std::nullopt;
  if (special == ptx::Special::reserved_smem_offset_cap) return reserved_shared_bytes;
  if (special == ptx::Special::reserved_smem_offset_end) {
    return reserved_shared_ + reserved_shared_bytes;
  }
  const bool is_second = special == ptx::Special::reserved_smem_offset_1;
  return reserved_shared_ + (is_second ? reserved_shared_bytes / 2 : 0);
}

std::optional<std::uint16_t> Decoder::special_row(ptx::Special special_register, RowType type) {
  for (const SpecialSource& known : special_sources) {
    if (known.name != special_register) continue;
    if (bytes_of(type) == 4) return special(known.special);
    // PTX before 2.0 had them in 16 bits; such code still reads the lower half.
    if (bytes_of(type) == 2) return unary(Code::u16_from_u32, special(known.special), 2);
  }
  if (const auto value = fixed_value(special_register, module_.target))
    return constant(*value, bytes_of(type));
  if (const auto at = reserved_shared(special_register)) return constant(*at, bytes_of(type));
  const bool is_high = special_register == ptx::Special::envreg_1;
  if (!is_high && special_register != ptx::Special::envreg_2) return std::nullopt;
  const std::uint64_t address = grid_workspace();
  const auto [found, is_new] = workspace_rows_.try_emplace({is_high, bytes_of(type)});
  if (is_new) {
    found->second = allocate_row(bytes_of(type));
    program_.grid_workspace.push_back({found->second, static_cast<std::uint8_t>(bytes_of(type)),
                                       is_high ? address >> 32 : address & 0xffffffff});
  }
  return found->second;
}

std::uint16_t Decoder::source(const Operand& operand, RowType type) {
  const unsigned wanted = bytes_of(type);
  if (operand.negated || !operand.selector.empty()) refuse_form_of_operand();
  switch (operand.kind) {
    case Operand::Kind::integer:
    case Operand::Kind::floating:
      return constant(immediate(operand, type), wanted);
    case Operand::Kind::name:
      break;
    default:
      refuse_form_of_operand();
  }
  if (const auto found = register_row(operand.name)) {
    if (found->second != wanted) {
      refuse(fmt::format("takes {} bits, but register {} has {}", wanted * 8, operand.name,
                         found->second * 8));
    }
    return found->first;
  }
  if (const auto row = special_row(operand.special, type)) return *row;
  const std::string_view base = operand.address.base.empty() ? operand.name : operand.address.base;
  const auto offset = static_cast<std::uint64_t>(operand.address.offset);
  if (const std::optional<Symbol> variable = symbol(base); variable && wanted >= 4) {
    const std::uint16_t place = constant(variable->address + offset, wanted);
    if (!variable->in_frame) return place;
    if (wanted != 8) refuse("takes 32 bits of an address in a function's frame");
    const std::uint16_t frame = frame_row(), sum = scratch(8);
    emit(Code::add_u64, {.d = sum, .a = frame, .b = place}, false);
    return sum;
  }
  if (const auto function = wanted == 8 ? function_address(base) : std::nullopt) {
    return constant(*function + offset, 8);
  }
  if (const auto kernel = wanted == 8 ? kernel_address(base) : std::nullopt) {
    return constant(*kernel + offset, 8);
  }
  refuse(fmt::format("names {}, which the model does not know", operand.name));
}

std::uint16_t Decoder::destination(const Operand& operand, RowType type) {
  const unsigned wanted = bytes_of(type);
  if (operand.kind != Operand::Kind::name) refuse("has no register to write to");
  if (!operand.selector.empty()) refuse_form_of_operand();
  if (operand.name == "_") return scratch(wanted);
  const auto found = register_row(operand.name);
  if (!found) refuse(fmt::format("writes {}, which is no register", operand.name));
  if (found->second != wanted) {
    refuse(fmt::format("gives {} bits, but register {} has {}", wanted * 8, operand.name,
                       found->second * 8));
  }
  return found->first;
}

std::uint16_t Decoder::predicate_source(const Operand& operand) {
  if (operand.kind == Operand::Kind::name) {
    if (const auto index = predicate_index(operand.name)) {
      return static_cast<std::uint16_t>(2 * *index + (operand.negated ? 1 : 0));
    }
  }
  if (operand.kind == Operand::Kind::integer) {  // ptxas takes any: 0 is false
    const bool is_true = (operand.bits != 0) != operand.negated;
    const std::uint16_t zero = constant(0, 4), result = scratch_predicate();
    emit(is_true ? Code::le_u32 : Code::lt_u32, {.d = result, .a = zero, .b = zero}, false);
    return static_cast<std::uint16_t>(2 * result);
  }
  refuse(fmt::format("takes a predicate where {} stands",
                     operand.name.empty() ? "something else" : operand.name));
}

std::uint16_t Decoder::predicate_destination(const Operand& operand) {
  if (operand.kind == Operand::Kind::name) {
    if (operand.name == "_") return scratch_predicate();
    if (const auto index = predicate_index(operand.name)) return *index;
  }
  refuse("has no predicate to write to");
}

}  // namespace warpmeter::model
