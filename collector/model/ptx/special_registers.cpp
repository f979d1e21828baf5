// SPDX-License-Identifier: MIT
#include "collector/model/ptx/special_registers.h"

#include <cstddef>
#include <iterator>
#include <unordered_map>

namespace warpmeter::model::ptx {
namespace {

struct NamedRegister {
  std::string_view name;
  Same same;
  DecidedBy decided_by;
};
constexpr NamedRegister rows[] = {
#define SPECIAL(name, text, same, by) {text, Same::same, DecidedBy::by},
    WARPMETER_PTX_SPECIALS(SPECIAL)
#undef SPECIAL
};

}  // namespace

Special special_named(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, Special> all;
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      all.emplace(rows[i].name, static_cast<Special>(i));
    }
    all.emplace("%envreg1", Special::envreg_1);
    all.emplace("%envreg2", Special::envreg_2);
    return all;
  }();
  if (!name.starts_with('%')) return Special::none;
  if (const auto found = by_name.find(name); found != by_name.end()) return found->second;
  if (name.starts_with("%envreg")) return Special::envreg;
  return name.starts_with("%pm") ? Special::counter : Special::none;
}

Same same_in(Special special) {
  const auto index = static_cast<std::size_t>(special);
  return index < std::size(rows) ? rows[index].same : Same::thread;
}

DecidedBy decided_by(Special special) {
  if (special == Special::counter) return DecidedBy::clock;
  const auto index = static_cast<std::size_t>(special);
  return index < std::size(rows) ? rows[index].decided_by : DecidedBy::launch;
}

bool is_of_reserved_shared(Special special) {
  switch (special) {
    case Special::reserved_smem_offset_begin:
    case Special::reserved_smem_offset_end:
    case Special::reserved_smem_offset_cap:
    case Special::reserved_smem_offset_0:
    case Special::reserved_smem_offset_1:
      return true;
    default:
      return false;
  }
}

}  // namespace warpmeter::model::ptx
