// SPDX-License-Identifier: MIT
#include "collector/model/machine/launch/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <memory>
#include <mutex>
#include <new>

#include "base/host_cores.h"
#include "base/kernel_name.h"
#include "base/stack.h"
#include "base/with_noun.h"
#include "collector/model/machine/cluster.h"
#include "collector/model/machine/device_limits.h"
#include "collector/model/machine/launch/blocks.h"
#include "collector/model/machine/launch/residency.h"
#include "collector/model/machine/launch/trap_message.h"
#include "collector/model/machine/launch/turns.h"
#include "collector/model/machine/launch/worker.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/order.h"

namespace warpmeter::model {
namespace {

/// The limit for one block, on this machine.
constexpr std::uint64_t most_local_bytes_of_block = std::uint64_t{1} << 30;

/// Kernels round to the nearest and keep denormals, whatever host code does (-ffast-math does not);
/// threads begin as those that start them.
class OwnArithmetic {
 public:
  OwnArithmetic() {
    std::fegetenv(&of_host_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~OwnArithmetic() { std::fesetenv(&of_host_); }
  OwnArithmetic(const OwnArithmetic&) = delete;
  OwnArithmetic& operator=(const OwnArithmetic&) = delete;

 private:
  std::fenv_t of_host_{};
};

using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

void work(Worker& worker, Blocks& blocks, const std::function<bool()>& cancelled,
          const Progress& progress = {}) {
  while (const std::optional<std::uint64_t> block = blocks.next()) {
    switch (worker.run_block(*block, cancelled)) {
      case BlockOutcome::done:
      case BlockOutcome::waits:
        blocks.done(*block, worker);
        break;
      case BlockOutcome::trapped:
        blocks.trapped(worker.trap());
        return;
      case BlockOutcome::cancelled:
        blocks.stop();
        return;
    }
    if (cancelled && cancelled()) {
      blocks.stop();
      return;
    }
    if (progress) progress(blocks.begun(), blocks.count());
  }
}

/// True if a block on its own has come to a loop in which nothing happens: others may end it.
bool may_be_answered(const Worker& worker, const LaunchOptions& options) {
  return options.beside != nullptr && worker.trap().raised.kind == TrapKind::no_progress;
}

/// The next block alone. False: it waits for others, and can go on.
bool work_on_one(Worker& worker, Blocks& blocks, const LaunchOptions& options) {
  const std::optional<std::uint64_t> block = blocks.next();
  if (!block) return true;
  const BlockOutcome outcome = worker.run_block(*block, options.cancelled);
  if (outcome == BlockOutcome::trapped && may_be_answered(worker, options)) return false;
  if (outcome == BlockOutcome::done) blocks.done(*block, worker);
  if (outcome == BlockOutcome::trapped) blocks.trapped(worker.trap());
  if (outcome == BlockOutcome::cancelled) blocks.stop();
  return true;
}

/// Runs the blocks that are left over threads, adding their workers. False when blocks met in
/// memory, or there was none left to keep what they change: then memory is as it was before, and
/// what was counted means nothing.
template <class NewWorker>
bool run_side_by_side(unsigned count, const NewWorker& new_worker,
                      std::vector<std::unique_ptr<Worker>>& workers, Blocks& blocks,
                      Sharing& sharing, const LaunchOptions& options) {
  const std::function<bool()> cancelled = [&] {
    return sharing.has_conflict() || (options.cancelled && options.cancelled());
  };
  const std::size_t first = workers.size();
  const auto run = [&](std::size_t i, const Progress& progress) {
    try {
      work(*workers[i], blocks, cancelled, progress);
    } catch (const std::bad_alloc&) {  // before the access that it was for
      sharing.give_up();
    }
    // In order, it can be left where it is.
    if (blocks.trap() != nullptr && may_be_answered(*workers[i], options)) sharing.give_up();
  };
  std::vector<LargeThread> threads;
  for (unsigned i = 0; i < count; ++i) {
    workers.push_back(new_worker());
    workers.back()->tell(nullptr, &sharing);
  }
  for (unsigned i = 1; i < count; ++i) {
    threads.emplace_back([&, i] { run(first + i, {}); });
  }
  run(first, options.progress);
  for (const LargeThread& thread : threads) thread.join();
  if (!sharing.has_conflict()) return true;
  sharing.restore();
  return false;
}

LaunchOutcome counted(const std::vector<std::unique_ptr<Worker>>& workers) {
  LaunchOutcome sum;
  for (const auto& worker : workers) sum += worker->take_counts();
  return sum;
}

unsigned host_threads(std::uint64_t blocks, unsigned wanted) {
  if (blocks <= 1) return static_cast<unsigned>(blocks);  // the cores are a system call
  if (wanted == 0) wanted = usable_cores();
  return static_cast<unsigned>(std::min<std::uint64_t>(wanted, blocks));
}

}  // namespace

Geometry in_clusters(const Program& program, const Geometry& geometry) {
  Geometry result = geometry;
  if (geometry.cluster.count() == 1) result.cluster = program.cluster;
  return result;
}

std::string cluster_failure(const Program& program, const Geometry& asked) {
  const Dim3 &grid = asked.grid, &cluster = in_clusters(program, asked).cluster;
  const auto named = [](const Dim3& d) { return fmt::format("{}×{}×{}", d.x, d.y, d.z); };
  if (cluster.count() == 1) return "";
  if (program.cluster.count() > 1 && !(cluster == program.cluster)) {
    return fmt::format("kernel '{}' runs in clusters of {} blocks, not {}",
                       readable_name(program.kernel), named(program.cluster), named(cluster));
  }
  if (cluster.count() == 0 || cluster.count() > most_blocks_of_cluster) {
    return fmt::format("a cluster of {} blocks is none that a device takes (1 to {})",
                       named(cluster), most_blocks_of_cluster);
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return fmt::format("a grid of {} blocks cannot be divided into clusters of {}", named(grid),
                       named(cluster));
  }
  return "";
}

std::string register_failure(std::string_view kernel, const Resources& resources,
                             const Dim3& block) {
  if (!resources.registers) return "";
  const std::uint32_t most = most_threads_of_block(*resources.registers);
  if (block.count() <= most) return "";
  return fmt::format(
      "kernel '{}' takes {} a thread, so that a block has at most {}, not {}; "
      "launch smaller blocks, or compile it with __launch_bounds__({})",
      readable_name(kernel), with_noun(*resources.registers, "register"), with_noun(most, "thread"),
      block.count(), block.count());
}

std::string geometry_failure(const Program& program, const Geometry& geometry) {
  const Dim3& grid = geometry.grid;
  const Dim3& block = geometry.block;
  const auto kernel = [&] { return readable_name(program.kernel); };  // only a mistake names it
  const auto named = [](const Dim3& d) { return fmt::format("{}×{}×{}", d.x, d.y, d.z); };
  if (grid.count() == 0 || block.count() == 0) {
    return fmt::format("kernel '{}' has no thread in a grid of {} blocks of {} threads", kernel(),
                       named(grid), named(block));
  }
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
    return fmt::format("a grid of {} blocks is larger than a device takes (2147483647×65535×65535)",
                       named(grid));
  }
  if (block.count() > program.max_threads) {
    return fmt::format("kernel '{}' takes at most {} a block, not {}", kernel(),
                       with_noun(program.max_threads, "thread"), named(block));
  }
  if (block.x > 1024 || block.y > 1024 || block.z > 64) {
    return fmt::format("a block of {} threads is larger than a device takes (1024×1024×64)",
                       named(block));
  }
  if (const std::string failure = cluster_failure(program, geometry); !failure.empty()) {
    return failure;
  }
  const std::uint64_t shared = program.shared_bytes(geometry);
  if (shared > device_limits(program.arch).shared_of_block) {
    return fmt::format("kernel '{}' asks for {} of shared memory, but a block of sm_{} has {}",
                       kernel(), with_noun(shared, "byte"), program.arch,
                       device_limits(program.arch).shared_of_block);
  }
  const std::uint64_t local = program.local_bytes * block.count();
  if (local > most_local_bytes_of_block) {
    return fmt::format(
        "kernel '{}' asks for {} of local memory for the {} of a block, but the "
        "model has {}; launch smaller blocks",
        kernel(), with_noun(local, "byte"), with_noun(block.count(), "thread"),
        most_local_bytes_of_block);
  }
  return "";
}

std::string alone_failure(const Program& program) {
  if (program.device_calls.empty()) return "";
  return fmt::format(
      "kernel '{}' calls cuda{} on the device (dynamic parallelism), which the model answers in "
      "programs: build one that launches it, and measure that (warpmeter profile)",
      readable_name(program.kernel), program.device_calls.front().function.name);
}

std::optional<std::vector<std::byte>> pack_parameters(
    const Program& program, std::span<const std::vector<std::byte>> arguments) {
  if (arguments.size() != program.parameters.size()) return std::nullopt;
  std::vector<std::byte> packed(program.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() != program.parameters[i].bytes) return std::nullopt;
    std::copy(arguments[i].begin(), arguments[i].end(),
              packed.begin() + program.parameters[i].offset);
  }
  return packed;
}

Executions& Executions::operator+=(const Executions& other) {
  if (doubt.empty()) doubt = other.doubt;
  if (time_doubt.empty()) time_doubt = other.time_doubt;
  if (!doubt.empty()) of.clear();
  for (const auto& [line, count] : other.requests) {
    const auto [found, is_new] = requests.try_emplace(line, count);
    if (is_new) continue;
    if (found->second && count) *found->second += *count;
    if (!count) found->second.reset();
  }
  for (std::size_t i = 0; i < std::min(of.size(), other.of.size()); ++i) {
    of[i].warps += other.of[i].warps;
    of[i].threads += other.of[i].threads;
    of[i].parted += other.of[i].parted;
    of[i].warps_again += other.of[i].warps_again;
    of[i].threads_again += other.of[i].threads_again;
    of[i].threads_vary |= other.of[i].threads_vary;
    if (of[i].passed && other.of[i].passed) {
      *of[i].passed += *other.of[i].passed;
    } else {
      of[i].passed.reset();
    }
  }
  return *this;
}

SampledBlocks& SampledBlocks::operator+=(const SampledBlocks& other) {
  blocks += other.blocks;
  counted += other.counted;
  covariance.resize(std::max(covariance.size(), other.covariance.size()));
  for (std::size_t i = 0; i < other.covariance.size(); ++i) covariance[i] += other.covariance[i];
  return *this;
}

LaunchOutcome& LaunchOutcome::operator+=(LaunchOutcome other) {
  counts.resize(std::max(counts.size(), other.counts.size()));
  parted.resize(std::max(parted.size(), other.parted.size()));
  for (std::size_t i = 0; i < other.counts.size(); ++i) {
    counts[i].shared += other.counts[i].shared;
    counts[i].global += other.counts[i].global;
    counts[i].cluster += other.counts[i].cluster;
    counts[i].is_approximate |= other.counts[i].is_approximate;
    counts[i].by_several |= other.counts[i].by_several;
    counts[i].loop_loads += other.counts[i].loop_loads;
    counts[i].has_strayed |= other.counts[i].has_strayed;
    counts[i].on_heap |= other.counts[i].on_heap;
    counts[i].reaches_ended |= other.counts[i].reaches_ended;
  }
  for (std::size_t i = 0; i < other.parted.size(); ++i) parted[i] |= other.parted[i];
  if (!recording) {
    recording = std::move(other.recording);
  } else if (other.recording) {
    *recording += *other.recording;
  }
  blocks += other.blocks;
  warps += other.warps;
  threads_of_blocks += other.threads_of_blocks;
  if (!executions) {
    executions = std::move(other.executions);
  } else if (other.executions) {
    *executions += *other.executions;
  }
  warp_instructions += other.warp_instructions;
  thread_instructions += other.thread_instructions;
  if (!sampled) {
    sampled = std::move(other.sampled);
  } else if (other.sampled) {
    *sampled += *other.sampled;
  }
  return *this;
}

bool LaunchOutcome::has_parted() const {
  return std::find(parted.begin(), parted.end(), 1) != parted.end();
}

bool LaunchOutcome::has_parted(std::uint32_t instruction) const {
  return instruction < parted.size() && parted[instruction] != 0;
}

std::optional<std::uint32_t> parted_at(const Program& program, const LaunchOutcome& outcome) {
  for (const std::uint32_t barrier : program.barriers) {
    if (outcome.has_parted(barrier)) return barrier;
  }
  for (const SyncInfo& sync : program.syncs) {
    if (outcome.has_parted(sync.instruction)) return sync.instruction;
  }
  return std::nullopt;
}

bool waited_apart(const Program& program, const LaunchOutcome& outcome) {
  return std::any_of(program.object_waits.begin(), program.object_waits.end(),
                     [&](std::uint32_t wait) { return outcome.has_parted(wait); });
}

LaunchOutcome launch(const Program& program, const Geometry& asked,
                     std::span<const std::byte> parameters, DeviceMemory& memory,
                     const LaunchOptions& options) {
  const Geometry geometry = in_clusters(program, asked);
  std::unique_lock alone(memory.launching());
  const OwnArithmetic arithmetic;
  for (const ModuleVariable& variable : program.variables) {
    if (options.keep_variables && memory.find(variable.address) != nullptr) continue;
    memory.place(variable.address, variable.initial, variable.name);
  }
  const bool has_clusters = program.has_clusters && geometry.cluster.count() > 1;
  Blocks blocks(geometry, has_clusters, options.sample);
  const bool in_order = options.observer != nullptr || program.blocks_communicate || has_clusters;
  LaunchOutcome outcome;
  outcome.threads = in_order ? 1 : host_threads(blocks.count(), options.threads);
  outcome.is_of_one_thread = blocks.count() == 1 && geometry.block.count() == 1;
  outcome.ordered = follow_order(program, parameters, memory);
  if (options.observer != nullptr) {
    const auto stored = stored_allocations(program, parameters, memory);
    if (stored) options.observer->stores_to(*stored);
  }
  memory.heap().demand = memory.heap().bytes;
  std::unique_ptr<FollowedLaunch> followed;
  if (options.follows_machine_code && options.sample == nullptr && program.steps != nullptr) {
    followed = program.steps->follow(geometry, parameters, memory,
                                     host_threads(geometry.grid.count(), options.threads));
  }
  const Unit& unit = options.unit != nullptr ? *options.unit : best_unit();
  const auto new_worker = [&] {
    auto worker = std::make_unique<Worker>(program, memory, geometry, parameters, unit,
                                           options.instruction_budget);
    worker->print_to(options.print);
    worker->ask(options.device_runtime);
    if (!options.is_cooperative) worker->take_grid_workspace();
    worker->read_textures(options.textures);
    worker->run_on(options.multiprocessors);
    worker->count(options.counts);
    if (options.may_leave_shared) worker->leave_shared();
    worker->ask_predicated(options.predicated_barriers);
    worker->begin_at(options.began_at);
    worker->sample(options.sample);
    worker->go_native(options.native_after);
    if (options.records && options.counts && options.observer == nullptr &&
        options.sample == nullptr) {
      worker->record();
    }
    if (options.observer != nullptr) worker->tell(options.observer, nullptr);
    return worker;
  };
  std::vector<std::unique_ptr<Worker>> workers;
  Worker* begun = nullptr;  // has begun the first block, and waits
  if (outcome.threads > 1) {
    // The first block runs alone, and shows what the kernel stores to.
    Sharing sharing(memory, options.most_kept_bytes, outcome.threads);
    workers.push_back(new_worker());
    workers[0]->tell(nullptr, &sharing);
    if (!work_on_one(*workers[0], blocks, options)) begun = workers[0].get();
    if (begun != nullptr || !sharing.begin()) {
      workers[0]->forget_places();
      workers[0]->tell(nullptr, nullptr);
      outcome.threads = 1;
    } else if (!run_side_by_side(outcome.threads, new_worker, workers, blocks, sharing, options)) {
      workers.resize(1);
      outcome.threads = 1;
      blocks.start_again();
    }
    memory.for_each([](Allocation& allocation) { allocation.touched = nullptr; });
  }
  if (outcome.threads == 1) {
    const bool has_waiting_loops = std::any_of(program.sites.begin(), program.sites.end(),
                                               [](const SiteInfo& site) { return site.waits; });
    const Turns turns = has_waiting_loops ? Turns::short_ones : Turns::long_ones;
    const bool is_answered = program.polls && options.beside != nullptr;
    const bool takes_turns =
        program.blocks_communicate || has_clusters || is_answered || begun != nullptr;
    const auto together = has_clusters ? static_cast<std::uint32_t>(geometry.cluster.count()) : 1;
    const auto residency = [&] { return residency_of(program, geometry, options); };
    std::optional<BesideLaunch> beside;
    if (options.beside != nullptr) beside.emplace(alone, *options.beside);
    run_in_turns(new_worker, workers, blocks,
                 {takes_turns ? turns : Turns::none, together, residency,
                  beside ? &*beside : nullptr, begun},
                 options);
  }

  outcome.cancelled = blocks.is_stopped();
  outcome.may_fill_heap = program.allocates && memory.heap().demand > memory.heap().limit;
  if (const BlockTrap* trap = blocks.trap()) {
    outcome.trap = describe(*trap, program, geometry, memory);
    const bool asked_in_vain = !options.is_cooperative && !program.grid_workspace.empty();
    if (asked_in_vain && trap->raised.kind == TrapKind::trap_instruction) {
      outcome.trap->message +=
          "; the launch was not cooperative, so that the grid cannot wait as a whole: "
          "cudaLaunchCooperativeKernel makes one";
    }
    if (options.observer != nullptr) {
      options.observer->stopped(trap->raised.kind, trap->raised.instruction, outcome.trap->message);
    }
  }
  if (options.sample != nullptr) {
    for (const auto& worker : workers) outcome += worker->take_uncounted();
    outcome += options.sample->whole();
  } else {
    outcome += counted(workers);
  }
  if (followed && !outcome.trap && !outcome.cancelled) {
    outcome.executions = followed->end(memory);
    compare_requests(*outcome.executions, program, outcome);
  }
  if (!options.keep_variables) {
    for (const ModuleVariable& variable : program.variables) memory.remove(variable.address);
  }
  return outcome;
}

}  // namespace warpmeter::model
