// SPDX-License-Identifier: MIT
// Accesses by source line of one launch, from CUPTI's SASS metrics: counts of each machine
// instruction, whose address the code's line table (-lineinfo) leads to a line.
//
// With CUDA 13.0 only the first kernel that a process launches after the first Enable is collected:
// neither Disable and Enable, nor another context, nor UnsetConfig brings another (measured). So
// there is one of these a process. It costs the launch about a millisecond.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cupti/library.h"
#include "collector/inject/lines/machine_code.h"
#include "schema/records.h"

namespace warpmeter::inject {

/// The counts of an instruction, by CUPTI's name of the metric.
struct InstructionCounts {
  Instruction at;
  std::map<std::string, std::uint64_t, std::less<>> values;
};

class LineSession {
 public:
  /// The next launch of `context` is counted. Throws Error{no_hardware}.
  LineSession(const cupti::CuptiApi& api, CUcontext context, std::uint32_t device,
              const std::string& chip);
  /// To be called when that launch has ended. Throws Error{no_hardware}.
  std::vector<InstructionCounts> finish();

 private:
  const cupti::CuptiApi& api_;
  CUcontext context_;
  std::map<std::uint64_t, std::string> metrics_;  ///< names by CUPTI's numbers
};

/// True if any of them reads or writes shared or global memory.
bool counts_accesses(const std::vector<InstructionCounts>& counts);

/// Adds up by file, line and kind of access; `place` says where an instruction came from, and those
/// without a line are left out. The lines have no text.
std::vector<schema::Line> lines_of(const std::vector<InstructionCounts>& counts,
                                   const PlaceOf& place);

/// How often warps executed each instruction of `function`; none where the chip has no such count.
std::vector<schema::InstructionCount> instructions_of(const std::vector<InstructionCounts>& counts,
                                                      std::string_view function);

}  // namespace warpmeter::inject
