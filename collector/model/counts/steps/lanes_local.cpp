// SPDX-License-Identifier: MIT
// Local memory of the threads of a warp, as far as it is known.
#include <algorithm>

#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {

namespace {

/// Words of local memory that a warp remembers; beyond them nothing is known.
constexpr std::size_t most_words = 4096;

}  // namespace

void WarpRegisters::forget_local(Lanes lanes) {
  if (lanes == all_lanes) return local_.clear();
  for (auto& [address, word] : local_) {
    for (Lanes& known : word.known) known &= ~lanes;
  }
}

void WarpRegisters::execute_local_load(const Operation& operation, Lanes active) {
  const Fetched address = fetch(operation.a);
  const unsigned bytes = sass::access_bytes[operation.amount], width = std::min(bytes, 4U);
  for (unsigned i = 0; i < operation.result_registers; ++i) {
    Lanes known = 0;
    const Row result = each_lane([&](unsigned lane) -> std::uint32_t {
      if ((address.known & active & Lanes{1} << lane) == 0) return 0;
      const auto at = address.values[lane] + static_cast<std::uint32_t>(operation.target) + 4 * i;
      const auto found = local_.find(at / 4);
      if (found == local_.end() || at % width != 0) return 0;
      const LocalWord& word = found->second;
      Lanes all = all_lanes;
      for (unsigned byte = at % 4; byte < at % 4 + width; ++byte) all &= word.known[byte];
      known |= all & Lanes{1} << lane;
      const std::uint32_t value = word.values[lane] >> (8 * (at % 4));
      if (operation.amount == 0) return value & 0xff;
      if (operation.amount == 2) return value & 0xffff;
      if (operation.amount == 1) return static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
      if (operation.amount == 3)
        return static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
      return value;
    });
    write(operation, i, result, active, known);
  }
}

void WarpRegisters::execute_local_store(const Operation& operation, Lanes active) {
  const Fetched address = fetch(operation.a);
  forget_local(active & ~address.known);
  active &= address.known;
  if (local_.size() > most_words) return local_.clear();
  const unsigned bytes = sass::access_bytes[operation.amount], width = std::min(bytes, 4U);
  const std::uint32_t mask = width == 4 ? ~0U : (1U << (8 * width)) - 1;
  for (unsigned i = 0; i < (bytes + 3) / 4; ++i) {
    const Fetched from = fetch(operation.b, i);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const Lanes bit = Lanes{1} << lane;
      if ((active & bit) == 0) continue;
      const auto at = address.values[lane] + static_cast<std::uint32_t>(operation.target) + 4 * i;
      LocalWord& word = local_[at / 4];
      const unsigned shift = 8 * (at % 4 & ~(width - 1));
      word.values[lane] = (word.values[lane] & ~(mask << shift)) | (from.values[lane] & mask)
                                                                       << shift;
      for (unsigned byte = shift / 8; byte < shift / 8 + width; ++byte) {
        word.known[byte] = (word.known[byte] & ~bit) | (from.known & bit);
      }
    }
  }
}

}  // namespace warpmeter::model::steps
