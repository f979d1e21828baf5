// SPDX-License-Identifier: MIT
// A kernel launch on the CPU: blocks of a program over threads of the host, then the counts.
//
// Counts and results do not depend on how many threads there are: counts are sums of whole numbers,
// and blocks are independent of each other. Kernels whose blocks may talk to each other (atomics on
// global or generic memory, volatile or ordered accesses to it) run on one thread, block after
// block, or in turns where they wait for each other (see turns.h), so that they too give the same
// every time; so do those whose blocks turn out to touch what others wrote (see sharing.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "collector/model/machine/execute/units.h"
#include "collector/model/machine/launch/beside.h"
#include "collector/model/machine/launch/followed.h"
#include "collector/model/machine/memory/memory.h"
#include "collector/model/machine/observer.h"
#include "collector/model/machine/program.h"
#include "collector/model/machine/texture/texture.h"
#include "collector/model/machine/worker_memory.h"

namespace warpmeter::model {

/// Warp instructions that one warp may execute before it is taken for an endless loop.
inline constexpr std::uint64_t default_instruction_budget = 1'000'000'000;

/// A translation takes about as long as executing it so often.
inline constexpr std::uint64_t default_native_after = 400;

class DeviceRuntime;

/// Why a kernel was stopped.
struct Trap {
  TrapKind kind = TrapKind::none;
  std::string message;  ///< one sentence: what, kernel, lines, block and thread
  Place place;
  std::uint64_t address = 0;
  Dim3 block, thread;  ///< that raised it
  std::string
      assertion;  ///< the text that CUDA writes to standard error for one that failed; else empty
};

/// A 95 % interval of errors that are normal reaches so many standard deviations to each side.
inline constexpr double normal_95 = 1.959964;

/// How a launch was estimated of whose blocks some were counted.
struct SampledBlocks {
  std::uint64_t blocks = 0, counted = 0;  ///< all that ran, and those of them that were counted
  /// The covariance of the errors of the counters that were asked for, a row each; widened so far
  /// that normal_95 gives the interval also of few blocks.
  std::vector<double> covariance;

  /// Adds another launch, whose errors do not depend on these.
  SampledBlocks& operator+=(const SampledBlocks& other);
};

struct LaunchOutcome {
  std::optional<Trap> trap;
  bool cancelled = false;
  bool is_of_one_thread = false;  ///< the whole launch: nobody else is there
  /// Threads asked malloc for more than the heap holds at once, had none been freed.
  bool may_fill_heap = false;
  std::vector<SiteCounts>
      counts;  ///< the counts of each of the program's sites; complete only without a trap
  std::vector<std::uint8_t> parted;  ///< for each instruction: 1 where lanes of a warp parted at it
  bool has_parted() const;           ///< anywhere
  bool has_parted(std::uint32_t instruction) const;
  /// For each site, 1 where its addresses depend on an order that earlier launches left in memory;
  /// empty: none does.
  std::vector<std::uint8_t> ordered;
  std::uint64_t blocks = 0, warps = 0, threads_of_blocks = 0;  ///< that ran
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  ///< active lanes over all warp instructions
  std::optional<Recording> recording;     ///< where the options ask for it
  std::optional<Executions> executions;   ///< likewise, of the machine code
  std::optional<SampledBlocks> sampled;   ///< where some blocks were counted; nullopt: all
  unsigned threads = 0;                   ///< the threads of the host, that took part

