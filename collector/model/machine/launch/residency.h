// SPDX-License-Identifier: MIT
// How many blocks of a launch a device holds at a time. The others begin when one of those ends, so
// that a block which waits for one that has not begun may wait for ever.
#pragma once

#include <cstdint>

#include "base/geometry.h"
#include "collector/model/machine/launch/launch.h"

namespace warpmeter::model {

struct Residency {
  int of_multiprocessor = 0, multiprocessors = 0;

  std::uint64_t blocks() const {
    return static_cast<std::uint64_t>(of_multiprocessor) *
           static_cast<std::uint64_t>(multiprocessors);
  }
};

/// The most that may be: where the kernel's registers are not known, they set no limit.
Residency residency_of(const Program& program, const Geometry& geometry,
                       const LaunchOptions& options);

}  // namespace warpmeter::model
