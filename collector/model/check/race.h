// Races of the threads of a block on its shared memory.
//
// Two accesses race when they are of different threads, at least one writes, not both are atomic,
// and nothing orders them. Order comes from barriers of the block, from instructions that make
// lanes of a warp wait for each other (__syncwarp, shuffles, votes), and, in kernels with memory
// fences or barrier objects, from atomics on the same address. It is kept in vector clocks, after
// Lamport (1978) and FastTrack (Flanagan, Freund, 2009): warps know how far they have seen each
// other, and the lanes of a warp likewise.
//
// Of each byte the last write and the last reads of two warps are remembered, and the same of
// atomic and volatile accesses, which race only with others. So a race may be seen only by another
// of its accesses, but what is reported is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "collector/model/counting.h"

namespace warpmeter::model::check {

struct SharedAccess {
  std::uint32_t thread = 0;  ///< in the block
  std::uint64_t offset = 0;
  std::uint32_t width = 0;
  std::uint32_t instruction = 0;
  bool reads = false, writes = false;
  bool is_strong = false;            ///< atomic, volatile or relaxed: never races with its like
  std::span<const std::byte> value;  ///< that is written; empty: not known
};

struct Race {
  std::uint32_t other_thread = 0, other_instruction = 0;
  bool other_writes = false;
};

class RaceDetector {
 public:
  RaceDetector(std::size_t shared_bytes, std::uint32_t warps, bool has_fences);

  void start_block();
  /// The lanes of the mask wait for each other.
  void meet(std::uint32_t warp, std::uint32_t lanes);
  /// The warp goes on after it has told the barrier that it was there.
  void arrive(std::uint32_t barrier, std::uint32_t warp);
  /// Those warps have met at the barrier, with each other and with all that arrived before.
  void release(std::uint32_t barrier, std::uint32_t warps);

  /// Remembers the access; a race with an earlier one, if there is one.
  std::optional<Race> access(const SharedAccess& access);

  /// Whether the block has written any of these bytes.
  bool is_written(std::uint64_t offset, std::uint32_t width) const;

 private:
  struct Event {
    std::uint32_t lane_clock = 0, warp_clock = 0, instruction = 0;
    std::uint16_t thread = 0;
    bool exists = false;
  };
  struct Accesses {
    Event write, read, other_read;  ///< other_read: of another warp than `read`
  };
  struct Byte {
    Accesses plain, strong;
    std::byte value{};  ///< of the last plain write
    bool value_known = false;
    std::uint64_t block = 0;  ///< that this is about; of an earlier one, nothing is known
  };
  using Clock = std::array<std::uint32_t, warp_lanes>;
  struct Warp {
    Clock seen{};                           ///< by warp; its own entry is its clock
    std::array<Clock, warp_lanes> lanes{};  ///< of each lane, by lane
  };
  struct Location {  ///< what an atomic found there
    Clock warps{};
    std::map<std::uint32_t, Clock> lanes;  ///< by warp
  };

  bool is_ordered(const Event& event, std::uint32_t thread) const;
  Event event_of(const SharedAccess& access) const;
  void synchronise(const SharedAccess& access);
  static void remember_read(Accesses& accesses, const Event& event);

  const bool has_fences_;
  std::uint64_t block_ = 0;  ///< counted from 1
  std::vector<Byte> bytes_;
  std::vector<Warp> warps_;
  std::array<Clock, 16> barriers_{};
  std::unordered_map<std::uint64_t, Location> locations_;
};

}  // namespace warpmeter::model::check
