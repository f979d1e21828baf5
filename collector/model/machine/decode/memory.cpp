// SPDX-License-Identifier: MIT
// Loads, stores, atomics, and conversions between address spaces.
#include <fmt/format.h>

#include <algorithm>

#include "collector/model/machine/cluster.h"
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

AddressSpace Decoder::access_space() const {
  switch (instruction_->space) {
    case ptx::Space::global:
      return AddressSpace::global;
    case ptx::Space::shared:
      return AddressSpace::shared;
    case ptx::Space::local:
      return AddressSpace::local;
    case ptx::Space::constant:
      return AddressSpace::constant;
    case ptx::Space::param:
      return AddressSpace::param;
    case ptx::Space::none:
    case ptx::Space::reg:
      break;
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
    // The machine takes a register of 32 bits. So a generic address, whose lower half is the place,
    // does too: an H100 loads, stores and copies by it.
    if (target.is_wide && space == AddressSpace::shared) {
      target.row = lower_half(target.row);
      target.is_wide = false;
    }
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
  site.says_cluster = has(Word::shared_cluster);
  program_.has_clusters |= site.says_cluster;
  site.waits = is_here_or_in_callers(&Analysis::waits);
  site.is_behind = is_here_or_in_callers(&Analysis::is_behind);
  const Analysis& analysis = *instance_->analysis;
  site.decides = analysis.decides[index_];
  // In functions that are called, the callers' branches would have to be known too.
  if (instance_->caller == nullptr)
    site.partings = analysis.partings[analysis.graph.block_of[index_]];
  note_array(site);
  return static_cast<std::uint32_t>(program_.sites.size() - 1);
}

/// The array of dynamic memory is all that lies behind the static.
void Decoder::note_array(SiteInfo& site) const {
  const Opcode opcode = instruction_->opcode;
  const bool is_access = opcode == Opcode::ld || opcode == Opcode::st || opcode == Opcode::atom ||
                         opcode == Opcode::red;
  const std::string_view name = instance_->analysis->meant[index_];
  const bool may_be_shared =
      site.space == AddressSpace::shared || site.space == AddressSpace::generic;
  if (!is_access || !may_be_shared || name.empty()) return;
  for (const SharedVariable& variable : program_.shared_variables) {
    if (variable.name != name) continue;
    site.array_begin = variable.offset;
    site.array_end = variable.bytes > 0 ? variable.offset + variable.bytes : ~std::uint32_t{0};
  }
}

/// True if it holds for the current instruction, or for a call that led to it.
bool Decoder::is_here_or_in_callers(std::vector<bool> Analysis::*marks) const {
  std::size_t index = index_;
  for (const Instance* i = instance_; i != nullptr; index = i->call_index, i = i->caller) {
    if ((i->analysis->*marks)[index]) return true;
  }
  return false;
}

/// The type and the number of registers of a load or store.
Decoder::Accessed Decoder::accessed() const {
  Accessed result;
  result.type = ptx::info_of(instruction_->first_type());
  result.parts = instruction_->parts;
  result.bytes = result.type.bytes();
  if (result.bytes * result.parts > 32) refuse("moves more than 32 bytes a lane");
  return result;
}

/// The rows of a load's or store's registers, and how wide those are: they may be wider than what
/// is in memory. A register of 128 bits is two rows.
std::vector<std::uint16_t> Decoder::data_rows(const Operand& data, const Accessed& what,
                                              bool is_load, unsigned& row_bytes) {
  const bool is_vector = data.kind == Operand::Kind::vector;
  if ((is_vector ? data.parts.size() : 1) != what.parts) {
    refuse("has another number of registers than it says");
  }
  const auto part = [&](std::size_t i) -> const Operand& {
    return is_vector ? data.parts[i] : data;
  };
  std::vector<std::uint16_t> rows;
  if (what.bytes == 16) {
    row_bytes = 8;
    for (std::size_t i = 0; i < what.parts; ++i) {
      const std::uint16_t first = quad_row(part(i));
      rows.push_back(first);
      rows.push_back(static_cast<std::uint16_t>(first + 4));
    }
    return rows;
  }
  row_bytes = std::max(what.bytes, 2u);
  for (std::size_t i = 0; i < what.parts; ++i) {
    if (part(i).kind != Operand::Kind::name) continue;
    if (const auto found = register_row(part(i).name)) row_bytes = found->second;
  }
  const bool is_float = what.type.kind == ptx::Kind::f && what.type.elements == 1;
  const RowType type = is_float && what.bytes == 4   ? RowType::f32
                       : is_float && what.bytes == 8 ? RowType::f64
                       : row_bytes == 2              ? RowType::u16
                       : row_bytes == 4              ? RowType::u32
                                                     : RowType::u64;
  for (std::size_t i = 0; i < what.parts; ++i) {
    rows.push_back(is_load ? destination(part(i), type) : source(part(i), type));
  }
  return rows;
}

/// The first row of a register of 128 bits.
std::uint16_t Decoder::quad_row(const Operand& operand) const {
  const auto found =
      operand.kind == Operand::Kind::name ? register_row(operand.name) : std::nullopt;
  if (!found || found->second != 16) refuse("takes a register of 128 bits");
  return found->first;
}

void Decoder::move_row(std::uint16_t to, std::uint16_t from, unsigned bytes, bool guarded) {
  emit(bytes == 2   ? Code::mov_b16
       : bytes == 4 ? Code::mov_b32
                    : Code::mov_b64,
       {.d = to, .a = from}, guarded);
}

/// Notes the promise of the access to other threads.
void Decoder::note_order(SiteInfo& info) {
  const ptx::Order order = instruction_->order;
  info.acquires = order == ptx::Order::acquire || order == ptx::Order::acq_rel;
  info.releases = order == ptx::Order::release || order == ptx::Order::acq_rel;
  info.says_order = info.acquires || info.releases || order == ptx::Order::relaxed;
  info.is_read_only = has(Word::nc);
  info.scope = scope();
  info.is_of_system = has(Word::sys) || has(Word::volatile_);
  program_.has_releases |= info.releases;
}

void Decoder::decode_load_store(bool is_load) {
  expect_operands(2, is_load ? 4 : 3);  // with a cache policy, and whether a load was valid
  const AddressSpace space = access_space();
  const Accessed what = accessed();
  const Target target = address(instruction_->operands[is_load ? 1 : 0], space);
  if (!is_load && (target.space == AddressSpace::constant || target.space == AddressSpace::param)) {
    refuse("writes to memory that a kernel can only read");
  }
  if (instruction_->is_strong() &&
      (target.space == AddressSpace::global || target.space == AddressSpace::generic)) {
    program_.blocks_communicate = true;
  }
  unsigned row_bytes = 0;
  const Operand& data = instruction_->operands[is_load ? 0 : 1];
  std::vector<std::uint16_t> rows = data_rows(data, what, is_load, row_bytes);
  const unsigned bytes = std::min(what.bytes, 8u);
  const AccessCodes* const codes =
      is_load ? find_load(bytes, what.type.is_signed(), row_bytes) : find_store(bytes, row_bytes);
  if (codes == nullptr) refuse(fmt::format("has a register of {} bits", row_bytes * 8));

  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = target.space;
  info.width = static_cast<std::uint8_t>(what.bytes * what.parts);
  info.alignment = info.width;
  info.parts = static_cast<std::uint8_t>(rows.size());
  info.row_bytes = static_cast<std::uint8_t>(row_bytes);
  info.is_strong = instruction_->is_strong();
  note_order(info);
  info.is_copied = is_load && instance_->analysis->is_copied[index_];
  info.is_verified = is_load && instance_->analysis->is_verified[index_];
  info.stores_same = !is_load && info.row_bytes > 0 && instance_->analysis->stores_same[index_];
  const auto leader = instance_->site_of.find(instance_->analysis->leader[index_]);
  if (leader != instance_->site_of.end()) info.leader = leader->second;
  const std::uint32_t site = add_site(info);
  instance_->site_of.emplace(index_, site);
  const auto count = static_cast<unsigned>(rows.size());
  const unsigned units = row_bytes * 32 / row_unit_bytes;
  const bool is_long = count > 4;
  std::uint16_t together = 0;
  if (is_long) {
    together = scratch_rows(row_bytes, count);
    for (unsigned i = 0; !is_load && i < count; ++i) {
      move_row(static_cast<std::uint16_t>(together + i * units), rows[i], row_bytes, false);
    }
  }
  const bool is_vector = data.kind == Operand::Kind::vector || count > 1;
  const std::vector<std::uint16_t> own = rows;
  rows.resize(4);
  emit(codes->of(target.is_wide, is_vector), {.d = is_long ? together : rows[0],
                                              .a = target.row,
                                              .b = rows[1],
                                              .c = rows[2],
                                              .e = rows[3],
                                              .f = static_cast<std::uint16_t>(count),
                                              .imm = target.offset,
                                              .extra = site});
  for (unsigned i = 0; is_long && is_load && i < count; ++i) {
    move_row(own[i], static_cast<std::uint16_t>(together + i * units), row_bytes, true);
  }
}

/// The windows are added and taken away again; addresses of global memory are generic ones.
void Decoder::decode_cvta() {
  expect_operands(2, 2);
  const bool is_wide = has(Word::u64) || has(Word::s64) || has(Word::b64);
  const RowType type = is_wide ? RowType::u64 : RowType::u32;
  const AddressSpace space = access_space();
  if (space == AddressSpace::generic) refuse_form();
  const std::uint64_t window = window_of(space);
  if (window != 0 && !is_wide) refuse("has addresses of 32 bits");
  const std::uint16_t from = source(instruction_->operands[1], type);
  const std::uint16_t to = destination(instruction_->operands[0], type);
  if (window == 0) {
    return move_row(to, from, is_wide ? 8 : 4, true);
  }
  const std::uint16_t base = constant(window, 8);
  emit(has(Word::to) ? Code::sub_u64 : Code::add_u64, {.d = to, .a = from, .b = base});
}

/// Within the space's window; global memory is what lies in none.
void Decoder::decode_isspacep() {
  expect_operands(2, 2);
  const AddressSpace space = access_space();
  if (space == AddressSpace::generic) refuse_form();
  const bool is_global = space == AddressSpace::global;
  const std::uint16_t p = predicate_destination(instruction_->operands[0]);
  const std::uint16_t address_row = source(instruction_->operands[1], RowType::u64);
  const std::uint16_t base = constant(is_global ? first_window : window_of(space), 8);
  const bool is_own = space == AddressSpace::shared && !has(Word::shared_cluster);
  const std::uint64_t within = is_global ? all_windows_bytes : is_own ? cluster_step : window_bytes;
  const std::uint16_t bytes = constant(within, 8);
  const std::uint16_t distance = scratch(8);
  emit(Code::sub_u64, {.d = distance, .a = address_row, .b = base}, false);
  emit(is_global ? Code::le_u64 : Code::lt_u64,
       {.d = p, .a = is_global ? bytes : distance, .b = is_global ? distance : bytes});
}

}  // namespace warpmeter::model
