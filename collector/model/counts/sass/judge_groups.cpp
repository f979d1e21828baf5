// SPDX-License-Identifier: MIT
// Accesses that ptxas merged: which of them one wide machine access does.
#include <algorithm>
#include <utility>

#include "collector/model/counts/sass/judge.h"

namespace warpmeter::model::sass {

void Judge::share_out() {
  std::map<GroupKey, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < found_.size(); ++i) groups[function_.group_of(i)].push_back(i);
  for (const auto& [key, members] : groups) {
    for (const std::size_t i : members) {
      const Machine machine = found_[i];
      const bool is_candidate = machine.size() > 1 && machine.size() <= 16 &&
                                have_width(machine, function_.accesses()[i].width);
      if (!is_candidate) continue;
      for (const MachineAccess* own : machine) {
        if (give_to_neighbours(members, i, *own, machine)) break;
      }
    }
  }
}

bool Judge::give_to_neighbours(const std::vector<std::size_t>& members, std::size_t i,
                               const MachineAccess& own, const Machine& machine) {
  std::map<std::size_t, Machine> shares;
  for (const MachineAccess* other : machine) {
    const std::int64_t distance = other->instruction.offset - own.instruction.offset;
    const auto heir = std::find_if(members.begin(), members.end(), [&](std::size_t m) {
      return (m == i || found_[m].empty()) &&
             function_.accesses()[m].offset - function_.accesses()[i].offset == distance;
    });
    const bool is_near =
        other->block == own.block && other->instruction.base == own.instruction.base;
    if (is_near && heir != members.end()) shares[*heir].push_back(other);
  }
  if (shares.size() != machine.size()) return false;
  for (auto& [heir, share] : shares) found_[heir] = std::move(share);
  return true;
}

void Judge::judge_groups() {
  std::map<GroupKey, std::vector<std::size_t>> near, far;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!is_open(i)) continue;
    GroupKey key = function_.group_of(i);
    near[key].push_back(i);
  }
  for (auto& [key, members] : near) judge_group(members);
  for (auto& [key, members] : near) {
    GroupKey whole_block = key;
    whole_block.root = 0;
    for (const std::size_t i : members) {
      if (is_open(i) && !needs_none(i)) far[whole_block].push_back(i);
    }
  }
  for (auto& [key, members] : far) judge_by_number(members);
  judge_across();
}

bool Judge::leads(const Machine& machine, unsigned width) {
  return !machine.empty() && machine[0]->instruction.width > width;
}

unsigned Judge::width_of_leader(std::size_t i) const {
  const Machine& machine = found_[i];
  const unsigned width = function_.accesses()[i].width;
  return leads(machine, width) && have_width(machine, machine[0]->instruction.width)
             ? machine[0]->instruction.width
             : 0;
}

void Judge::judge_group(const std::vector<std::size_t>& members) {
  for (std::int64_t alignment = 0; alignment < 32; ++alignment) {
    if (fits(members, alignment)) return settle_group(members);
  }
}

bool Judge::fits(const std::vector<std::size_t>& members, std::int64_t alignment) const {
  const auto share_window = [&](std::size_t leader, std::size_t i) {
    const unsigned width = width_of_leader(leader);
    const auto window = [&](std::size_t access) {
      const std::int64_t at = function_.accesses()[access].offset + alignment;
      return at - ((at % width) + width) % width;
    };
    return width != 0 && window(leader) == window(i);
  };
  bool leads_any = false;
  for (const std::size_t i : members) {
    if (found_[i].empty()) {
      const bool is_in_window = std::any_of(members.begin(), members.end(),
                                            [&](std::size_t l) { return share_window(l, i); });
      if (!is_in_window && !needs_none(i)) return false;
      continue;
    }
    if (width_of_leader(i) == 0) return false;
    leads_any = true;
    // A leader alone was merged with something else: other rounds of a loop, other blocks.
    const bool is_alone = std::none_of(members.begin(), members.end(), [&](std::size_t other) {
      return found_[other].empty() && share_window(i, other);
    });
    if (is_alone) return false;
  }
  return leads_any;
}

void Judge::judge_across() {
  std::map<GroupKey, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const PtxAccess& access = function_.accesses()[i];
    GroupKey key = function_.group_of(i);
    if (!is_open(i) || access.kind != AccessKind::load || !access.is_lasting) continue;
    if (found_[i].empty() && needs_none(i)) continue;
    key.block = 0;
    groups[key].push_back(i);
  }
  for (const auto& group : groups) {
    const std::vector<std::size_t>& members = group.second;
    const bool in_order = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
      return found_[i].empty() || std::all_of(members.begin(), members.end(), [&](std::size_t m) {
               return function_.graph().dominates(function_.block_of(i), function_.block_of(m)) &&
                      function_.graph().depth(function_.block_of(i)) ==
                          function_.graph().depth(function_.block_of(m));
             });
    });
    if (in_order) judge_group(members);
  }
}

void Judge::judge_by_number(const std::vector<std::size_t>& members) {
  std::size_t room = 0;
  for (const std::size_t i : members) {
    if (found_[i].empty()) continue;
    if (width_of_leader(i) == 0) return;
    room += width_of_leader(i) / function_.accesses()[i].width;
  }
  if (room == members.size()) settle_group(members);
}

void Judge::settle_group(const std::vector<std::size_t>& members) {
  for (const std::size_t i : members) {
    verdicts_[i].requests.emplace();
    if (found_[i].empty()) continue;
    verdicts_[i].requests->push_back(
        {0, static_cast<std::uint8_t>(width_of_leader(i)), true, false});
  }
}

}  // namespace warpmeter::model::sass
