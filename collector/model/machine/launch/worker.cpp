// SPDX-License-Identifier: MIT
// Warps take turns: each runs until it waits at a barrier, ends, or has had its share; when none
// can run, either a barrier is complete and its warps go on, or threads wait for others that will
// never come.
#include "collector/model/machine/launch/worker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "collector/model/counts/rules/counting.h"
#include "collector/model/machine/device_limits.h"
#include "collector/model/machine/launch/noted_loads.h"
#include "collector/model/machine/load_groups.h"
#include "collector/model/machine/memory/align.h"
#include "collector/model/machine/memory/sharing.h"
#include "collector/model/machine/observer.h"

namespace warpmeter::model {
namespace {

/// The same in a block whose lanes are known to wait for each other.
constexpr std::uint64_t share_of_spinners = 1 << 12;
/// The first where blocks are known to; it doubles while the block goes on.
constexpr std::uint64_t first_share_in_turns = 1 << 4;
/// The first behind a barrier. Hardware's warps go on side by side: what each reads there at once
/// all have read before one comes to the end of its next loop and stores there again, which
/// programs rely on that lack a barrier in between.
constexpr std::uint64_t share_behind_barrier = 1 << 4;
/// Shares of every warp after which a block is left for later although it goes on.
constexpr std::uint32_t longest_turn = 64, longest_of_short_turns = 16;
/// Shares of every warp in which none does anything new, after which a block on its own waits for
/// nothing that could come.
constexpr std::uint32_t still_shares = 16;

/// The first site of each site's source line, where it has one.
std::vector<std::uint32_t> lines_of_sites(const Program& program) {
  std::vector<std::uint32_t> lines(program.sites.size());
  std::map<std::pair<int, int>, std::uint32_t> first;
  for (std::uint32_t i = 0; i < lines.size(); ++i) {
    const Place& place = program.places[program.sites[i].instruction];
    const bool has_line = place.own_line != 0 && program.sites[i].is_atomic();
    lines[i] = has_line ? first.try_emplace({place.file, place.own_line}, i).first->second : i;
  }
  return lines;
}

}  // namespace

void Worker::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{row_unit_bytes});
}

Worker::Worker(const Program& program, DeviceMemory& device, const Geometry& geometry,
               std::span<const std::byte> parameters, const Unit& unit,
               std::uint64_t instruction_budget)
    : program_(program),
      geometry_(geometry),
      unit_(unit),
      instruction_budget_(instruction_budget),
      warp_count_(
          static_cast<std::uint32_t>((geometry.block.count() + warp_lanes - 1) / warp_lanes)),
      warps_(warp_count_),
      barriers_(warps_) {
  memory_.program = &program;
  memory_.warps = warps_;
  memory_.device = &device;
  memory_.shared_bytes = program.shared_bytes(geometry);
  memory_.shared.resize(round_up(memory_.shared_bytes, shared_step(program.arch)));
  memory_.local.resize(std::size_t{program.local_bytes} * warp_count_ * warp_lanes);
  memory_.parameters.assign(parameters.begin(), parameters.end());
  memory_.constants = program.constant_memory;
  memory_.sites.resize(program.sites.size() + 1);
  for (Site& site : memory_.sites) site.hits = site.own_hits;
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    memory_.sites[i].leader =
        &memory_.sites[program.sites[i].leader.value_or(program.sites.size())];
  }
  memory_.counts.resize(program.sites.size());
  memory_.copy_memos.resize(program.async_copies.size());
  memory_.misses.resize(program.sites.size());
  memory_.known.resize(program.sites.size());
  memory_.parted.resize(program.places.size());

  const std::size_t bytes = std::max<std::size_t>(program.row_units, 1) * row_unit_bytes;
  registers_.reset(static_cast<std::byte*>(
      ::operator new[](bytes* warp_count_, std::align_val_t{row_unit_bytes})));
  std::memset(registers_.get(), 0, bytes * warp_count_);
  predicates_.resize(std::size_t{program.predicate_count} * warp_count_);
  spins_.resize(warp_count_);
  partings_.resize(warp_count_);
  has_atomics_ = std::any_of(program.sites.begin(), program.sites.end(),
                             [](const SiteInfo& site) { return site.kind == AccessKind::atomic; });
  const std::uint32_t calls = program.has_calls ? frames_of_calls : 0;
  const std::uint32_t frames = 2 * frames_of_divergence + calls;
  frames_.resize(std::size_t{frames} * warp_count_);
  for (std::uint32_t i = 0; i < warp_count_; ++i) {
    Warp& warp = warps_[i];
    warp.registers = registers_.get() + bytes * i;
    warp.predicates = predicates_.data() + std::size_t{program.predicate_count} * i;
    warp.sites = memory_.sites.data();
    warp.parted = memory_.parted.data();
    warp.memory = &memory_;
    warp.products = program.products.data();
    warp.reaches = program.reaches.data();
    warp.warpgroup_products = program.warpgroup_products.data();
    warp.lane_host = memory_.lane_host.data();
    warp.code = program.operations.data();
    warp.local_bytes = program.local_bytes;
    warp.local = memory_.local.data() + std::size_t{program.local_bytes} * warp_lanes * i;
    warp.index = i;
    warp.functions = program.functions.data();
    warp.function_count = program.functions.size();
    warp.stack = frames_.data() + std::size_t{frames} * i;
    warp.stack_limit = calls;
    fill_lasting_rows(warp);
  }
}

