// Video instructions on pairs and quadruples of small integers: vadd2, vabsdiff4, vset4, …
#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct VideoRow {
  Opcode opcode;
  VideoKind kind;
  bool by_four;
};
constexpr VideoRow rows_of_video[] = {
    {Opcode::vadd2, VideoKind::add, false},          {Opcode::vadd4, VideoKind::add, true},
    {Opcode::vsub2, VideoKind::sub, false},          {Opcode::vsub4, VideoKind::sub, true},
    {Opcode::vavrg2, VideoKind::average, false},     {Opcode::vavrg4, VideoKind::average, true},
    {Opcode::vabsdiff2, VideoKind::distance, false}, {Opcode::vabsdiff4, VideoKind::distance, true},
    {Opcode::vmin2, VideoKind::minimum, false},      {Opcode::vmin4, VideoKind::minimum, true},
    {Opcode::vmax2, VideoKind::maximum, false},      {Opcode::vmax4, VideoKind::maximum, true},
};

struct VideoComparison {
  Word word;
  VideoKind kind;
};
constexpr VideoComparison video_comparisons[] = {
    {Word::eq, VideoKind::eq}, {Word::ne, VideoKind::ne}, {Word::lt, VideoKind::lt},
    {Word::le, VideoKind::le}, {Word::gt, VideoKind::gt}, {Word::ge, VideoKind::ge},
};

}  // namespace

/// Masks and selections of parts (`.b3210`) are refused.
void Decoder::decode_video() {
  VideoKind kind = VideoKind::add;
  std::uint32_t how = instruction_->is(Opcode::vset4) ? video_by_four : 0;
  for (const VideoRow& row : rows_of_video) {
    if (!instruction_->is(row.opcode)) continue;
    kind = row.kind;
    if (row.by_four) how |= video_by_four;
  }
  const bool compares = instruction_->is(Opcode::vset2) || instruction_->is(Opcode::vset4);
  for (const VideoComparison& comparison : video_comparisons) {
    if (compares && has(comparison.word)) kind = comparison.kind;
  }
  if (has(Word::sat)) how |= video_saturates;
  if (has(Word::add)) how |= video_adds;
  // A comparison gives numbers without a sign.
  const auto types = instruction_->types();
  const std::size_t sources = compares ? 0 : 1;
  if (types.size() != sources + 2) refuse_form();
  if (!compares && types[0] == Type::s32) how |= video_d_signed;
  if (types[sources] == Type::s32) how |= video_a_signed;
  if (types[sources + 1] == Type::s32) how |= video_b_signed;
  how |= static_cast<std::uint32_t>(kind);
  expect_operands(4, 4);
  std::array<std::uint16_t, 3> rows{};
  for (std::size_t i = 0; i < 3; ++i) rows[i] = source(instruction_->operands[i + 1], RowType::u32);
  const std::uint16_t d = destination(instruction_->operands[0], RowType::u32);
  Operation& operation = emit(Code::video);
  operation.d = d;
  operation.a = rows[0];
  operation.b = rows[1];
  operation.c = rows[2];
  operation.imm = how;
}

}  // namespace warpmeter::model
