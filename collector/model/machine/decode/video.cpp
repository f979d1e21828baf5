// Video instructions on pairs and quadruples of small integers: vadd2, vabsdiff4, vset4, …
#include <algorithm>

#include "collector/model/machine/decode/decoder.h"

namespace warpmeter::model {
namespace {

struct VideoName {
  std::string_view name;
  VideoKind kind;
};
constexpr VideoName operations[] = {
    {"vadd", VideoKind::add},          {"vsub", VideoKind::sub},     {"vavrg", VideoKind::average},
    {"vabsdiff", VideoKind::distance}, {"vmin", VideoKind::minimum}, {"vmax", VideoKind::maximum},
};
constexpr VideoName video_comparisons[] = {
    {"eq", VideoKind::eq}, {"ne", VideoKind::ne}, {"lt", VideoKind::lt},
    {"le", VideoKind::le}, {"gt", VideoKind::gt}, {"ge", VideoKind::ge},
};

template <std::size_t n>
const VideoName* find(const VideoName (&known_names)[n], std::string_view name) {
  const auto* const found = std::find_if(
      known_names, known_names + n, [&](const VideoName& known) { return known.name == name; });
  return found == known_names + n ? nullptr : found;
}

}  // namespace

/// False for anything else. Masks and selections of parts (`.b3210`) are refused.
bool Decoder::decode_video() {
  const std::string_view opcode = instruction_->opcode;
  if (opcode.size() < 5 || (opcode.back() != '2' && opcode.back() != '4')) return false;
  const std::string_view name = opcode.substr(0, opcode.size() - 1);
  const VideoName* kind = find(operations, name);
  const bool compares = name == "vset";
  if (kind == nullptr && !compares) return false;
  std::vector<std::string_view> types;
  std::uint32_t how = opcode.back() == '4' ? video_by_four : 0;
  for (const std::string_view modifier : instruction_->modifiers) {
    if (modifier == "u32" || modifier == "s32") {
      types.push_back(modifier);
    } else if (modifier == "sat") {
      how |= video_saturates;
    } else if (modifier == "add") {
      how |= video_adds;
    } else if (compares && find(video_comparisons, modifier) != nullptr) {
      kind = find(video_comparisons, modifier);
    } else {
      refuse_opcode();
    }
  }
  if (kind == nullptr || types.size() != (compares ? 2 : 3)) refuse_opcode();
  if (compares) types.insert(types.begin(), "u32");
  if (types[0] == "s32") how |= video_d_signed;
  if (types[1] == "s32") how |= video_a_signed;
  if (types[2] == "s32") how |= video_b_signed;
  how |= static_cast<std::uint32_t>(kind->kind);
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
  return true;
}

}  // namespace warpmeter::model