Worker::~Worker() = default;

void Worker::record() {
  memory_.recording = std::make_unique<Recording>(program_.sites.size(), program_.places.size());
  std::fill(memory_.copy_memos.begin(), memory_.copy_memos.end(), AsyncCopyMemo());
  memory_.recording->copies.resize(program_.async_copies.size());
  memory_.recording->boxes.resize(program_.bulk_copies.size());
  memory_.trace = std::make_unique<BlockTrace>(*memory_.recording, lines_of_sites(program_));
  memory_.places.resize(program_.sites.size());
  memory_.shapes.resize(program_.sites.size());
  for (Warp& warp : warps_) {
    warp.issues = memory_.recording->instructions.issues.data();
    warp.issued_lanes = memory_.recording->instructions.lanes.data();
  }
}

/// Sites have to forget what they remember before and after a block that is followed access by
/// access.
void Worker::trace(bool is_traced) {
  if (is_traced) memory_.trace->start();
  if (is_traced == memory_.is_traced) return;
  for (std::size_t i = 0; i < memory_.counts.size(); ++i) settle(memory_, i);
  memory_.is_traced = is_traced;
}

bool Worker::is_runnable(const Warp& warp) const { return warp.status == WarpStatus::yielded; }

BlockOutcome Worker::raise(Warp& warp, TrapKind kind) {
  warp.trap.kind = kind;
  warp.trap.lane = warp.alive == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(warp.alive));
  warp.trap.instruction = warp.pc->instruction;
  warp.trap.mask = warp.alive;
  trap_.raised = warp.trap;
  trap_.warp = warp.index;
  return BlockOutcome::trapped;
}

void Worker::tell(LaunchObserver* launch, Sharing* sharing) {
  observer_ = launch == nullptr ? nullptr : launch->new_block_observer();
  memory_.observer = observer_.get();
  barriers_.tell(observer_.get());
  watch(observer_.get());
  footprint_ = sharing == nullptr ? nullptr : std::make_unique<Footprint>(*sharing);
  memory_.footprint = footprint_.get();
}

BlockOutcome Worker::run_block(std::uint64_t block, const std::function<bool()>& cancelled) {
  start_block(block);
  const BlockOutcome outcome = go_on(cancelled, Turns::none);
  if (footprint_ != nullptr) footprint_->end_block();
  return outcome;
}

/// The memory of its sites may lead into the memory of another cluster.
void Worker::join(Cluster* cluster) {
  if (cluster == nullptr) alone_ = Cluster(1);
  memory_.cluster = cluster == nullptr ? &alone_ : cluster;
  memory_.cluster->join(
      cluster == nullptr ? 0 : rank(),
      {std::span(memory_.shared).first(memory_.shared_bytes), warps_, observer_.get()});
  if (cluster == nullptr) return;
  forget_places();
}

