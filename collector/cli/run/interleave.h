// SPDX-License-Identifier: MIT
// `run --against PROGRAM`: two builds measured in turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace warpmeter::cli {

inline constexpr std::int64_t usual_rounds = 5;

struct BuildTurns {
  std::vector<std::string> words;  ///< the words of a turn: what `run` shall measure, and how
  std::string other;               ///< another build of warpmeter, the base
  std::string label;               ///< the label of the user; may be empty
  std::string database;
  std::int64_t rounds = usual_rounds;
  bool quiet = false;
};

/// Runs the other build and this one as processes, A B A B, each a run of its own under a common
/// label, and prints their comparison. Throws Error{usage} when the program cannot be run or the
/// label was used.
ExitCode interleave_builds(const BuildTurns& turns);

}  // namespace warpmeter::cli
