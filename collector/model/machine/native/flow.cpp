#include "collector/model/machine/native/flow.h"

#include <algorithm>

namespace warpmeter::model::native {
namespace {

/// Of programs that would take more, all is taken to be read.
constexpr std::size_t most_words = std::size_t{1} << 22;

}  // namespace

Flow flow_of(Code code) {
  switch (code) {
    case Code::branch:
      return Flow::branch;
    case Code::branch_if:
      return Flow::branch_if;
    case Code::branch_out:
      return Flow::branch_out;
    case Code::gather:
      return Flow::gather;
    case Code::join:
      return Flow::join;
    case Code::leave:
    case Code::barrier:
    case Code::trap:
    case Code::call:
    case Code::call_indirect:
    case Code::print:
    case Code::assertion:
    case Code::allocate:
    case Code::deallocate:
    case Code::mbarrier:
    case Code::mbarrier_wait:
      return Flow::interpreted;
    default:
      return Flow::on;
  }
}

Liveness::Liveness(const Program& program, const std::vector<Effect>& effects)
    : words_(program.row_units / 64 + 1),
      always_(words_ * 64),
      leads_anywhere_(program.operations.size() + 1) {
  const std::size_t count = program.operations.size();
  if ((count + 1) * words_ > most_words) return;
  is_known_ = true;
  live_.resize((count + 1) * words_);
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& op = program.operations[i];
    const Flow flow = flow_of(op.code);
    if (flow == Flow::on ? !effects[i].is_inlined : flow == Flow::interpreted) note_interpreted(op);
    leads_anywhere_[i] =
        flow == Flow::interpreted && op.code != Code::leave && op.code != Code::barrier;
  }
  leads_anywhere_[count] = true;
  for (const FunctionCode& function : program.functions) {
    if (function.end <= count) leads_anywhere_[function.end] = true;
  }
  for (std::size_t i = 0; i <= count; ++i) {
    if (!leads_anywhere_[i]) continue;
    std::fill_n(live_.begin() + static_cast<std::ptrdiff_t>(i * words_), words_, ~std::uint64_t{0});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = count; i-- > 0;) changed |= update(program, effects, i);
  }
}

/// Whatever its operands are: rows of numbers of up to 128 bits, or several rows one after another.
void Liveness::note_interpreted(const Operation& op) {
  constexpr std::size_t widest = 8, most_rows = 64;
  const std::size_t rows = op.f >= 1 && op.f <= most_rows ? op.f : 1;
  for (const std::uint16_t first : {op.d, op.a, op.b, op.c, op.e, op.f}) {
    const std::size_t end = std::min(first + widest * rows, always_.size());
    for (std::size_t unit = first; unit < end; ++unit) always_[unit] = true;
  }
}

bool Liveness::update(const Program& program, const std::vector<Effect>& effects,
                      std::size_t operation) {
  if (leads_anywhere_[operation]) return false;
  const Operation& op = program.operations[operation];
  const Flow flow = flow_of(op.code);
  const bool branches = flow == Flow::branch || flow == Flow::branch_if || flow == Flow::branch_out;
  std::vector<std::uint64_t> live(words_);
  const auto add = [&](std::size_t successor) {
    for (std::size_t i = 0; i < words_; ++i) live[i] |= word(successor, i);
  };
  if (flow != Flow::branch) add(operation + 1);
  if (branches) add(op.extra);
  if ((branches || flow == Flow::gather) && op.imm >= 0) add(static_cast<std::size_t>(op.imm));
  const auto bit = [](std::int32_t unit) { return std::uint64_t{1} << unit % 64; };
  for (const std::int32_t unit : effects[operation].writes) {
    live[static_cast<std::size_t>(unit) / 64] &= ~bit(unit);
  }
  for (const std::int32_t unit : effects[operation].reads) {
    live[static_cast<std::size_t>(unit) / 64] |= bit(unit);
  }
  const auto mine = live_.begin() + static_cast<std::ptrdiff_t>(operation * words_);
  if (std::equal(live.begin(), live.end(), mine)) return false;
  std::copy(live.begin(), live.end(), mine);
  return true;
}

}  // namespace warpmeter::model::native