void Worker::forget_places() {
  for (std::size_t i = 0; i < memory_.counts.size(); ++i) settle(memory_, i);
  std::fill(memory_.known.begin(), memory_.known.end(), KnownWindow{});
}

void Worker::note_loads(std::set<std::uint64_t>* loaded) {
  forget_places();
  noted_loads_ = loaded == nullptr ? nullptr : std::make_unique<NotedLoads>(program_, *loaded);
  memory_.observer = loaded == nullptr ? observer_.get() : noted_loads_.get();
  watch(memory_.observer);
}

void Worker::watch(BlockObserver* observer) {
  for (Warp& warp : warps_) {
    warp.watched = observer == nullptr ? nullptr : observer->watched();
    warp.watches_more = observer == nullptr ? nullptr : observer->watches_more();
    warp.late = observer == nullptr ? nullptr : observer->late_loads();
  }
}

/// Sites settle by what was counted so far. Blocks before one that is counted are none of its cost.
void Worker::count_block(bool is_counted) {
  if (memory_.is_counted != is_counted) {
    for (std::size_t i = 0; i < memory_.counts.size(); ++i) settle(memory_, i);
    memory_.is_counted = is_counted;
  }
  if (is_counted) set_apart();
}

void Worker::start_block(std::uint64_t block, Cluster* cluster) {
  if (sample_ != nullptr && sample_->runs_others()) count_block(sample_->holds(block));
  start_warps(block);
  if (program_.has_clusters) join(cluster);
  if (observer_ != nullptr) observer_->start(block, memory_.shared.data());
  if (memory_.recording != nullptr) trace(is_traced(block, geometry_.grid.count()));
}

std::size_t Worker::resident_bytes() const {
  // Few calls use more than an eighth of a stack.
  const std::size_t local = memory_.local.size() / (program_.has_calls ? 8 : 1);
  return program_.row_units * row_unit_bytes * warp_count_ + memory_.shared.size() + local +
         frames_.size() * sizeof(Frame) +
         memory_.sites.size() * (sizeof(Site) + sizeof(SiteCounts));
}

std::uint64_t Worker::executed() const {
  return std::accumulate(
      warps_.begin(), warps_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const Warp& warp) { return sum + warp.warp_instructions; });
}

void Worker::give_up(TrapKind kind) {
  const auto unfinished = std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) {
    return warp.status == WarpStatus::yielded;
  });
  raise(*unfinished, kind);
  trap_.object_waits = object_waits({unfinished, warps_.end()});
}

void Worker::go_native(std::uint64_t after) {
  may_be_native_ = true;
  const std::uint64_t wanted = after * program_.operations.size();
  native_after_ = wanted - std::min(wanted, program_.native.executed());
}

/// The interpreter, until the program has been executed so often that machine code is worth it.
RunWarp Worker::way_to_run(const Warp& next) {
  const BlockObserver* const observer = memory_.observer;
  const bool is_observed = observer != nullptr;
  const RunWarp interpreter = is_observed ? unit_.run_observed : unit_.run;
  if (is_observed && (next.watches_more == nullptr || *next.watches_more != 0)) return interpreter;
  const RunWarp native = is_observed ? unit_.run_native_observed : unit_.run_native;
  if (native_ != nullptr) return native;
  if (warp_instructions_ + next.warp_instructions < native_after_) return interpreter;
  native_after_ = ~std::uint64_t{0};
  native_ = is_observed ? program_.native.get(program_, unit_,
                                              {observer->watched(), program_.operations.size()})
                        : program_.native.get(program_, unit_);
  if (native_ == nullptr) return interpreter;
  know_groups(memory_, native_->groups());
  for (Warp& warp : warps_) {
    warp.groups = memory_.groups.data();
    warp.native = native_->entries();
    warp.native_of_some = native_->entries_of_some();
  }
  return native;
}

BlockOutcome Worker::go_on(const std::function<bool()>& cancelled, Turns turns) {
  const BlockOutcome outcome = run_on(cancelled, turns);
  if (observer_ != nullptr) observer_->take_late_loads();
  return outcome;
}

