// SPDX-License-Identifier: MIT
// Where a thread reads memory, computes, and writes back to the same place: h[x]++. One of two
// threads that do so is lost, whatever barrier stands between; an atomic is what makes it one
// access.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

struct Update {
  std::string_view atomic;  ///< its possible replacement ("atomicAdd()"); empty: it is none
  std::uint32_t store = 0;  ///< the site of its store
};

/// By site, of the load and of the store of such an update, as far as a few operations before the
/// store show.
std::vector<Update> updates(const Program& program);
/// True if the second of two such updates that write the same should have written something else;
/// not so of a minimum.
bool loses_one(std::string_view atomic);

}  // namespace warpmeter::model::check
