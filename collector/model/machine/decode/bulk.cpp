// SPDX-License-Identifier: MIT
// cp.async.bulk, cp.async.bulk.tensor and their like, and the stores and reductions whose bytes a
// barrier object counts.
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {

BulkCopy::Place Decoder::bulk_place(const Operand& operand, const SiteInfo& info,
                                    std::uint16_t& row) {
  const Target target = address(operand, info.space);
  row = target.row;
  SiteInfo site = info;
  site.is_apart = site.is_bulk = true;
  return {add_site(site), target.offset, target.is_wide};
}

/// [to], [from], bytes {, [barrier object] {, blocks}} {, policy}; to fetch early: [from], bytes.
void Decoder::decode_bulk_copy() {
  const bool fetches = instruction_->is(Opcode::cp_async_bulk_prefetch);
  const bool reduces = instruction_->is(Opcode::cp_reduce_async_bulk);
  const bool counts = has(Word::counts_bytes), casts = has(Word::multicast);
  const auto& operands = instruction_->operands;
  const std::size_t count = (fetches ? 2u : 3u) + (counts ? 1u : 0u) + (casts ? 1u : 0u) +
                            (has(Word::L2_cache_hint) ? 1u : 0u);
  expect_operands(count, count);
  const bool to_global = has(Word::bulk_group);
  BulkCopy copy;
  SiteInfo from, to, object;
  from.kind = AccessKind::load;
  from.space = to_global || !has(Word::global) ? AddressSpace::shared : AddressSpace::global;
  to.kind = AccessKind::store;
  to.space = to_global ? AddressSpace::global : AddressSpace::shared;
  if (reduces) {
    const AtomicForm form = atomic_form();
    copy.kind = BulkCopy::Kind::reduce;
    copy.atomic = static_cast<std::uint16_t>(form.code() | atomic_keeps_subnormals);
    copy.element = static_cast<std::uint8_t>(bytes_of(form.row));
    copy.elements_row = scratch(copy.element);
    to.kind = AccessKind::reduction;
    program_.blocks_communicate |= to_global;
  }
  from.carrier = to.carrier = Carrier::bulk;
  from.width = from.alignment = to.width = to.alignment = copy.element;
  object.kind = AccessKind::atomic;
  object.space = AddressSpace::shared;
  object.width = object.alignment = 8;
  std::uint16_t to_row = no_operand, from_row = no_operand, object_row = no_operand,
                blocks_row = no_operand;
  std::size_t next = 0;
  if (!fetches) copy.to = bulk_place(operands[next++], to, to_row);
  copy.from = bulk_place(operands[next++], from, from_row);
  const std::uint16_t bytes = source(operands[next++], RowType::u32);
  if (counts) {
    program_.has_releases = true;
    copy.bytes_row = scratch(4);
    copy.object = bulk_place(operands[next++], object, object_row);
  }
  if (casts) {
    blocks_row = source(operands[next++], RowType::u16);
    copy.rank_row = special(Special::cluster_ctarank);
  }
  if (fetches) copy.kind = BulkCopy::Kind::prefetch;
  program_.bulk_copies.push_back(copy);
  emit(Code::bulk_copy, {.d = object_row,
                         .a = to_row,
                         .b = from_row,
                         .c = bytes,
                         .e = blocks_row,
                         .f = 1,
                         .imm = static_cast<std::int64_t>(program_.bulk_copies.size() - 1)});
}

/// Sites of elements of 1, 2, 4, 8 and 16 bytes; the first.
std::uint32_t Decoder::box_sites(SiteInfo info) {
  const auto first = static_cast<std::uint32_t>(program_.sites.size());
  info.is_apart = info.is_bulk = true;
  for (std::uint8_t width = 1; width <= box_chunk; width = static_cast<std::uint8_t>(width * 2)) {
    info.width = info.alignment = width;
    add_site(info);
  }
  return first;
}

/// [shared], [descriptor, {corner}], [barrier object] {, blocks} {, policy};
/// [descriptor, {corner}], [shared] {, policy}; to fetch early: [descriptor, {corner}] {, policy}.
void Decoder::decode_box_copy() {
  const bool fetches = instruction_->is(Opcode::cp_async_bulk_prefetch_tensor);
  const bool reduces = instruction_->is(Opcode::cp_reduce_async_bulk_tensor);
  const bool stores = has(Word::bulk_group), casts = has(Word::multicast);
  const auto& operands = instruction_->operands;
  const std::size_t count = (fetches  ? 1u
                             : stores ? 2u
                                      : 3u) +
                            (casts ? 1u : 0u) + (has(Word::L2_cache_hint) ? 1u : 0u);
  expect_operands(count, count);
  BulkCopy copy;
  copy.is_store = stores;
  copy.rank = static_cast<std::uint8_t>(has(Word::d1)   ? 1
                                        : has(Word::d2) ? 2
                                        : has(Word::d3) ? 3
                                        : has(Word::d4) ? 4
                                                        : 5);
  SiteInfo far, near, object;
  far.space = AddressSpace::global;
  near.space = AddressSpace::shared;
  far.kind = reduces ? AccessKind::reduction : stores ? AccessKind::store : AccessKind::load;
  near.kind = stores ? AccessKind::load : AccessKind::store;
  far.carrier = near.carrier = Carrier::bulk;
  if (reduces) {
    copy.kind = BulkCopy::Kind::reduce;
    copy.atomic = static_cast<std::uint16_t>(atomic_kind());
    copy.elements_row = scratch(8);
    program_.blocks_communicate = true;
  }
  const Operand& described = operands[fetches || stores ? 0 : 1];
  const bool has_corner = described.kind == Operand::Kind::address && described.parts.size() == 1 &&
                          described.parts[0].parts.size() == copy.rank;
  if (!has_corner) refuse("has another number of coordinates than it says");
  for (std::size_t axis = 0; axis < copy.rank; ++axis) {
    copy.corner_rows[axis] = source(described.parts[0].parts[axis], RowType::s32);
  }
  const Target descriptor = address(described, AddressSpace::generic);
  const BulkCopy::Place far_place{box_sites(far), descriptor.offset, descriptor.is_wide};
  std::uint16_t near_row = no_operand, object_row = no_operand, blocks_row = no_operand;
  BulkCopy::Place near_place;
  if (!fetches) {
    const Target target = address(operands[stores ? 1 : 0], AddressSpace::shared);
    near_row = target.row;
    near_place = {box_sites(near), target.offset, target.is_wide};
  }
  if (!fetches && !stores) {
    object.kind = AccessKind::atomic;
    object.space = AddressSpace::shared;
    object.width = object.alignment = 8;
    program_.has_releases = true;
    copy.bytes_row = scratch(4);
    copy.object = bulk_place(operands[2], object, object_row);
  }
  if (casts) {
    blocks_row = source(operands[3], RowType::u16);
    copy.rank_row = special(Special::cluster_ctarank);
  }
  if (fetches) copy.kind = BulkCopy::Kind::prefetch;
  copy.to = stores ? far_place : near_place;
  copy.from = stores ? near_place : far_place;
  program_.bulk_copies.push_back(copy);
  emit(Code::bulk_copy, {.d = object_row,
                         .a = stores ? descriptor.row : near_row,
                         .b = stores ? near_row : descriptor.row,
                         .c = no_operand,
                         .e = blocks_row,
                         .f = 1,
                         .imm = static_cast<std::int64_t>(program_.bulk_copies.size() - 1)});
}

/// The last operand is a barrier object: so many bytes of its phase have come.
void Decoder::count_bytes() {
  program_.sites.back().is_apart = true;
  program_.sites.back().carrier = Carrier::counted;
  const std::uint32_t bytes = program_.sites.back().width;
  emit_mbarrier(MbarrierKind::complete,
                address(instruction_->operands.back(), AddressSpace::shared), constant(bytes, 4),
                no_operand);
}

void Decoder::decode_counted_store() {
  expect_operands(3, 3);
  decode_load_store(false);
  count_bytes();
}

void Decoder::decode_counted_reduction() {
  decode_atomic(false);
  count_bytes();
}

}  // namespace warpmeter::model