BlockOutcome Worker::run_on(const std::function<bool()>& cancelled, Turns turns) {
  if (std::exchange(removals_, memory_.device->heap().removals) != removals_) {
    for (std::size_t i = 0; i < memory_.counts.size(); ++i) settle(memory_, i);
  }
  const bool is_short = turns == Turns::short_ones || turns == Turns::last_resort;
  std::uint64_t whole_share = is_short ? first_share_in_turns : share;
  turn_is_still_ = true;
  bool is_behind_barrier = false;
  for (std::uint32_t shares = 1, still = 0, phases = 0;; ++shares) {
    bool ran = false, unfinished = false, yielded = false;
    is_still_ = only_asks_ = true;
    for (Warp& warp : warps_) {
      if (is_runnable(warp)) {
        ran = true;
        const std::uint64_t own_share = turns_ > 0          ? share_of_spinners
                                        : is_behind_barrier ? share_behind_barrier
                                                            : whole_share;
        warp.yield_at = std::min(warp.warp_instructions + own_share, instruction_budget_);
        way_to_run(warp)(warp);
        if (memory_.failure) std::rethrow_exception(std::exchange(memory_.failure, nullptr));
        const bool has_yielded = warp.status == WarpStatus::yielded;
        yielded |= has_yielded;
        if (has_yielded && !is_behind_barrier) {
          const bool stands = stands_still(warp);
          is_still_ &= stands;
          const bool lets_go = stands && (turns == Turns::last_resort || still >= still_shares / 2);
          if (spins(warp, lets_go)) let_others_go(warp);
        }
        const bool is_apart =
            warp.status == WarpStatus::parted ||
            (warp.status == WarpStatus::finished && partings_[warp.index].is_parted());
        if (is_apart) go_apart(warp);
        // Lanes that were let go and wait at a barrier for those that spin have done nothing new.
        const bool is_back = is_apart && warp.status == WarpStatus::yielded && stands_still(warp);
        is_still_ &= (has_yielded && !is_behind_barrier) || is_back;
      }
      if (warp.status == WarpStatus::trapped) {
        trap_.raised = warp.trap;
        trap_.warp = warp.index;
        trap_.assertion = memory_.assertion;
        return BlockOutcome::trapped;
      }
      if (warp.status == WarpStatus::yielded) {
        if (warp.warp_instructions >= instruction_budget_) return raise(warp, TrapKind::endless);
        if (cancelled && cancelled()) return BlockOutcome::cancelled;
      }
      if (warp.status == WarpStatus::at_barrier && warp.pc != nullptr) barriers_.come(warp);
      unfinished |= warp.status != WarpStatus::finished;
    }
    if (!unfinished) break;
    is_behind_barrier = barriers_.release();
    is_still_ &= !is_behind_barrier;
    turn_is_still_ &= is_still_;
    if (is_behind_barrier && turns != Turns::none && ends_turn(++phases)) {
      return BlockOutcome::waits;
    }
    if (yielded) {
      const std::uint32_t longest = is_short ? longest_of_short_turns : longest_turn;
      if (turns != Turns::none && (is_still_ || shares >= longest)) return BlockOutcome::waits;
      whole_share = std::min(2 * whole_share, share);
      if (is_still_ && only_asks_) whole_share = std::min(whole_share, share_of_spinners);
      still = is_still_ ? still + 1 : 0;
      if (still < still_shares) continue;
      give_up(TrapKind::no_progress);
      return BlockOutcome::trapped;
    }
    if (ran || !is_still_) continue;
    const auto waits = std::find_if(warps_.begin(), warps_.end(), [](const Warp& warp) {
      return warp.status == WarpStatus::at_barrier;
    });
    return raise(*waits, TrapKind::barrier_not_reached);
  }
  if (Warp* const warp = of_incomplete_group()) {
    warp->pc = warp->last_of_group;
    return raise(*warp, TrapKind::incomplete_warpgroup);
  }
  ++blocks_;
  for (const Warp& warp : warps_) {
    warp_instructions_ += warp.warp_instructions;
    thread_instructions_ += warp.thread_instructions;
  }
  if (observer_ != nullptr) observer_->end();
  return BlockOutcome::done;
}

