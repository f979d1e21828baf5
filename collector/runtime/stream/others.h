// SPDX-License-Identifier: MIT
// Others beside a kernel that runs: the host's threads, other streams, other processes. A kernel
// that waits in a loop is left where it is while they go on.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "collector/model/machine/launch/beside.h"
#include "collector/runtime/process/peers.h"
#include "collector/runtime/process/process.h"

namespace warpmeter::runtime {

/// Others beside one launch on a device, while it runs.
class Others final : public model::Beside {
 public:
  Others(Process& process, int device) : process_(process), device_(device) {
    reach_.emplace(process_, device_);
  }

  model::Outside wait(const std::set<std::uint64_t>& loaded, bool has_gone_on) override;
  void let_go() override;
  bool have_been_waited_for() const { return have_been_waited_for_; }

 private:
  Process& process_;
  const int device_;
  std::optional<Reach> reach_;
  bool have_been_waited_for_ = false;
};

}  // namespace warpmeter::runtime
