// SPDX-License-Identifier: MIT
#include "collector/model/machine/native/groups.h"

#include <algorithm>

#include "collector/model/machine/native/movement.h"

namespace warpmeter::model::native {

/// A group that further loads may belong to.
struct LoadGroups::Open {
  std::uint16_t row = 0;
  bool is_wide = false;
  AddressSpace space = AddressSpace::generic;
  std::uint8_t width = 0, alignment = 0;
  std::vector<std::size_t> operations;
  LoadGroup group;
};

LoadGroups::LoadGroups(const Program& program, const std::vector<Effect>& effects,
                       int pieces_of_unit)
    : places_(program.operations.size()) {
  std::vector<Open> open;
  const auto close_all = [&] {
    for (const Open& one : open) close(one);
    open.clear();
  };
  const std::vector<bool> begins = block_begins(program);
  const auto is_changed = [&](const Open& one, const Effect& effect) {
    const std::int32_t first = one.row * pieces_of_unit;
    const std::int32_t end = first + (one.is_wide ? 4 : 2) * pieces_of_unit;
    return std::any_of(effect.writes.begin(), effect.writes.end(),
                       [&](std::int32_t piece) { return piece >= first && piece < end; });
  };
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    if (begins[i]) close_all();
    // Whatever else is called may change rows, or never come back.
    if (!effects[i].is_inlined) {
      close_all();
      continue;
    }
    add(program, i, open);
    for (const Open& one : open) {
      if (is_changed(one, effects[i])) close(one);
    }
    std::erase_if(open, [&](const Open& one) { return is_changed(one, effects[i]); });
  }
  close_all();
}

void LoadGroups::close(const Open& one) {
  if (one.operations.size() < 2) return;
  const auto group = static_cast<std::uint32_t>(groups_.size());
  for (const std::size_t operation : one.operations) {
    places_[operation] = {group, operation == one.operations.front()};
  }
  groups_.push_back(one.group);
}

/// Shared and global memory alone, and plain loads of one number.
void LoadGroups::add(const Program& program, std::size_t operation, std::vector<Open>& open) const {
  const Operation& op = program.operations[operation];
  const Access access = access_of(op.code);
  if (access.row_bytes < 4 || access.stores || access.is_vector) return;
  const SiteInfo& info = program.sites[op.extra];
  const bool is_shared = info.space == AddressSpace::shared;
  if (!is_shared && (info.space != AddressSpace::global || !access.is_wide)) return;
  if (op.imm != static_cast<std::int32_t>(op.imm) || op.imm % info.alignment != 0) return;
  const auto known = std::find_if(open.begin(), open.end(), [&](const Open& one) {
    return one.row == op.a && one.is_wide == access.is_wide && one.space == info.space &&
           one.width == info.width && one.alignment == info.alignment;
  });
  Open& one = known != open.end() ? *known : open.emplace_back();
  if (one.operations.empty()) {
    one = {op.a, access.is_wide, info.space, info.width, info.alignment, {}, {}};
  }
  one.operations.push_back(operation);
  one.group.loads.push_back({op.extra, static_cast<std::int32_t>(op.imm)});
}

}  // namespace warpmeter::model::native
