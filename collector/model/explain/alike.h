// Accesses of a shared array that no layout of a kind tells apart: all lanes moved by the same
// whole words, so that each goes to another bank than before and the same ones meet. A warp that
// reads column 5 costs what one costs that reads column 0. Of many accesses few are left to count.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "collector/model/explain/shared_arrays.h"
#include "collector/model/explain/what_if.h"

namespace warpmeter::model::explain {

/// What decides whether two accesses are alike.
struct Likeness {
  Layout::Kind kind = Layout::Kind::as_is;
  std::uint32_t row = 0;
  std::uint32_t rows = 1;     ///< so many rows further a swizzle repeats
  std::uint32_t height = 1;   ///< rows of the array
  std::uint32_t element = 4;  ///< bytes that stay together
  std::uint32_t grain = 4;    ///< bytes by multiples of which an access may be moved
};

/// The accesses, of those that are alike one with the times of all.
std::vector<Placed> different_accesses(const Subject& subject, const std::vector<Placed>& accesses,
                                       const Likeness& likeness);

}  // namespace warpmeter::model::explain
