// SPDX-License-Identifier: MIT
// The sixteen barriers of a block: who waits at them, and when those go on.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {
class BlockObserver;
class Barriers {
 public:
  /// The barriers of a block's warps, which must outlive it.
  explicit Barriers(std::span<Warp> warps) : warps_(warps) {}

  /// The observer hears of barriers; may be null.
  void tell(BlockObserver* observer) { observer_ = observer; }

  /// Nobody waits any more.
  void clear() {
    barriers_ = {};
    used_ = 0;
  }

  /// A warp has stopped at one.
  void come(Warp& warp);

  /// Lets the warps of complete barriers go on; says whether there were any. Threads that have
  /// ended are not waited for, as on the hardware.
  bool release();

 private:
  struct Barrier {
    std::uint32_t waiting = 0;  ///< warps, a bit each
    std::uint32_t arrived = 0;  ///< warps that arrived without waiting
    std::uint32_t threads = 0;  ///< that take part; 0: all of the block
  };

  template <class Visit>
  void for_each(std::uint32_t warps, Visit visit) const;
  bool complete(Barrier& barrier, std::uint32_t living);
  std::uint32_t living() const;
  void tell_released(const Barrier& barrier, std::uint32_t living) const;
  void answer(std::uint32_t warps) const;

  std::span<Warp> warps_;
  BlockObserver* observer_ = nullptr;
  std::array<Barrier, barriers_of_block> barriers_{};
  std::uint32_t used_ = 0;  ///< barriers that somebody came to, a bit each
};

}  // namespace warpmeter::model
