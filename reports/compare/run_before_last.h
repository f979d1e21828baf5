// SPDX-License-Identifier: MIT
// The base of `compare` without names.
#pragma once

#include <string>

#include "schema/figures/kinds.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// The latest run before the last one that measured some of the same launches, on the same backend.
/// Adds the kinds of both runs to `kinds`. "last~1" where there is one run alone. Throws
/// Error{nothing} where no run is such.
std::string run_before_last(const schema::Reader& reader, schema::KindsByRun& kinds);

}  // namespace warpmeter::reports
