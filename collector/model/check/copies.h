// SPDX-License-Identifier: MIT
// Copies that run on while their threads do (cp.async): which bytes of shared memory they may still
// write. The machine copies at once; the hardware has copied for certain when the thread that asked
// for the copy has waited for it, or somebody has waited at the barrier object that counts it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "collector/model/machine/program.h"

namespace warpmeter::model::check {

struct Copy {
  std::uint64_t offset = 0;  ///< in shared memory
  std::uint32_t width = 0;
  std::uint64_t source = 0, source_end = 0;  ///< in global memory; equal: it reads nothing
  std::uint32_t instruction = 0;
  std::uint32_t thread = 0;
  std::array<std::byte, 16> value{};  ///< that it writes
  std::uint32_t number = 0;           ///< in the block
  std::uint32_t handed_over = 0;      ///< by that hand-over of its thread, or one later; 0: by none
};

class Copies {
 public:
  Copies(const Program& program, std::size_t shared_bytes, std::size_t threads);

  void start_block();
  /// The copy of an instruction; null: nothing to do with copies.
  const CopyInfo* find(std::uint32_t instruction) const;

  void start(const Copy& copy);
  /// An instruction of one thread that is not a copy: the copies that are done with it.
  std::vector<Copy> advance(const CopyInfo& info, std::uint32_t thread);
  /// An object counts all copies of the thread from now on, in its phase of now. Those that no
  /// object counted before.
  std::vector<Copy> hand_over(std::uint32_t thread, std::uint64_t object, bool phase);
  /// Somebody has waited for the phase before this one.
  void wait(std::uint64_t object, bool phase);
  /// A copy that may still write one of these bytes; null: there is none.
  const Copy* under_way(std::uint64_t offset, std::uint32_t width) const;
  /// A copy that may still read one of these bytes of global memory; null: there is none.
  const Copy* reading(std::uint64_t address, std::uint32_t width) const;

 private:
  struct Thread {
    std::vector<std::vector<Copy>> groups;  ///< that were committed, the oldest first
    std::vector<Copy> open;                 ///< that no group has yet
  };
  struct HandOver {
    std::uint64_t object = 0;
    std::uint32_t thread = 0, number = 0;
    bool phase = false;    ///< the phase of the object
    bool is_over = false;  ///< and the object is in a later one
  };
  static constexpr std::uint32_t nothing = ~std::uint32_t{0};

  void finish(std::vector<Copy>& copies, std::vector<Copy>& done);
  void free_bytes(const Copy& copy);
  void count_pages(const Copy& copy, bool begins);
  void finish(const HandOver& handed_over);

  std::vector<CopyInfo> infos_;         ///< by instruction, in ascending order
  std::vector<Thread> threads_;         ///< none where the program has no copies
  std::vector<std::uint32_t> byte_of_;  ///< the copy that writes each byte, by its number
  std::vector<Copy> all_;               ///< for this block, by number
  /// By page of global memory: the copies under way from it.
  std::unordered_map<std::uint64_t, std::uint32_t> pages_;
  std::vector<HandOver> hand_overs_;  ///< that nobody has waited for
  std::uint32_t hand_over_count_ = 0;
};

}  // namespace warpmeter::model::check