  /// Adds the counts and what was recorded; threads, traps and the like stay.
  LaunchOutcome& operator+=(LaunchOutcome other);
};

/// The first barrier that some lanes of a warp came to without the others, or else exchange without
/// those named; nothing where there is none. The cost of the launch depends then on whether the
/// machine code branches around it or predicates.
std::optional<std::uint32_t> parted_at(const Program& program, const LaunchOutcome& outcome);

/// True if threads waited at a barrier object for others of their warp; what each does then by
/// itself depends on the machine code too.
bool waited_apart(const Program& program, const LaunchOutcome& outcome);

/// Where that is and what it means, as one sentence; empty where there is none.
std::string parted_remark(const Program& program, const LaunchOutcome& outcome);

/// The work of a block, which is known whether it is counted or not.
struct BlockWork {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// Blocks of a grid that are counted in place of all, and who takes what each of them cost.
class BlockSample {
 public:
  virtual ~BlockSample() = default;
  /// True: the others run too, uncounted. False: they do not run.
  virtual bool runs_others() const { return false; }
  /// True if the block is one of them.
  virtual bool holds(std::uint64_t block) const = 0;
  /// Notes one of the others, after it ran; any thread may call it.
  virtual void pass(std::uint64_t /*block*/, const BlockWork& /*work*/) {}
  virtual const std::vector<std::uint64_t>& blocks() const = 0;  ///< linear, in the order to run
  /// Adds the cost of one of them. One thread at a time calls it.
  virtual void add(std::uint64_t block, const LaunchOutcome& outcome) = 0;
  /// Forgets what was added after the first block.
  virtual void keep_first() = 0;
  /// The estimated cost of the whole grid.
  virtual LaunchOutcome whole() const = 0;
};

struct LaunchOptions {
  unsigned threads = 0;  ///< the threads of the host; 0: one a core
  std::uint64_t instruction_budget = default_instruction_budget;
  std::function<bool()> cancelled;  ///< asked now and then, by any thread; may be empty
  const Unit* unit = nullptr;       ///< null: the best
  std::function<void(std::string_view)>
      print;  ///< the receiver of the kernel's output; empty: standard error
  /// The module's variables stay in `memory`, for the launches that follow; the first brings them.
  bool keep_variables = false;
  /// Looks on while the kernel runs, in order on one thread; null: nobody does.
  LaunchObserver* observer = nullptr;
  /// Takes the costs of its blocks; no others are counted. Null: all are.
  BlockSample* sample = nullptr;
  /// Accesses behind a block's shared memory go on where hardware's do: to the end of its last
  /// shared_step(). A thread that went there has_strayed. False: they are traps.
  bool may_leave_shared = false;
  /// False: what accesses cost is not worked out, and the outcome's counts of it are zero.
  bool counts = true;
  /// The most memory that blocks side by side may take beside the memory, to start again in order
  /// should they meet; a launch that would take more runs in order at once.
  std::uint64_t most_kept_bytes = ~std::uint64_t{0};
  /// False: the launch is not cooperative, so that the grid has nothing to wait with as a whole.
  bool is_cooperative = true;
  /// The first value of %globaltimer, in nanoseconds since 1970: from there on a warp's goes on by
  /// one with each of its instructions, so that what a loop waits for is the same every time.
  std::uint64_t began_at = 0;
  /// Takes what the kernel launches, and answers what it asks; null: such calls fail.
  DeviceRuntime* device_runtime = nullptr;
  /// Keep a recording as well, of what is counted without a sample or an observer.
  bool records = false;
  /// Follow the warps through the machine code as well, where it was read and all blocks run.
  bool follows_machine_code = false;
  /// The meaning of handles of textures and surfaces; null: none means anything.
  const Textures* textures = nullptr;
  /// How often each of the program's operations is executed, on average over such launches, before
  /// machine code is made of them (see native/code.h).
  std::uint64_t native_after = default_native_after;
  /// The later value of Program::predicated_barriers of a program that was not audited; asked once
  /// some lanes of a warp have come to a barrier without the others, by any thread. May be empty.
  std::function<std::vector<std::uint32_t>()> predicated_barriers = {};
  /// Null: nobody is beside the launch, and a block that waits for what no other brings about is a
  /// trap at once.
  Beside* beside = nullptr;
  /// A thread's registers, of a program that was not audited; asked once more blocks wait than the
  /// device has multiprocessors. May be empty.
  std::function<std::optional<std::int64_t>()> registers = {};
  /// The values of %smid, dealt out in turn to the blocks; empty: every multiprocessor of the
  /// device.
  std::span<const std::uint32_t> multiprocessors = {};
  /// Told now and then how many blocks were begun, by one thread; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t blocks)> progress = {};
};

/// The geometry with the clusters that the kernel asks for where the launch asks for none.
Geometry in_clusters(const Program& program, const Geometry& geometry);

/// Why the grid cannot be divided into such clusters, as one sentence; empty when it can.
std::string cluster_failure(const Program& program, const Geometry& geometry);

/// Why a block of the kernel's has too many threads for so many registers, as one sentence; empty
/// when it has not, or when nobody knows how many registers a thread takes.
std::string register_failure(std::string_view kernel, const Resources& resources,
                             const Dim3& block);

/// Why this geometry cannot be launched, as one sentence; empty when it can. Registers are left to
/// register_failure().
std::string geometry_failure(const Program& program, const Geometry& geometry);

/// Why the kernel cannot run by itself, outside of a program, as one sentence; empty when it can.
std::string alone_failure(const Program& program);

/// The entry's parameters in memory. nullopt: another number of arguments, or a size that differs.
std::optional<std::vector<std::byte>> pack_parameters(
    const Program& program, std::span<const std::vector<std::byte>> arguments);

/// Puts the module's own variables into `memory`, runs, and takes them out again unless they are to
/// be kept. The geometry must have no geometry_failure(). Any thread may call it; while another
/// launch runs over the same memory, it waits.
LaunchOutcome launch(const Program& program, const Geometry& geometry,
                     std::span<const std::byte> parameters, DeviceMemory& memory,
                     const LaunchOptions& options);

}  // namespace warpmeter::model
