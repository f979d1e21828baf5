// SPDX-License-Identifier: MIT
// One launch of a process, looked at by machine instruction and sent by source line: what its
// accesses cost (Mode::lines) or what its warps wait for (Mode::stalls). Which launch: the first
// chosen one of a kernel.
#pragma once

#include <memory>
#include <string>

#include "collector/inject/channel.h"
#include "collector/inject/lines/line_session.h"
#include "collector/inject/lines/machine_code.h"
#include "collector/inject/lines/stall_session.h"

namespace warpmeter::inject {

class ByLine {
 public:
  /// Keeps references to both.
  ByLine(Channel& channel, const cupti::CuptiApi& api, const Config& config);

  void module_loaded(const CUpti_ModuleResourceData& module) { modules_.add(module); }
  /// True of the kernel's launches until one was started.
  bool takes(const std::string& kernel) const { return kernel == kernel_ && !is_started_; }
  /// The next launch of the context is looked at. Throws Error{no_hardware}.
  void start(CUcontext context, std::uint32_t device, const std::string& chip);
  /// That launch has ended. Throws Error{no_hardware}; the session is over in any case.
  void finish();
  /// Sends the lines; why there are none, empty when there are.
  std::string send();

 private:
  std::string send_lines();
  std::string send_stalls();
  void send_instructions(const std::vector<schema::InstructionCount>& counts);

  Channel& channel_;
  const cupti::CuptiApi& api_;
  const Mode mode_;
  const std::string kernel_;
  Modules modules_;
  bool is_started_ = false;
  std::unique_ptr<LineSession> lines_;
  std::unique_ptr<StallSession> stalls_;
  std::vector<InstructionCounts> counts_;
  std::vector<InstructionStalls> samples_;
};

}  // namespace warpmeter::inject
