// SPDX-License-Identifier: MIT
// One thread of the host that runs blocks, one after the other. Holds the registers of a block's
// warps, its shared and local memory, and the counts of every block it ran.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/geometry.h"
#include "collector/model/machine/barriers.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/execute/units.h"
#include "collector/model/machine/launch/launch.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/object_waits.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/warp/parting.h"
#include "collector/model/machine/warp/warp.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

/// A trap, with the block that raised it.
struct BlockTrap {
  RaisedTrap raised;
  Assertion assertion;  ///< that failed
  std::uint32_t warp = 0;
  std::uint64_t block = ~std::uint64_t{0};  ///< linear, x fastest
  /// Where no block goes on: how many have not begun, and how many the device holds at a time.
  std::uint64_t not_begun = 0, resident = 0;
  /// Where its block does not go on: a wait of each place where warps wait at barrier objects, that
  /// of its own warp first.
  std::vector<ObjectWait> object_waits = {};
};

enum class BlockOutcome { done, waits, trapped, cancelled };

/// The turns of a block that seems to wait for others: if it is left for later, and how soon. As a
/// last resort, when nobody goes on, lanes that wait for others of their warp let those go on.
enum class Turns { none, long_ones, short_ones, last_resort };

class Worker {
 public:
  /// The program, the device memory and the parameters must outlive the worker.
  Worker(const Program& program, DeviceMemory& device, const Geometry& geometry,
         std::span<const std::byte> parameters, const Unit& unit, std::uint64_t instruction_budget);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void ask(DeviceRuntime* runtime) { memory_.device_runtime = runtime; }
  void print_to(std::function<void(std::string_view)> print) { memory_.print = std::move(print); }
  /// Switches the costs of accesses on or off. The launch was not cooperative.
  void take_grid_workspace();
  /// See LaunchOptions::may_leave_shared.
  void leave_shared() { memory_.may_leave_shared = true; }
  void read_textures(const Textures* textures) { memory_.textures = textures; }
  /// See LaunchOptions::multiprocessors.
  void run_on(std::span<const std::uint32_t> multiprocessors) {
    multiprocessors_ = multiprocessors;
  }
  void count(bool is_counted) { memory_.is_counted = is_counted; }
  /// The blocks that are counted, where others run too. Null: all are as count() says.
  void sample(const BlockSample* sample) { sample_ = sample; }
  /// Machine code in place of the interpreter, after as many executions of each operation in this
  /// launch and those before.
  void go_native(std::uint64_t after);
  /// See LaunchOptions::predicated_barriers.
  void ask_predicated(std::function<std::vector<std::uint32_t>()> ask) {
    ask_predicated_ = std::move(ask);
  }
  /// When %globaltimer begins.
  void begin_at(std::uint64_t nanoseconds) {
    for (Warp& warp : warps_) warp.launched_at = nanoseconds;
  }
  /// Keeps a recording of what it runs; see Recording.
  void record();
  /// Who is told of accesses and barriers while blocks run; either may be null. See WorkerMemory.
  void tell(LaunchObserver* launch, Sharing* sharing);

  /// Runs one block to its end. `cancelled` is asked now and then; it may be empty.
  BlockOutcome run_block(std::uint64_t block, const std::function<bool()>& cancelled);

  /// The same in turns with other blocks: go_on() may say that the block waits, and is called
  /// again.
  /// `cluster`: that it is one of; null: of none.
  void start_block(std::uint64_t block, Cluster* cluster = nullptr);
  /// Its rank in that cluster.
  Cluster* cluster() const { return memory_.cluster; }
  std::uint32_t rank() const { return rank_in_cluster(block_index_, geometry_.cluster); }
  BlockOutcome go_on(const std::function<bool()>& cancelled, Turns turns);
  std::uint64_t block() const { return trap_.block; }
  /// After BlockOutcome::waits: no warp has done anything in this turn but what it did before.
  bool is_still() const { return turn_is_still_; }
  /// And none of its warps has stored anything, unless by an atomic or at a barrier object.
  bool only_asks() const { return only_asks_; }
  /// The bytes of the block's registers and memory.
  std::size_t resident_bytes() const;
  /// While it is not null, takes the addresses of global memory that are loaded.
  void note_loads(std::set<std::uint64_t>* loaded);
  /// Drops places of memory, which may have come and gone since.
  void forget_places();
  /// Warp instructions of the block that runs, so far.
  std::uint64_t executed() const;
  /// Gives up a block that waits for others which do not go on either, or that never ends.
  void give_up(TrapKind kind);

