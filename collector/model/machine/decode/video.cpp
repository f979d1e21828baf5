// SPDX-License-Identifier: MIT
// Video instructions: on pairs and quadruples of small integers (vadd2, vabsdiff4, vset4, …), and
// on single ones, which may be parts of registers (vadd, vmad, vset, …).
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct VideoRow {
  Opcode opcode;
  VideoKind kind;
  unsigned at_once;
};
constexpr VideoRow rows_of_video[] = {
    {Opcode::vadd, VideoKind::add, 1},
    {Opcode::vadd2, VideoKind::add, 2},
    {Opcode::vadd4, VideoKind::add, 4},
    {Opcode::vsub, VideoKind::sub, 1},
    {Opcode::vsub2, VideoKind::sub, 2},
    {Opcode::vsub4, VideoKind::sub, 4},
    {Opcode::vavrg2, VideoKind::average, 2},
    {Opcode::vavrg4, VideoKind::average, 4},
    {Opcode::vabsdiff, VideoKind::distance, 1},
    {Opcode::vabsdiff2, VideoKind::distance, 2},
    {Opcode::vabsdiff4, VideoKind::distance, 4},
    {Opcode::vmin, VideoKind::minimum, 1},
    {Opcode::vmin2, VideoKind::minimum, 2},
    {Opcode::vmin4, VideoKind::minimum, 4},
    {Opcode::vmax, VideoKind::maximum, 1},
    {Opcode::vmax2, VideoKind::maximum, 2},
    {Opcode::vmax4, VideoKind::maximum, 4},
    {Opcode::vshl, VideoKind::shift_left, 1},
    {Opcode::vshr, VideoKind::shift_right, 1},
    {Opcode::vmad, VideoKind::product, 1},
    {Opcode::vset, VideoKind::eq, 1},
    {Opcode::vset2, VideoKind::eq, 2},
    {Opcode::vset4, VideoKind::eq, 4},
};

struct VideoComparison {
  Word word;
  VideoKind kind;
};
constexpr VideoComparison video_comparisons[] = {
    {Word::eq, VideoKind::eq}, {Word::ne, VideoKind::ne}, {Word::lt, VideoKind::lt},
    {Word::le, VideoKind::le}, {Word::gt, VideoKind::gt}, {Word::ge, VideoKind::ge},
};

/// The part behind the name, .b2, of one number; nothing for what is no part of a register.
std::optional<VideoPart> part_of(std::string_view selector) {
  if (selector.empty()) return VideoPart::whole;
  if (selector.size() != 2) return std::nullopt;
  const int at = selector[1] - '0';
  const bool is_byte = selector[0] == 'b';
  if (at >= (is_byte ? 4 : 2)) return std::nullopt;
  return static_cast<VideoPart>(static_cast<int>(is_byte ? VideoPart::b0 : VideoPart::h0) + at);
}

/// The parts that .h31 or .b7250 names, three bits each, the last first; without a selector those
/// from `first` on.
std::optional<std::uint64_t> parts_of(std::string_view selector, unsigned count, unsigned first) {
  std::uint64_t parts = 0;
  if (selector.empty()) {
    for (unsigned i = 0; i < count; ++i) parts |= std::uint64_t{first + i} << 3 * i;
    return parts;
  }
  if (selector[0] != (count == 2 ? 'h' : 'b') || selector.size() != count + 1) return std::nullopt;
  for (const char digit : selector.substr(1)) {
    const auto part = static_cast<unsigned>(digit - '0');
    if (part >= 2 * count) return std::nullopt;
    parts = parts << 3 | part;
  }
  return parts;
}

/// The parts of the result that .h1 or .b310 names, a bit each: in falling order.
std::optional<std::uint64_t> written_parts(std::string_view selector, unsigned count) {
  if (selector.empty()) return (1u << count) - 1;
  if (selector[0] != (count == 2 ? 'h' : 'b')) return std::nullopt;
  std::uint64_t written = 0;
  unsigned last = count;
  for (const char digit : selector.substr(1)) {
    const auto part = static_cast<unsigned>(digit - '0');
    if (part >= last) return std::nullopt;
    written |= std::uint64_t{1} << part;
    last = part;
  }
  return written;
}

/// The register or number without what only video instructions have.
ptx::Operand plain(ptx::Operand operand) {
  operand.selector = {};
  operand.negated = false;
  return operand;
}

}  // namespace

