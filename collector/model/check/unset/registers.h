// SPDX-License-Identifier: MIT
// Registers that nothing has set, and what is computed from them, bit by bit and lane by lane,
// while a block runs: so that it is known where such a value is used for something that can be
// seen. A copy of it, or a branch of a `selp` that is not taken, is no mistake (see ptx/unset.h).
//
// Programs in which no register can be unset, which are most, cost nothing; in others, only the
// instructions that touch such registers do. A value that is stored to memory is reported when it
// is stored, where all of it is unset.
//
// A load of global or shared memory may find a part of what it reads unset (unset_memory.cpp). A
// mere copy from there is no mistake, and what it is copied to is unset again; what is computed
// from it is one where it is stored. Before the first such load nothing of it costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/model/check/unset/bits.h"
#include "collector/model/check/unset/local_memory.h"
#include "collector/model/check/unset/written.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/unset_steps.h"
#include "collector/model/machine/warp/warp.h"

namespace warpmeter::model::check {

/// "as an address", for example: how an unset value was used.
std::string_view to_string(ptx::UnsetUse use);

class UnsetRegisters {
 public:
  /// The program must outlive it.
  explicit UnsetRegisters(const Program& program);

  /// True if there is nothing to follow: no step() will find anything.
  bool is_empty() const { return !is_awake_ && always_watched_ == 0; }
  void start_block(std::uint32_t warps);

  struct Found {
    ptx::UnsetUse use = ptx::UnsetUse::value;
    std::string_view name;    ///< the name of the register, in the PTX
    std::uint32_t lanes = 0;  ///< that use it
    /// The instruction that read it from memory, where nothing had written it.
    std::optional<std::uint32_t> read_by;
    bool is_from_memory = false;  ///< global or shared memory, not local
  };
  /// Before the active lanes of a warp execute an operation under its guard: what is unset and
  /// matters. It counts as set from then on, so that each mistake is found once.
  std::optional<Found> step(const Warp& warp, const Operation* op);
  /// A thread's write to local memory, after the step of its instruction.
  void wrote_local(std::uint32_t thread, std::uint32_t instruction, std::uint64_t offset,
                   std::uint32_t width);
  /// Bytes of a thread's local memory that somebody else has set.
  void set_local(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i) local_.write(thread, offset + i, 1);
  }

  /// True if a load of global or shared memory that finds a part unset gives that to anything.
  bool follows(std::uint32_t instruction) const {
    return instruction < memory_step_.size() && memory_step_[instruction] != nullptr;
  }
  /// One lane makes such a load, after the step of its instruction: `written` from `offset` on is
  /// what it reads. All steps are to be taken from then on.
  void load(const Warp& warp, std::uint32_t instruction, unsigned lane, const MarkedBytes& written,
            std::uint64_t offset);
  /// A store by one lane, of what has been marked as written: bytes that are unset in its registers
  /// are so in memory. True if there were any.
  bool store(const Warp& warp, std::uint32_t instruction, unsigned lane, MarkedBytes& written,
             std::uint64_t offset) const;
  /// A shuffle by lanes that read such as are not there, after the step of its instruction: what
  /// they get is nobody's, and using it a mistake. False where nothing follows it.
  bool shuffled_from_nobody(const Warp& warp, const Operation* op, std::uint32_t lanes);
  bool is_awake() const { return is_awake_; }

 private:
  using Lanes = std::uint32_t;
  static constexpr std::uint32_t no_origin = ~std::uint32_t{0};

  void wake();
  /// Those whose access does not lead to their own local memory.
  Lanes seen_by_others(const Warp& warp, const UnsetStep::Use& use, Lanes lanes) const;
  void note_origins(const Warp& warp, const UnsetStep& step, Lanes touched, Lanes doubted);
  std::optional<Found> use_computed(const Warp& warp, const UnsetStep& step,
                                    const UnsetStep::Use& use, Lanes lanes);
  std::optional<Found> follow(const Warp& warp, const UnsetStep& step);
  std::uint32_t touched_lanes(const Warp& warp, const UnsetStep& step, std::uint32_t lanes) const;
  void change(const Warp& warp, const UnsetStep& step, std::uint32_t lanes, std::uint32_t touched,
              std::uint32_t doubted);
  std::optional<Found> use(const Warp& warp, const UnsetStep::Use& use, std::uint32_t lanes);
  std::uint32_t unset_lanes(const Warp& warp, const UnsetOperand& operand) const;
  std::optional<std::uint64_t> local_offset(const Warp& warp, const UnsetStep& step,
                                            unsigned lane) const;
  void forget(const Warp& warp, const UnsetStep& step);
  void pass(const Warp& warp, const UnsetStep::Copy& copy);
  void store(const Warp& warp, const UnsetStep& step, std::uint32_t lanes);
  std::uint32_t origin_of(const Warp& warp, const UnsetStep& step) const;
  std::size_t index_of(const Warp& warp, const UnsetOperand& operand) const;
  UnsetBits bits_of(const Warp& warp, const UnsetOperand& operand, unsigned lane) const;
  void give(const Warp& warp, const UnsetOperand& result, unsigned lane, UnsetBits bits);
  void settle(const Warp& warp, const UnsetOperand& operand, std::uint32_t lanes);
  UnsetBits exchanged(const Warp& warp, const UnsetStep& step, std::uint32_t lanes,
                      unsigned lane) const;
  UnsetResults results_of(const Warp& warp, const UnsetStep& step, std::uint32_t lanes,
                          unsigned lane) const;

  const UnsetTable& table_;
  LocalMemory local_;
  std::vector<bool> is_followed_;          ///< by instruction: its stores are the steps' business
  std::vector<std::uint32_t> first_step_;  ///< by operation; none where it is not watched
  /// By warp and register: which lanes have an unset bit; what they have, 32 of each.
  std::vector<std::uint32_t> lanes_;
  std::vector<UnsetBits> bits_;
  std::vector<std::uint32_t> origins_;  ///< by warp and register: the load that last gave some
  /// By warp and register: lanes whose unset bits come from global or shared memory alone, and
  /// those of which something was computed with them.
  std::vector<std::uint32_t> from_memory_, computed_;
  std::vector<const UnsetStep*> memory_step_;  ///< by instruction: a load or store of such memory
  std::uint32_t warps_ = 0;
  std::size_t always_watched_ = 0;  ///< registers that may be unset from the start: the first
  bool is_awake_ = false;
};

}  // namespace warpmeter::model::check
