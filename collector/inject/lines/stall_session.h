// SPDX-License-Identifier: MIT
// The waits of one launch's warps, by CUPTI's PC sampling: at a fixed number of cycles each
// scheduler is asked where one of its warps is and why it does not go on. Continuous mode: the
// launch costs no more than without, and the samples come when it has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/cupti/library.h"
#include "collector/inject/lines/machine_code.h"
#include "schema/records.h"

namespace warpmeter::inject {

/// Samples at one instruction, by CUPTI's name of the reason.
struct InstructionStalls {
  Instruction at;
  std::map<std::string, std::uint64_t> samples;
};

class StallSession {
 public:
  /// Launches of `context` are sampled from now on. Throws Error{no_hardware}.
  StallSession(const cupti::CuptiApi& api, CUcontext context);
  /// To be called when the launch has ended. Throws Error{no_hardware}.
  std::vector<InstructionStalls> finish();

 private:
  void name_reasons();
  void configure();

  /// Room for samples as CUPTI wants it: instructions, and reasons of each.
  struct Room {
    std::vector<CUpti_PCSamplingPCData> instructions;
    std::vector<CUpti_PCSamplingStallReason> reasons;
    CUpti_PCSamplingData data{};
    void make(std::size_t reason_count);
  };

  const cupti::CuptiApi& api_;
  CUcontext context_;
  std::vector<std::uint32_t> indices_;
  std::map<std::uint32_t, std::string> reasons_;  ///< by CUPTI's index
  Room room_;
};

/// Adds up by file, line and reason. Where CUPTI tells apart what was seen while the scheduler
/// issued nothing ("…_not_issued"), these are the idle ones of all. `place` says where an
/// instruction came from; the lines have no text.
std::vector<schema::Stall> stalls_of(const std::vector<InstructionStalls>& samples,
                                     const PlaceOf& place);

/// The samples of each instruction by reason, of one function; idle ones are among them.
std::vector<schema::InstructionCount> samples_of(const std::vector<InstructionStalls>& samples);

}  // namespace warpmeter::inject