/// A warp whose warpgroup's others have not made as many products; null where there is none. Each
/// warp multiplies its own lines when it comes to it, so this shows at the end only.
Warp* Worker::of_incomplete_group() {
  if (program_.warpgroup_products.empty()) return nullptr;
  for (std::uint32_t first = 0; first < warp_count_; first += warps_of_group) {
    const auto group =
        std::span(warps_).subspan(first, std::min(warps_of_group, warp_count_ - first));
    const auto most = std::max_element(
        group.begin(), group.end(),
        [](const Warp& a, const Warp& b) { return a.products_of_group < b.products_of_group; });
    const bool is_complete = group.size() == warps_of_group &&
                             std::all_of(group.begin(), group.end(), [&](const Warp& w) {
                               return w.products_of_group == most->products_of_group;
                             });
    if (most->products_of_group > 0 && !is_complete) return &*most;
  }
  return nullptr;
}

/// True if the warp, which has yielded, is where it was lately, with the same in all registers that
/// decide there: a loop that does nothing but ask. It may ask in several places.
bool Worker::stands_still(const Warp& warp) {
  const auto place = static_cast<std::size_t>(warp.pc - warp.code);
  const LoopState& state = program_.loop_states[program_.loop_of[place]];
  only_asks_ &= !state.stores;
  std::uint64_t hash = place;
  const auto add = [&](std::uint64_t value) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    hash = (std::rotl(hash, 23) ^ value) * golden_ratio;
  };
  add(std::uint64_t{warp.active} << 32 | warp.depth);
  add(std::uint64_t{warp.alive} << 32 | warp.carry);
  for (const RowRange& range : state.rows) {
    const std::byte* const row = warp.registers + range.first * row_unit_bytes;
    for (std::size_t i = 0; i < range.count * row_unit_bytes; i += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, row + i, sizeof(word));
      add(word);
    }
  }
  for (const std::uint32_t predicate : state.predicates) add(warp.predicates[predicate]);
  auto& states = spins_[warp.index].states;
  if (std::find(states.begin(), states.end(), hash) != states.end()) return true;
  std::shift_left(states.begin(), states.end(), 1);
  states.back() = hash;
  return false;
}

LaunchOutcome Worker::take_counts() {
  for (std::size_t i = 0; i < memory_.counts.size(); ++i) settle(memory_, i);
  LaunchOutcome taken;
  taken.counts = std::exchange(memory_.counts, std::vector<SiteCounts>(memory_.counts.size()));
  taken.parted = memory_.parted;
  if (memory_.recording != nullptr) {
    memory_.trace->finish();
    memory_.recording->sort();
    taken.recording = std::move(*memory_.recording);
    memory_.trace.reset();
    memory_.is_traced = false;
    memory_.recording.reset();
    for (Warp& warp : warps_) warp.issues = warp.issued_lanes = nullptr;
  }
  take_work(taken);
  return taken;
}

/// Moves the numbers of the blocks that ran, which count towards machine code.
void Worker::take_work(LaunchOutcome& taken) {
  if (may_be_native_) program_.native.note_executed(warp_instructions_);
  if (native_ == nullptr) native_after_ -= std::min(native_after_, warp_instructions_);
  taken.blocks = std::exchange(blocks_, 0);
  taken.warps = taken.blocks * warp_count_;
  taken.threads_of_blocks = taken.blocks * geometry_.block.count();
  taken.warp_instructions = std::exchange(warp_instructions_, 0);
  taken.thread_instructions = std::exchange(thread_instructions_, 0);
}

void Worker::set_apart() {
  LaunchOutcome taken;
  take_work(taken);
  uncounted_ += std::move(taken);
}

LaunchOutcome Worker::take_uncounted() {
  set_apart();
  uncounted_.parted = memory_.parted;
  return std::exchange(uncounted_, {});
}

BlockWork Worker::work_of_block() const {
  BlockWork work;
  for (const Warp& warp : warps_) {
    work.warp_instructions += warp.warp_instructions;
    work.thread_instructions += warp.thread_instructions;
  }
  return work;
}

}  // namespace warpmeter::model
