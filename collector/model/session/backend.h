// SPDX-License-Identifier: MIT
// The CPU backend: a launch is executed from its PTX, and its counters come from the addresses that
// it used. It has no clock, so there are no times.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collector/model/check/coverage.h"
#include "collector/model/check/findings.h"
#include "collector/model/explain/explain.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/run/backend.h"

namespace warpmeter::model {

/// The checker's result for a launch that came to its end, or stopped.
struct CheckedLaunch {
  std::vector<check::Finding> findings;
  check::Coverage coverage;
};

struct Options {
  int arch = 90;         ///< 90 is sm_90: which of an image's PTX is executed
  unsigned threads = 0;  ///< the threads of the host; 0: one a core
  std::uint64_t instruction_budget = default_instruction_budget;
  std::function<bool()> cancelled = {};     ///< asked now and then, by any thread
  std::vector<explain::Shape> shapes = {};  ///< for arrays in shared memory, as a person says
  std::map<std::string, std::string>* shaped =
      nullptr;  ///< see explain::Options; outlives the backend
  /// Not empty: each launch is looked at for mistakes, and told. Outlives the backend.
  std::function<void(CheckedLaunch)> checked = {};
  std::string blocks = {};          ///< which blocks are counted, as --blocks has it; empty: all
  bool keeps_instructions = false;  ///< the counts of each machine instruction, where known
  bool is_embedded = true;  ///< the kernels are the program's own, whose architectures are known
};

/// Throws Error{usage} for an architecture that the program's images have no PTX of, naming those
/// that they have.
///
/// An execution that was cancelled fails with the reason "cancelled". A counter's grade is the
/// weakest of the accesses behind it:
///   exact     from the machine code, by rules measured on that architecture (see measured.h)
///   modelled  approximate: shared atomics of floats (a loop on the hardware), atomics of 64 bits,
///             accesses of 32 bytes a thread; all counts on an architecture that was not measured
///   ptx       counted per PTX instruction, where the hardware may run others: all instruction
///             counts, and accesses whose machine code was not read or not understood
std::unique_ptr<run::Backend> open(const Options& options = {});

}  // namespace warpmeter::model
