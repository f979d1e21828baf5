// SPDX-License-Identifier: MIT
#include "collector/model/machine/native/code.h"

#include <algorithm>

namespace warpmeter::model {

const NativeCode* NativeSlot::get(const Program& program, const Unit& unit,
                                  std::span<const std::uint8_t> watched) const {
  const std::lock_guard alone(state_->mutex);
  std::vector<OfUnit>& units = state_->units;
  const auto known = std::find_if(units.begin(), units.end(), [&](const OfUnit& one) {
    return one.unit == unit.run &&
           std::equal(one.watched.begin(), one.watched.end(), watched.begin(), watched.end());
  });
  if (known != units.end()) return known->code.get();
  units.push_back({unit.run, {watched.begin(), watched.end()}, translate(program, unit, watched)});
  return units.back().code.get();
}

#if !defined(WARPMETER_X86_UNITS)
std::unique_ptr<NativeCode> translate(const Program&, const Unit&, std::span<const std::uint8_t>) {
  return nullptr;
}
#endif

}  // namespace warpmeter::model
