// SPDX-License-Identifier: MIT
// A problem's buffers on the device, always ready to be as they were at the beginning.
//
// Only what a launch changes has to be put back. execute() of the backend compares every buffer
// with its initial content afterwards and so learns what each launch changes; from then on those
// buffers, and no others, are copied back on the device before the next launch, from a pristine
// copy that is made the first time it is needed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "collector/cupti/context.h"
#include "collector/run/backend.h"

namespace warpmeter::cupti {

class Resident {
 public:
  /// Keeps a reference to `problem`. Throws Error{kernel} when the device has no room.
  Resident(const Context& context, const kernels::Problem& problem);

  /// Enqueues whatever is needed for every buffer to hold its initial content.
  void restore();
  /// To be called after each launch was enqueued.
  void mark_launched(const run::Launch& launch);
  /// Contents now, after the stream is idle; learns what `launch` changes.
  std::vector<std::vector<std::byte>> read_back(const run::Launch& launch);
  /// The arguments for cuLaunchKernel: a pointer to each argument. A buffer's address on the
  /// device, for the variables that hold one.
  const CUdeviceptr& address(std::size_t buffer) const { return addresses_.at(buffer); }
  const std::vector<kernels::Setting>& settings() const { return problem_.settings; }
  void** arguments() { return argument_pointers_.data(); }

 private:
  struct Slot {
    Memory memory;
    Memory pristine;  ///< not allocated until it is needed
    bool is_changed = false;
  };
  void point_arguments();
  static std::string key(const run::Launch& launch);

  const Context& context_;
  const kernels::Problem& problem_;
  std::vector<Slot> slots_;
  std::map<std::string, std::vector<bool>> changes_;  ///< by key(): which buffers a launch changes
  std::vector<CUdeviceptr> addresses_;
  std::vector<void*> argument_pointers_;
};

}  // namespace warpmeter::cupti
