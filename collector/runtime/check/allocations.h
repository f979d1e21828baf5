// SPDX-License-Identifier: MIT
// The allocations of a program that is traced: each is reported when it is freed, and those that
// are never freed when the program ends, as CUPTI reports them.
#pragma once

#include <cstdint>
#include <map>

#include "collector/runtime/check/report.h"
#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

class Allocations : public MemoryObserver {
 public:
  /// From now on `memory` tells of its blocks.
  Allocations(Report& report, Memory& memory) : report_(report) { memory.tell(this); }

  void allocated(const Block& block) override;
  void released(const Block& block) override;
  void is_fresh(std::uint64_t, std::uint64_t) override {}
  void is_shared(std::uint64_t, std::uint64_t) override {}
  void renewed() override {}
  void unmapped(const Stretch&) override {}

  /// The program ends: what it has not freed is reported without an end.
  void end();

 private:
  Report& report_;
  std::map<std::uint64_t, Allocated> living_;  ///< by address
};

}  // namespace warpmeter::runtime
