// SPDX-License-Identifier: MIT
// Looks at a block that only waits: which global memory its threads load.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "collector/model/machine/observer.h"

namespace warpmeter::model {

class NotedLoads final : public BlockObserver {
 public:
  /// Both outlive it.
  NotedLoads(const Program& program, std::set<std::uint64_t>& loaded)
      : watched_(program.operations.size()), loaded_(loaded) {}

  const std::uint8_t* watched() const override { return watched_.data(); }
  void start(std::uint64_t, const std::byte*) override {}
  void observe(const Warp&, const Operation*, std::uint32_t) override {}
  std::byte* refuse(const Warp&, const Operation*, TrapKind, AddressSpace, unsigned,
                    std::uint64_t) override {
    return nullptr;
  }
  void accept(const Warp&, const Operation*, const SiteInfo& info, const Places& places) override {
    if (places.space != AddressSpace::global || info.kind == AccessKind::store) return;
    for (unsigned lane = 0; lane < warp_lanes && loaded_.size() < most; ++lane) {
      if ((places.mask >> lane & 1) != 0) loaded_.insert(places[lane]);
    }
  }
  void accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                    const Places& places) override {
    accept(warp, op, info, places);
  }
  void written_for(const Warp&, unsigned, std::uint64_t, std::uint64_t) override {}
  void arrive(std::uint32_t, std::uint32_t) override {}
  void release(const Meeting&) override {}
  void part(const Warp&, const Operation*, std::uint32_t) override {}

 private:
  static constexpr std::size_t most = 64;

  std::vector<std::uint8_t> watched_;  ///< none
  std::set<std::uint64_t>& loaded_;
};

}  // namespace warpmeter::model
