// SPDX-License-Identifier: MIT
// Which arrays lie in a block's shared memory, what is accessed of each, and how long its rows are.
//
// A variable is one array, unless its accesses fall into parts that no access crosses: those of one
// dynamic buffer, or of a structure, stay apart. Rows are known from the declaration in the source,
// or from what a person says; else the accesses show them: the distance between neighbouring lanes
// of a conflict is a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collector/model/explain/subject.h"

namespace warpmeter::model::explain {

/// Executions of one site with the lanes in one place.
struct Placed {
  std::size_t site = 0;
  const LanePattern* pattern = nullptr;
  std::uint32_t place = 0;  ///< the place of the first active lane, from the beginning of the array
  std::uint64_t times = 0;
};

struct SharedArray {
  std::string name;  ///< the name of the variable; empty: not known
  std::string
      part;  ///< the part of a variable with several: "from byte 4,096 on", "up to byte 4,096"
  std::uint32_t offset = 0;    ///< in the block's shared memory
  std::uint32_t bytes = 0;     ///< from the first to the last that is accessed
  std::uint32_t declared = 0;  ///< bytes of the variable, or what is left of a dynamic one
  bool is_dynamic = false;     ///< its bytes are given at launch
  /// the bytes of the variable that begins here, as far as it is known; 0: this is a later part of
  /// one.
  std::uint32_t variable_bytes = 0;
  std::vector<std::size_t> sites;
  /// Copies that no counter of loads or stores sees (cp.async, bulk copies, st.async). They too
  /// need their bytes together, and aligned.
  std::vector<std::size_t> copies;
  std::vector<std::uint32_t> extents;  ///< as declared, the innermost last; empty: not known
  std::uint32_t element_bytes = 0;     ///< the element bytes of the declaration; 0: not known
  bool is_given = false;               ///< a person said so
  // The accesses of complete():
  std::vector<Placed> accesses;
  bool is_whole = true;  ///< every access of these sites is among them; else a sample is
};

/// The variable at an offset of shared memory, by its own name; empty: none.
std::string shared_name(const Program& program, std::uint32_t offset);

/// Throws Error{usage} for a shape of Options that fits no array, where this is the only kernel.
std::vector<SharedArray> shared_arrays(const Subject& subject);
/// Its accesses, and its shape as the source declares it.
void complete(const Subject& subject, SharedArray& array);

/// A given shape that does not have the array's size: what is wrong with it; else empty.
std::string misfit(const Shape& shape, const SharedArray& array);

/// How long rows may be, in bytes, the likeliest first.
std::vector<std::uint32_t> row_lengths(const Subject& subject, const SharedArray& array);

}  // namespace warpmeter::model::explain