void Decoder::decode_video() {
  VideoKind kind = VideoKind::add;
  unsigned at_once = 1;
  for (const VideoRow& row : rows_of_video) {
    if (!instruction_->is(row.opcode)) continue;
    kind = row.kind;
    at_once = row.at_once;
  }
  const bool compares = kind == VideoKind::eq;
  for (const VideoComparison& comparison : video_comparisons) {
    if (compares && has(comparison.word)) kind = comparison.kind;
  }
  std::uint64_t how = static_cast<std::uint64_t>(kind);
  if (at_once == 4) how |= video_by_four;
  if (has(Word::sat)) how |= video_saturates;
  if (has(Word::add)) how |= video_adds;
  if (has(Word::wrap)) how |= video_wraps;
  // A comparison gives numbers without a sign; beside a third number vset's has its first type.
  const auto types = instruction_->types();
  const std::size_t sources = compares ? 0 : 1;
  if (types.size() != sources + 2) refuse_form();
  if ((!compares || at_once == 1) && types[0] == Type::s32) how |= video_d_signed;
  if (types[sources] == Type::s32) how |= video_a_signed;
  if (types[sources + 1] == Type::s32) how |= video_b_signed;
  const auto& operands = instruction_->operands;
  how |= at_once == 1 ? parts_of_number(kind) : parts_of_numbers(at_once);
  std::array<std::uint16_t, 3> rows{};
  for (std::size_t i = 0; i < 3; ++i) {
    rows[i] =
        i + 1 < operands.size() ? source(plain(operands[i + 1]), RowType::u32) : constant(0, 4);
  }
  const std::uint16_t d = destination(plain(operands[0]), RowType::u32);
  emit(at_once == 1 ? Code::video_number : Code::video,
       {.d = d, .a = rows[0], .b = rows[1], .c = rows[2], .imm = static_cast<std::int64_t>(how)});
}

/// vadd4.u32.u32.u32 d.b310, a.b7531, b, c.
std::uint64_t Decoder::parts_of_numbers(unsigned at_once) const {
  expect_operands(4, 4);
  const auto& operands = instruction_->operands;
  const auto a = parts_of(operands[1].selector, at_once, 0);
  const auto b = parts_of(operands[2].selector, at_once, at_once);
  const auto written = written_parts(operands[0].selector, at_once);
  if (!a || !b || !written || !operands[3].selector.empty()) refuse_form_of_operand();
  for (const Operand& operand : operands) {
    if (operand.negated) refuse_form_of_operand();
  }
  return *a << video_parts_of_a | *b << video_parts_of_b | *written << video_written;
}

/// vadd.s32.u32.s32.sat d.h1, a.b0, b, c; vmad.s32.u32.u32.shr7 d, -a.h0, b, c.
std::uint64_t Decoder::parts_of_number(VideoKind kind) const {
  const bool is_product = kind == VideoKind::product;
  const VideoSecond second = has(Word::add)   ? VideoSecond::add
                             : has(Word::min) ? VideoSecond::minimum
                             : has(Word::max) ? VideoSecond::maximum
                                              : VideoSecond::none;
  const auto& operands = instruction_->operands;
  expect_operands(is_product ? 4 : 3, 4);
  const auto d = part_of(operands[0].selector), a = part_of(operands[1].selector),
             b = part_of(operands[2].selector);
  const bool has_third = operands.size() == 4;
  if (!d || !a || !b || (has_third && !operands[3].selector.empty())) refuse_form_of_operand();
  const bool takes_third = is_product || *d != VideoPart::whole || second != VideoSecond::none;
  if (takes_third && !has_third) refuse("has no third source");
  if (*d != VideoPart::whole && (is_product || second != VideoSecond::none)) {
    refuse_form_of_operand();
  }
  std::uint64_t how = static_cast<std::uint64_t>(*a) << video_part_of_a |
                      static_cast<std::uint64_t>(*b) << video_part_of_b |
                      static_cast<std::uint64_t>(*d) << video_part_of_d |
                      static_cast<std::uint64_t>(second) << video_second;
  const bool negates = operands[1].negated != operands[2].negated;
  const bool negates_third = has_third && operands[3].negated;
  const bool is_negative = operands[1].negated || operands[2].negated || negates_third;
  if (is_negative && (!is_product || has(Word::po) || (negates && negates_third))) {
    refuse_form_of_operand();
  }
  if (has(Word::po)) how |= video_adds_one;
  if (negates) how |= video_negates_product;
  if (negates_third) how |= video_negates_sum;
  const std::uint64_t shift = has(Word::shr7) ? 7 : has(Word::shr15) ? 15 : 0;
  return how | shift << video_shift;
}

}  // namespace warpmeter::model
