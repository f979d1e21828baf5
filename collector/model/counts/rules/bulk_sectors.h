// SPDX-License-Identifier: MIT
// The sectors of global memory that one copy in bulk asks for (cp.async.bulk,
// cp.async.bulk.tensor), as an H200 counts them: tests/golden/h200_bulk_patterns.csv,
// h200_box_patterns.csv.
//
// A copy is made in pieces. A piece ends with a row of the box, where shared memory has another 128
// bytes and, for several blocks, where global memory has. Each piece asks for its own sectors, for
// several blocks for two at least. A load asks for chunks of a box beside the tensor too, as if
// they lay in global memory as they do in shared memory.
#pragma once

#include <cstdint>

#include "collector/model/counts/rules/counting.h"

namespace warpmeter::model {

/// Takes the chunks of 16 bytes of a copy, one after the other.
class BulkSectors {
 public:
  explicit BulkSectors(bool is_for_several) : is_for_several_(is_for_several) {}

  void begin_row() { end_piece(); }
  void add(std::uint64_t global, std::uint64_t shared, bool is_inside = true) {
    const bool ends_line = is_for_several_ && is_inside && global % line_bytes == 0;
    if (shared % line_bytes == 0 || ends_line || is_inside != was_inside_) end_piece();
    was_inside_ = is_inside;
    const std::uint64_t sector = (is_inside ? global : shared) / sector_bytes;
    if (of_piece_ == 0 || sector != last_) ++of_piece_;
    last_ = sector;
  }
  std::uint64_t count() {
    end_piece();
    return count_;
  }

 private:
  static constexpr std::uint64_t line_bytes = 128;

  void end_piece() {
    count_ += of_piece_ == 1 && is_for_several_ ? 2 : of_piece_;
    of_piece_ = 0;
  }

  bool is_for_several_, was_inside_ = true;
  std::uint64_t count_ = 0, of_piece_ = 0, last_ = 0;
};

}  // namespace warpmeter::model
