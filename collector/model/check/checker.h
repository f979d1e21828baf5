// What --check finds while a kernel runs, one thread of the host at a time and block after block:
// accesses out of bounds or misaligned (they are left out, and the kernel goes on), reads of memory
// that nobody has written, races on shared memory, copies to it that nobody waits for, races of
// blocks on global memory, barriers that threads go past, and masks of
// *.sync instructions that name lanes which are not there.
//
// The machine tells the checker of every access (see access.cpp), and of every operation before it
// is executed (see Unit::run_checked).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/model/check/block_race.h"
#include "collector/model/check/copies.h"
#include "collector/model/check/passage.h"
#include "collector/model/check/race.h"
#include "collector/model/check/written.h"
#include "collector/model/program.h"
#include "collector/model/warp.h"
#include "kernels/family.h"

namespace warpmeter::model {
struct WorkerMemory;
}

namespace warpmeter::model::check {

enum class Defect : std::uint8_t {
  out_of_bounds,
  misaligned,
  uninitialised,
  race,
  block_race,
  barrier,
  absent_lanes,
  trap,
};
std::string_view to_string(Defect defect);  ///< "out of bounds", "race", …

struct Finding {
  Defect defect = Defect::trap;
  Place place;
  std::string file;         ///< of the source; empty where the PTX does not say
  std::uint64_t times = 0;  ///< how often, by all threads
  std::string message;      ///< of the first time: one sentence
};

class Checker {
 public:
  /// All of these outlive the checker.
  Checker(const Program& program, const kernels::Geometry& geometry, DeviceMemory& memory,
          WrittenMemory& written);

  void start_block(std::uint64_t block);
  /// Before an operation is executed by the lanes of the mask.
  void observe(const Warp& warp, const Operation* op, std::uint32_t mask);
  /// A lane's access that is refused: where it may go instead.
  std::byte* refuse(const Warp& warp, const Operation* op, TrapKind kind, AddressSpace space,
                    unsigned lane, std::uint64_t address);
  /// A lane's access that is fine. `address` counts from the space's beginning.
  void accept(const Warp& warp, const Operation* op, const SiteInfo& info, AddressSpace space,
              unsigned lane, std::uint64_t address);
  void arrive(std::uint32_t barrier, std::uint32_t warp);
  /// Warps that have met at a barrier, and those that have ended meanwhile, a bit each.
  struct Meeting {
    std::uint32_t barrier = 0;
    bool is_for_all = false;  ///< of the block, not for a number of threads
    std::uint32_t waiting = 0, finished = 0;
    std::array<std::uint32_t, warp_lanes> operations{};  ///< at which each waiting warp stands
  };
  void release(const Meeting& meeting);
  /// A kernel that had to be stopped.
  void stopped(TrapKind kind, std::uint32_t instruction, const std::string& message);

  /// By their places.
  std::vector<Finding> findings() const;

 private:
  using Key = std::pair<Defect, std::uint32_t>;  ///< and the instruction

  void add(Defect defect, std::uint32_t instruction, const std::string& what, std::uint32_t thread);
  std::string thread_name(std::uint32_t thread) const;
  std::string line_of(std::uint32_t instruction) const;
  void check_mask(const Warp& warp, const Operation* op, std::uint32_t mask);
  void check_shuffle(const Warp& warp, const Operation* op, std::uint32_t mask);
  void check_shared(const SharedAccess& access, bool is_copy);
  void add_unawaited(const Copy& copy, std::uint32_t instruction, std::uint32_t thread,
                     bool writes);
  void check_blocks(const Warp& warp, const Operation* op, const SiteInfo& info, unsigned lane,
                    std::uint64_t address);
  std::string block_name(std::uint64_t block) const;
  void advance_copies(const Warp& warp, const CopyInfo& info, std::uint32_t mask);

  const Program& program_;
  const kernels::Geometry geometry_;
  DeviceMemory& memory_;
  WrittenMemory& written_;
  std::vector<std::uint16_t> members_;  ///< row of the mask, by instruction; no_operand: none
  std::vector<bool> in_structures_;     ///< by site: loads a part of one
  std::vector<std::uint32_t> last_;     ///< by warp: the last operation that did something
  Passage passage_;
  RaceDetector races_;
  Copies copies_;
  const bool blocks_may_race_;  ///< nothing can order them
  BlockRaces block_races_;
  std::vector<bool> local_written_;
  std::array<std::byte, 64> nowhere_{};
  std::uint64_t block_ = 0;
  std::map<Key, Finding> findings_;
};

}  // namespace warpmeter::model::check
