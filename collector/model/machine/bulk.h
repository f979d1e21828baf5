// SPDX-License-Identifier: MIT
// Copies of whole stretches (cp.async.bulk, cp.reduce.async.bulk) and of boxes of tensors
// (cp.async.bulk.tensor and its like): one lane's instruction moves many bytes, by the tensor
// memory accelerator on hardware, past the counters of loads and stores. Here they are done at
// once, so that whoever waits for them finds them done.
#pragma once

#include <array>
#include <cstdint>

#include "collector/model/machine/warp/tensor_map.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

/// The work of Code::bulk_copy, by its imm. Its rows: a where to, b where from, c bytes, d the
/// barrier object, e the blocks of the cluster that get it; d and e may be no_operand. For boxes, c
/// is none, and the side that is in global memory is the tensor's descriptor.
struct BulkCopy {
  struct Place {
    std::uint32_t site = 0;
    std::int64_t offset = 0;  ///< bytes, to be added to the address in the row
    bool is_wide = true;
  };
  enum class Kind : std::uint8_t { copy, reduce, prefetch };
  Kind kind = Kind::copy;
  /// The sites of a box's elements of 1, 2, 4, 8 and 16 bytes follow each other.
  Place to, from, object;
  std::uint8_t element = 16;  ///< bytes that are moved as one, as wide as the sites are
  std::uint8_t rank = 0;      ///< the rank of the tensor; 0: no box
  bool is_store = false;      ///< for a box: to global memory
  std::array<std::uint16_t, most_tensor_axes> corner_rows{};  ///< for a box: of 32 bits each
  std::uint16_t atomic =
      0;  ///< the atomic of a reduction: Operation::c of the atomic; of boxes, its kind
  std::uint16_t elements_row = 0;   ///< the elements row of a reduction: scratch, an element a lane
  std::uint16_t bytes_row = 0;      ///< scratch: bytes that were moved
  std::uint16_t rank_row = 0xffff;  ///< with e: the block's own rank
};

/// Both places have to be multiples of these bytes; of a size, what is beyond a multiple is not
/// moved (measured, tests/runtime/programs/bulk_misuse.cu).
inline constexpr std::uint32_t bulk_step = 16;

/// The fault of a box: RaisedTrap::space of TrapKind::illegal_box.
enum class BoxFault : std::uint8_t {
  no_descriptor,
  other_rank,  ///< address: that of the descriptor
  column,      ///< address: bytes from the row's beginning
  negative,    ///< address: the coordinate
  reduction,   ///< which the type has not
};

/// Moves what each lane of the mask asks for and tells its barrier object, or raises w.trap and
/// says false.
bool copy_in_bulk(Warp& w, const Operation* op, std::uint32_t mask);

}  // namespace warpmeter::model
