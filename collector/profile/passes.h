// SPDX-License-Identifier: MIT
// All runs of the program that its figures take: one, or with application replay one for each group
// of counters that the hardware can count at once, and one more for clean times.
#pragma once

#include <string>
#include <vector>

#include "collector/profile/recorder.h"
#include "collector/profile/session.h"

namespace warpmeter::profile {

struct Passes {
  std::vector<std::vector<std::string>>
      counters;        ///< the counters of each run; one without any: the summary
  bool times = false;  ///< a last run without counters, for times

  std::size_t size() const { return counters.size() + (times ? 1 : 0); }
};

/// Runs the program once a pass and gives `recorder` what is heard; does not finish it. `config` is
/// completed with each pass's counters. The program's output is shown in the first run only; a
/// standard input that is a file is rewound for the later ones, any other is empty then. The
/// outcome is the first run's, but cancelled when any was; then and when the first run measured
/// nothing there are no further ones. Throws as profile() does.
Outcome profile_passes(const Options& options, const inject::Config& config, const Passes& passes,
                       Recorder& recorder);

}  // namespace warpmeter::profile
