// SPDX-License-Identifier: MIT
// The value that a store is about to put into memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model::check {

/// The registers' low bytes, part after part, as execute/memory.h finds them. The site must know
/// them (row_bytes > 0).
inline std::array<std::byte, 64> stored_value(const Warp& warp, const Operation* op,
                                              const SiteInfo& info, unsigned lane) {
  std::array<std::byte, 64> value{};
  const std::uint16_t rows[] = {op->d, op->b, op->c, op->e};
  const unsigned part_bytes = info.width / info.parts;
  const unsigned units = info.row_bytes * 32 / row_unit_bytes;
  for (unsigned part = 0; part < info.parts; ++part) {
    const unsigned row = info.parts > std::size(rows) ? op->d + part * units : rows[part];
    const std::byte* lanes = warp.registers + row * row_unit_bytes;
    std::memcpy(value.data() + part * part_bytes, lanes + std::size_t{lane} * info.row_bytes,
                part_bytes);
  }
  return value;
}

}  // namespace warpmeter::model::check
