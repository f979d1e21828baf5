// SPDX-License-Identifier: MIT
// Programs as machine code of this processor. It counts what the interpreter counts: instructions
// where lanes jump, accesses by the hits of their site's shape. For launches that somebody observes
// there is other code, which tells of the operations that are watched and of each access.
//
// The code begins where a basic block of the program does, and hands over to the interpreter, at
// the operation that it returns, whatever it has no code for: branches where lanes part, barriers,
// calls, the end. There is code for warps whose lanes are all active and other code for the rest.
// Results and counts are those of the interpreter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "collector/model/machine/execute/units.h"
#include "collector/model/machine/warp/operation.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model {

struct Program;
struct RowRange;

/// Loads of one basic block whose addresses are one row, with a constant added to it: where one of
/// them lies, all do (see SiteGroup).
struct LoadGroup {
  struct Load {
    std::uint32_t site = 0;
    std::int32_t offset = 0;
  };
  std::vector<Load> loads;
};

class NativeCode {
 public:
  virtual ~NativeCode() = default;

  /// The entries of each operation: the code that begins there, or null; for all lanes, and for
  /// some.
  virtual const NativeEntry* entries() const = 0;
  virtual const NativeEntry* entries_of_some() const = 0;
  /// The rows of Program::registers that have to be zero when a block begins : the others are
  /// written before they are read.
  virtual const std::vector<RowRange>& cleared() const = 0;
  /// The groups that its code asks for; Warp::groups has as many.
  virtual const std::vector<LoadGroup>& groups() const = 0;
  /// How many operations of a code stand in it as instructions, not as calls of the interpreter's
  /// function.
  virtual std::uint32_t inlined(Code code) const = 0;
};

/// Null where the unit has no such code, or this machine lets nobody write any. `watched`: see
/// BlockObserver; empty: nobody observes.
std::unique_ptr<NativeCode> translate(const Program& program, const Unit& unit,
                                      std::span<const std::uint8_t> watched = {});

/// The code of one program, made when a launch first has use for it and kept for those that follow.
/// A copy of the program makes its own.
class NativeSlot {
 public:
  NativeSlot() : state_(std::make_unique<State>()) {}
  NativeSlot(const NativeSlot&) : NativeSlot() {}
  NativeSlot(NativeSlot&&) noexcept = default;
  NativeSlot& operator=(const NativeSlot&) {
    state_ = std::make_unique<State>();
    return *this;
  }
  NativeSlot& operator=(NativeSlot&&) noexcept = default;
  ~NativeSlot() = default;

  /// Null: none can be had. Any thread may ask.
  const NativeCode* get(const Program& program, const Unit& unit,
                        std::span<const std::uint8_t> watched = {}) const;

  bool is_made() const {
    const std::lock_guard alone(state_->mutex);
    return !state_->units.empty();
  }

  /// Warp instructions that launches have executed which might have used it.
  std::uint64_t executed() const { return state_->executed; }
  void note_executed(std::uint64_t warp_instructions) const {
    state_->executed += warp_instructions;
  }

 private:
  struct OfUnit {
    RunWarp unit = nullptr;  ///< by which a unit is known
    std::vector<std::uint8_t> watched;
    std::unique_ptr<NativeCode> code;
  };
  struct State {
    std::mutex mutex;
    std::vector<OfUnit> units;
    std::atomic<std::uint64_t> executed{0};
  };
  std::unique_ptr<State> state_;
};

}  // namespace warpmeter::model
