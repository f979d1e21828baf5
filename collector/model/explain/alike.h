// SPDX-License-Identifier: MIT
// Accesses of a shared array that no layout of a kind tells apart: all lanes moved by the same
// whole words, so that each goes to another bank than before and the same ones meet. A warp that
// reads column 5 costs what one costs that reads column 0. Few of many accesses are left to count.
// And one whose lanes stay in a row meets nobody else when rows are padded, or swizzled.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/divisor.h"
#include "collector/model/explain/shared_arrays.h"

namespace warpmeter::model::explain {

/// A way to store an array whose rows are `row` bytes long.
struct Layout {
  enum class Kind {
    as_is,
    padding,    ///< `amount` words more a row
    swizzle,    ///< the element's column, exclusive or with the row shifted right by `amount`
    transpose,  ///< columns as rows
    split,      ///< elements of 8 or 16 bytes as words, in planes
    members,    ///< structures as planes of members of `amount` bytes (0: they differ)
    boxes,      ///< boxes of a tensor map with the swizzle mode `amount` (tensor_boxes.h)
  };
  Kind kind = Kind::as_is;
  std::uint32_t row = 0;
  unsigned amount = 0;

  std::string name() const;  ///< "padding 1"
};

/// The properties that decide whether two accesses are alike.
struct Likeness {
  Layout::Kind kind = Layout::Kind::as_is;
  std::uint32_t rows = 1;     ///< so many rows further a swizzle repeats
  std::uint32_t height = 1;   ///< rows of the array
  std::uint32_t element = 4;  ///< bytes that stay together
  std::uint32_t grain = 4;    ///< bytes by multiples of which an access may be moved
  bool has_rows = true;       ///< true if those that lie in one row are looked at at all

  /// True for a swizzle whose elements are 2ⁿ bytes, as many of them a row as a power of two: it is
  /// an exclusive or of bits. The common part of row and column in all lanes then turns the same
  /// bits of every lane's place, so that the banks change their order and nothing else.
  bool turns_bits() const {
    return kind == Layout::Kind::swizzle && element >= grain && std::has_single_bit(element);
  }
};

/// Accesses of an array, and where each lies in rows of one length.
class LyingAccesses {
 public:
  LyingAccesses(const Subject& subject, const std::vector<Placed>& accesses, std::uint32_t row);

  /// One access of each group of like ones, with the times of all.
  std::vector<Placed> different(const Likeness& likeness) const;
  /// The same of those that lie in one row each, with the array as it is.
  std::vector<Placed> different_in_rows(std::uint32_t grain) const;

 private:
  /// Where the lanes lie: from a byte and a row on, from one byte of a row to another.
  struct Extent {
    std::uint32_t first_byte = ~0u, first_row = ~0u, last_row = 0;
    std::uint32_t first_column = ~0u, last_column = 0;
    bool is_within_rows = true;
    bool is_one_row() const { return is_within_rows && first_row == last_row; }
  };
  /// The bytes that a site's requests touch around the place of a lane.
  struct Reach {
    std::int64_t low = 0, high = 0;
  };
  static Reach reach_of(const SiteInfo& site);
  Extent extent_of(const Placed& access, const Reach& reach) const;
  /// The extent of the same lanes from another place on, where each stays in a row of its own as
  /// before.
  std::optional<Extent> moved(const Extent& extent, std::uint32_t from, std::uint32_t to) const;

  const std::vector<Placed>& accesses_;
  Divisor row_;
  std::vector<Extent> extents_;
};

}  // namespace warpmeter::model::explain
