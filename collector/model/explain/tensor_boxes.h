// SPDX-License-Identifier: MIT
// The boxes of tensors (cp.async.bulk.tensor) in an array of shared memory, and where their bytes
// lie with another swizzle mode of the tensor map. A mode exchanges the 16 bytes of a line of 128
// by bits of the line's number: TensorMap::swizzled().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

class TensorBoxes {
 public:
  TensorBoxes() = default;
  TensorBoxes(const Subject& subject, const SharedArray& array);

  bool are_there() const { return !boxes_.empty() || !impossible_.empty(); }
  /// Why no other mode can be tried; empty: some can.
  const std::string& impossible() const { return impossible_; }
  std::uint32_t row_bytes() const { return boxes_.front().row_bytes; }
  /// The mode that they have: 1, 2, 3 for 32, 64, 128 bytes; 0: none.
  unsigned mode() const { return boxes_.front().swizzle_shift; }
  /// The other modes that fit the rows, without more shared memory.
  std::vector<unsigned> other_modes() const;
  /// The boxes side by side that one becomes: a row of a mode has at most its own bytes.
  std::uint32_t boxes_of_one(unsigned mode) const;
  /// Requests of the launch that move boxes to the array.
  std::uint64_t load_requests() const { return load_requests_; }
  /// Where a byte of shared memory comes to lie; outside of all boxes, where it is.
  std::uint32_t moved(std::uint32_t place, unsigned mode) const;

 private:
  void find(const Subject& subject, const SharedArray& array);

  std::vector<BoxPlace> boxes_;  ///< by their places, disjoint
  std::string impossible_;
  std::uint64_t load_requests_ = 0;
};

/// "CU_TENSOR_MAP_SWIZZLE_128B"
const char* name_of_mode(unsigned mode);

}  // namespace warpmeter::model::explain
