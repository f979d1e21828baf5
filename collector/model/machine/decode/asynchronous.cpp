// SPDX-License-Identifier: MIT
// cp.async and barrier objects in shared memory (mbarrier).
//
// A copy is done at once, by way of scratch rows: whoever waits for it finds it done, so that
// groups of copies need not be kept.
#include <algorithm>
#include <iterator>

#include "collector/model/machine/decode/decoder.h"
#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model {

/// Whoever waits at the barrier object waits for the copies.
void Decoder::decode_copy_arrival() {
  note_copy(CopyInfo::Kind::hand_over);
  if (has(Word::noinc)) return decode_mbarrier();
  // Without noinc one more arrival is awaited, which is this one: nothing changes. The checker
  // reads from the operation which object it is.
  expect_operands(1, 1);
  const Target target = address(instruction_->operands[0], access_space());
  emit(Code::nothing, {.a = target.row, .f = target.is_wide, .imm = target.offset});
}

void Decoder::note_copy(CopyInfo::Kind kind, std::uint32_t groups) {
  program_.copies.push_back({ordinal_, kind, groups});
}

/// An access of `words` a lane between a place and scratch words that follow each other. The load
/// of the whole copy counts as one; the store does not, and neither do loads of single words.
void Decoder::emit_copy(bool is_load, const Target& place, std::uint16_t rows, unsigned first_word,
                        unsigned words, std::uint16_t guard, bool is_part) {
  SiteInfo info;
  info.kind = is_load ? AccessKind::load : AccessKind::store;
  info.space = place.space;
  info.width = info.alignment = static_cast<std::uint8_t>(4 * words);
  info.parts = static_cast<std::uint8_t>(words);
  info.row_bytes = 4;
  info.carrier = Carrier::copy;
  info.bypasses_l1 = has(Word::cg);
  info.is_apart = !is_load || is_part;
  const std::uint32_t site = add_site(info);
  const AccessCodes* const codes = is_load ? find_load(4, false, 4) : find_store(4, 4);
  const auto row = [&](unsigned word) {
    return static_cast<std::uint16_t>(rows + 2 * (first_word + word));
  };
  emit(codes->of(place.is_wide, words > 1), {.d = row(0),
                                             .a = place.row,
                                             .b = row(1),
                                             .c = row(2),
                                             .e = row(3),
                                             .f = static_cast<std::uint16_t>(words),
                                             .imm = place.offset + 4 * first_word,
                                             .extra = site})
      .guard = guard;
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes {, bytes of the source}.
void Decoder::decode_copy() {
  const auto& operands = instruction_->operands;
  const bool has_policy = has(Word::L2_cache_hint);
  expect_operands(has_policy ? 4 : 3, has_policy ? 5 : 4);
  if (operands[2].kind != Operand::Kind::integer ||
      (operands[2].bits != 4 && operands[2].bits != 8 && operands[2].bits != 16)) {
    refuse("copies another number of bytes than 4, 8 or 16");
  }
  note_copy(CopyInfo::Kind::start);
  const unsigned words = static_cast<unsigned>(operands[2].bits / 4);
  const Target to = address(operands[0], AddressSpace::shared);
  const Target from = address(operands[1], AddressSpace::global);
  const std::uint16_t rows = scratch_rows(4, 4);
  const bool has_size = operands.size() == (has_policy ? 5u : 4u);
  const auto whole = static_cast<std::uint32_t>(program_.sites.size());  // the site of its load
  if (!has_size) {
    emit_copy(true, from, rows, 0, words, guard_);
    emit_copy(false, to, rows, 0, words, guard_);
    return emit_count(to, from, whole, no_operand);
  }
  // Elements that the source does not have are zero. All of it is one access, a part of it one a
  // word, and of the last word the bytes that it has.
  const std::uint16_t zero = constant(0, 4);
  for (unsigned i = 0; i < words; ++i) {
    move_row(static_cast<std::uint16_t>(rows + 2 * i), zero, 4, false);
  }
  std::uint16_t bytes = zero;
  bool is_whole_words = operands[3].kind == Operand::Kind::integer && operands[3].bits % 4 == 0;
  if (operands[3].kind == Operand::Kind::name && predicate_index(operands[3].name)) {
    const std::uint16_t ignored = predicate_source(operands[3]);
    const std::uint16_t all = constant(operands[2].bits, 4);
    bytes = scratch(4);
    is_whole_words = true;  // all of it or none
    emit(Code::selp_b32, {.d = bytes, .a = zero, .b = all, .c = ignored}, false);
  } else {
    bytes = source(operands[3], RowType::u32);
  }
  const auto when = [&](Code code, std::uint64_t than) {
    const std::uint16_t limit = constant(than, 4), result = scratch_predicate();
    emit(code, {.d = result, .a = limit, .b = bytes}, false);
    if (guard_ != no_guard) {
      emit(Code::and_pred, {.d = result, .a = static_cast<std::uint16_t>(2 * result), .b = guard_},
           false);
    }
    return static_cast<std::uint16_t>(2 * result);
  };
  const std::uint16_t full = when(Code::le_u32, operands[2].bits);
  emit_copy(true, from, rows, 0, words, full);
  program_.sites.back().may_fall_short = true;
  std::uint16_t bits = zero;
  if (!is_whole_words) {
    bits = scratch(4);
    emit(Code::shl_b32, {.d = bits, .a = bytes, .b = constant(3, 4)}, false);
  }
  for (unsigned i = 0; i + (is_whole_words ? 1 : 0) < words; ++i) {
    const std::uint16_t some = when(Code::lt_u32, 4 * i);
    emit(Code::and_pred,
         {.d = static_cast<std::uint16_t>(some / 2),
          .a = some,
          .b = static_cast<std::uint16_t>(full ^ 1)},
         false);
    emit_copy(true, from, rows, i, 1, some, true);
    if (is_whole_words) continue;
    // A field of more than 32 bits is the word, and so is one of less than none: it is zero.
    std::uint16_t length = bits;
    if (i > 0) {
      length = scratch(4);
      emit(Code::sub_u32, {.d = length, .a = bits, .b = constant(32 * i, 4)}, false);
    }
    const auto row = static_cast<std::uint16_t>(rows + 2 * i);
    emit(Code::bfe_u32, {.d = row, .a = row, .b = zero, .c = length}, false);
  }
  emit_copy(false, to, rows, 0, words, guard_);
  program_.sites.back().may_fall_short = true;
  emit_count(to, from, whole, bytes);
}

/// Behind the store of a copy: what both sides cost together.
void Decoder::emit_count(const Target& to, const Target& from, std::uint32_t load,
                         std::uint16_t bytes) {
  const auto store = static_cast<std::uint32_t>(program_.sites.size() - 1);
  program_.async_copies.push_back(
      {{store, to.offset, to.is_wide}, {load, from.offset, from.is_wide}});
  const auto number = static_cast<std::int64_t>(program_.async_copies.size() - 1);
  emit(Code::count_copy, {.a = to.row, .b = from.row, .c = bytes, .imm = number});
}

/// The arrivals that a state says are still to come.
void Decoder::decode_pending_count() {
  expect_operands(2, 2);
  const std::uint16_t state = source(instruction_->operands[1], RowType::u64);
  const std::uint16_t mask = constant(mbarrier_count_mask, 8), count = scratch(8);
  const std::uint16_t d = destination(instruction_->operands[0], RowType::u32);
  emit(Code::and_b64, {.d = count, .a = state, .b = mask}, false);
  emit(Code::u32_from_u64, {.d = d, .a = count});
}

void Decoder::decode_mbarrier() {
  struct Name {
    Opcode opcode;
    MbarrierKind kind;
    std::size_t operands;  ///< at least, with the written one
    std::size_t most;
  };
  static constexpr Name names[] = {
      {Opcode::mbarrier_init, MbarrierKind::init, 2, 2},
      {Opcode::mbarrier_inval, MbarrierKind::invalidate, 1, 1},
      {Opcode::mbarrier_arrive_drop, MbarrierKind::arrive_drop, 2, 3},
      {Opcode::mbarrier_arrive, MbarrierKind::arrive, 2, 3},
      {Opcode::mbarrier_expect_tx, MbarrierKind::expect, 2, 2},
      {Opcode::mbarrier_complete_tx, MbarrierKind::complete, 2, 2},
      {Opcode::mbarrier_test_wait, MbarrierKind::wait, 3, 3},
      {Opcode::mbarrier_try_wait, MbarrierKind::wait, 3, 4},
      {Opcode::cp_async_mbarrier, MbarrierKind::arrive, 1, 1},
  };
  const auto* const name = std::find_if(std::begin(names), std::end(names), [&](const Name& known) {
    return instruction_->is(known.opcode);
  });
  if (name == std::end(names)) refuse_form();
  const bool writes = instruction_->row().effects.writes_first;  // a state or a predicate
  MbarrierKind kind = name->kind;
  if (kind == MbarrierKind::arrive && has(Word::expect_tx)) kind = MbarrierKind::arrive_expect;
  if (kind == MbarrierKind::arrive_drop && has(Word::expect_tx)) refuse_form();
  if (kind == MbarrierKind::wait && has(Word::parity)) kind = MbarrierKind::wait_parity;
  expect_operands(name->operands, name->most);
  const auto& operands = instruction_->operands;
  const std::size_t at = writes ? 1 : 0;
  const AddressSpace space = access_space();
  const Target target = address(operands[at], space);
  const bool waits = kind == MbarrierKind::wait || kind == MbarrierKind::wait_parity;
  const bool has_value = operands.size() > at + 1;
  const RowType value_type = kind == MbarrierKind::wait ? RowType::u64 : RowType::u32;
  const std::uint16_t value = has_value ? source(operands[at + 1], value_type) : constant(1, 4);
  std::uint16_t d = no_operand;
  if (waits) {
    d = predicate_destination(operands[0]);
  } else if (writes && operands[0].name != "_") {
    d = destination(operands[0], RowType::u64);
  }
  emit_mbarrier(kind, target, value, d);
  if (waits && is_answer_ignored()) program_.ignored_waits.push_back(ordinal_);
}

/// True if registers alone are computed of what the instruction writes, and nothing of those.
bool Decoder::is_answer_ignored() const {
  const ptx::DataFlow& data = instance_->analysis->data;
  const std::vector<ptx::Instruction>& body = instance_->function->body;
  std::vector<bool> is_answer(data.registers().size(), false);
  for (const ptx::RegisterId written : data.writes(index_)) is_answer[written] = true;
  for (bool has_grown = true; std::exchange(has_grown, false);) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const auto reads = data.reads(i);
      const bool uses = std::any_of(reads.begin(), reads.end(),
                                    [&](ptx::RegisterId read) { return is_answer[read]; });
      if (!uses || i == index_) continue;
      if (!ptx::computes(body[i].row())) return false;
      for (const ptx::RegisterId written : data.writes(i)) {
        has_grown |= !is_answer[written];
        is_answer[written] = true;
      }
    }
  }
  return true;
}

void Decoder::emit_mbarrier(MbarrierKind kind, const Target& target, std::uint16_t value,
                            std::uint16_t d) {
  SiteInfo info;
  program_.has_releases = true;  // barrier objects order accesses as fences do
  // Another block's object is named by these words, or counts the bytes that it gets.
  program_.names_cluster_scope |=
      kind == MbarrierKind::complete || has(Word::cluster) || has(Word::shared_cluster);
  info.kind = AccessKind::atomic;
  info.space = target.space;
  info.width = info.alignment = 8;
  info.is_apart = true;
  const std::uint32_t site = add_site(info);
  const bool waits = kind == MbarrierKind::wait || kind == MbarrierKind::wait_parity;
  if (waits) program_.object_waits.push_back(ordinal_);
  emit(waits ? Code::mbarrier_wait : Code::mbarrier, {.d = d,
                                                      .a = target.row,
                                                      .b = value,
                                                      .c = static_cast<std::uint16_t>(kind),
                                                      .f = target.is_wide,
                                                      .imm = target.offset,
                                                      .extra = site});
}

}  // namespace warpmeter::model
