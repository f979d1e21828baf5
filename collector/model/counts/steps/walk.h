// SPDX-License-Identifier: MIT
// One warp's way through the machine code. Lanes that part at a branch go on as groups of their
// own; BSSY names the lanes that a BSYNC waits for, BREAK and the end of a thread take lanes out
// of that (sm_70 and later).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/model/counts/steps/lanes.h"

namespace warpmeter::model::steps {

/// The sum of all that warps did.
struct Tally {
  explicit Tally(const Code& code)
      : blocks(code.blocks.size()),
        on(code.operations.size()),
        acted(code.operations.size()),
        again(code.operations.size()),
        parted(code.operations.size()),
        unknown(code.operations.size()),
        crowded(code.blocks.size()) {}

  struct Times {
    std::uint64_t warps = 0, threads = 0;
    bool operator==(const Times&) const = default;
  };
  std::vector<Times> blocks;
  std::vector<Times> on;  ///< by operation with a guard: those that it lets pass
  /// By operation of control flow: the threads for which it holds.
  std::vector<std::uint64_t> acted;
  /// By operation: issues that hardware counts for the warp, and not for the instruction. A
  /// WARPSYNC at which lanes met or part is issued once more for those that go on together or still
  /// wait.
  std::vector<Times> again;
  std::vector<std::uint64_t> parted;  ///< by operation: warps that it parts
  std::vector<std::uint8_t> unknown;  ///< 1 where a guard was not known
  /// By block: 1 where three groups or more met at its BSYNC. Without a loop before it, an H200
  /// issues it once for each group, at times together with lanes that wait: it counts as many warps
  /// as here, or more threads. Hundreds of such meetings in ten golden kernels show no exception.
  std::vector<std::uint8_t> crowded;
  /// Lanes of a warp were apart in a way of which hardware's counts depend on time: three groups or
  /// more at one BSYNC behind a loop, or an end, a BREAK, a barrier or an indirect jump while
  /// others are elsewhere.
  bool depends_on_time = false;
  std::string_view doubt;  ///< why a warp could not be followed; then the rest is worth nothing
  int doubt_line = 0;      ///< the line of the PTX

  bool operator==(const Tally&) const = default;

  void add(const Tally& other);
  void issue_again(std::uint32_t at, Lanes lanes);
};

inline constexpr std::string_view too_long = "the launch is too long to be followed";

class Walk {
 public:
  Walk(const Code& code, Surroundings& surroundings) : code_(code), registers_(surroundings) {}

  /// Follows warp `number` of the block; false when the tally has a doubt.
  bool follow(const Dim3& block_size, const Dim3& block, unsigned number, Tally& tally);

  /// Blocks of code that the warps which follow may execute.
  void set_budget(std::uint64_t budget) { budget_ = budget; }
  std::uint64_t budget() const { return budget_; }

 private:
  struct Group {
    Lanes lanes = 0;
    std::uint32_t at = 0;     ///< an operation
    bool is_waiting = false;  ///< at a BSYNC, or a WARPSYNC
    Lanes gathered = 0;       ///< those that the WARPSYNC waits for
    /// Which exclusive WARPSYNC let it go alone; 0: none, or lanes have parted or met since.
    std::uint32_t turn = 0;
  };

  bool run(Group& group, Tally& tally);
  bool leave_block(Group& group, const Operation& last, std::uint32_t at, Tally& tally);
  bool jump(Group& group, const Operation& last, std::uint32_t at, Lanes jumping, Tally& tally);
  bool arrive(Group& group, Tally& tally);
  bool part_by_mask(Group& group, const Operation& operation, Tally& tally);
  bool gather(Group& group, const Operation& operation, std::uint32_t at, Lanes of, Tally& tally);
  void release(Tally& tally);
  bool doubt(Tally& tally, std::string_view why, std::uint32_t at) const;
  bool part(Group& group, Lanes lanes, std::uint32_t to);

  const Code& code_;
  WarpRegisters registers_;
  std::vector<Group> groups_;
  std::array<std::array<Lanes, 32>, 16> waited_for_ = {};  ///< by barrier and lane
  Lanes ended_ = 0;
  std::uint32_t turns_ = 0;  ///< exclusive WARPSYNCs at which lanes parted
  std::uint64_t budget_ = 0;
};

}  // namespace warpmeter::model::steps