  const BlockTrap& trap() const { return trap_; }  ///< after BlockOutcome::trapped

  /// The cost of the blocks that ran since it was asked the last time. Forgets what sites remember,
  /// and hands the recording over: what runs from then on is not recorded.
  LaunchOutcome take_counts();
  /// The instructions and partings of the blocks that a sample left out. Their accesses were not
  /// counted.
  LaunchOutcome take_uncounted();
  /// The work of the block that ran last.
  BlockWork work_of_block() const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  void fill(Warp& warp, const ConstantRow& constant);
  void fill_lasting_rows(Warp& warp);  ///< the rows that no block changes
  std::uint32_t special_value(Special special, std::uint32_t warp, std::uint32_t lane) const;
  void start_warps(std::uint64_t block);
  void count_block(bool is_counted);
  void set_apart();
  void take_work(LaunchOutcome& taken);
  void trace(bool is_traced);
  void watch(BlockObserver* observer);
  void join(Cluster* cluster);
  bool is_runnable(const Warp& warp) const;
  RunWarp way_to_run(const Warp& next);
  BlockOutcome run_on(const std::function<bool()>& cancelled, Turns turns);
  BlockOutcome raise(Warp& warp, TrapKind kind);
  Warp* of_incomplete_group();
  bool stands_still(const Warp& warp);
  bool spins(Warp& warp, bool lets_go);
  std::uint64_t state_at_barrier() const;
  bool ends_turn(std::uint32_t phases);
  void let_others_go(Warp& warp);
  bool wait_for_parted(Warp& warp);
  void go_apart(Warp& warp);
  bool is_predicated(const Operation* barrier);
  template <class T>
  T* row(const Warp& warp, std::uint32_t unit) const;

  /// The state of a warp when its share last ended, or at the ends before.
  struct Spin {
    std::uint32_t active = 0, depth = 0;
    std::uint64_t since = 0;                ///< how many instructions it had executed then
    std::array<std::uint64_t, 8> states{};  ///< hashes of its registers and place, the oldest first
  };
  /// Warp instructions after which a warp lets the others go on, at its next jump backwards.
  static constexpr std::uint64_t share = 1 << 18;
  /// The most turns of a block whose lanes wait for each other.
  static constexpr std::uint32_t most_turns = 1 << 20;

  const Program& program_;
  const Geometry geometry_;
  const Unit& unit_;
  const std::uint64_t instruction_budget_;
  bool may_be_native_ = false;
  std::uint64_t native_after_ = ~std::uint64_t{0};  ///< warp instructions; all ones: never
  const NativeCode* native_ = nullptr;
  std::uint32_t warp_count_ = 0;
  WorkerMemory memory_;
  std::span<const std::uint32_t>
      multiprocessors_;  ///< the multiprocessors of the launch; empty: all
  Cluster alone_{1};     ///< for a launch without clusters
  std::unique_ptr<BlockObserver> observer_, noted_loads_;
  std::unique_ptr<Footprint> footprint_;
  std::unique_ptr<std::byte, Free> registers_;
  std::vector<std::uint32_t> predicates_;
  std::vector<Warp> warps_;
  std::vector<Frame> frames_;  ///< the warps' stacks
  Barriers barriers_;
  std::vector<Parting> partings_;  ///< the partings of each warp
  std::function<std::vector<std::uint32_t>()> ask_predicated_;
  std::optional<std::vector<std::uint32_t>> predicated_;  ///< once they were asked for
  bool has_atomics_ = false;
  std::vector<Spin> spins_;        ///< the spins of each warp
  bool is_still_ = false;          ///< in the last share of every warp
  bool only_asks_ = false;         ///< none of the loops that warps were in then stores
  bool turn_is_still_ = false;     ///< in all of them of this turn
  bool goes_round_ = false;        ///< from barrier to barrier, without anything new
  bool is_round_ = false;          ///< the same for the barriers that were looked at
  std::uint64_t known_state_ = 0;  ///< at the first of these
  std::uint64_t removals_ = 0;     ///< the removals of memory, when this block ran last
  std::uint32_t turns_ = 0;        ///< that lanes of one warp took, in this block
  std::array<std::uint32_t, 3> block_index_{};
  BlockTrap trap_;
  const BlockSample* sample_ = nullptr;
  std::uint64_t blocks_ = 0, warp_instructions_ = 0, thread_instructions_ = 0;
  LaunchOutcome uncounted_;  ///< by the blocks that the sample left out
};

}  // namespace warpmeter::model
