// SPDX-License-Identifier: MIT
// The part of the device that the shape of a launch leaves unused: of an H100 or whatever has the
// launch's architecture.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/with_noun.h"
#include "collector/model/explain/subject.h"
#include "collector/model/machine/device_limits.h"

namespace warpmeter::model::explain {
namespace {

/// The share of a multiprocessor's warps below which nothing hides the time that memory takes.
constexpr double little_occupancy = 0.25;
/// The share of empty places in all waves that is reported.
constexpr double much_of_the_tail = 0.3;
/// The same of what waits for memory: measured on an H200, streams of 1.02 to 1.1 waves take 7 to
/// 17 % longer than their bytes do, of 1.5 waves 2 to 5 %, of 2.02 waves nothing.
constexpr double much_of_the_tail_of_memory = 0.45;
/// Sectors for each cycle of what the multiprocessors do beside: at two cycles a sector memory
/// takes four times as long, and the blocks of a last wave, which share its speed, take less time
/// each.
constexpr double sectors_of_memory_bound = 2;
/// Warps of a multiprocessor that keep it about as busy as more would. On an H200 blocks of four
/// warps, twelve at a time, that sum products and then add 160 times in a row take 19.5 µs for one
/// wave, 23.6 for 1.33, whose last has four blocks a multiprocessor, and 32.7 for two: time goes by
/// the blocks, without a step (tests/device/facts/waves.cu).
constexpr double busy_warps = 16;
/// The share of places that may differ between multiprocessors.
constexpr double even_enough = 0.1;
/// The share of a multiprocessor's warps at which one block keeps it as busy as two would.
constexpr double busy_with_one = 0.5;

void tell(const char* kind, double cycles, const std::string& evidence,
          std::vector<Weighed>& found) {
  Weighed& weighed = found.emplace_back();
  weighed.is_of_launch = true;
  weighed.cycles = cycles;
  weighed.finding.kind = kind;
  weighed.finding.evidence = evidence;
  weighed.finding.grade = schema::Grade::exact;
}

/// The remedy for a grid that is too small: the same threads in smaller blocks, where the kernel
/// numbers the threads of the whole grid; else less for each warp to do.
std::string what_gives_blocks(const Subject& subject, std::uint64_t blocks,
                              std::uint64_t multiprocessors) {
  const std::uint64_t threads = subject.geometry.block.count(), all = blocks * threads;
  std::uint64_t smaller = std::bit_floor(threads);
  while (smaller > warp_lanes && (all + smaller - 1) / smaller < multiprocessors) smaller /= 2;
  const std::uint64_t more = (all + smaller - 1) / smaller;
  const bool can_be_smaller = subject.program.numbers_threads && smaller < threads;
  if (can_be_smaller && smaller >= warp_lanes && more >= multiprocessors) {
    return fmt::format("Smaller blocks may help: of {} threads each it would be {} of them.",
                       smaller, shown(static_cast<double>(more)));
  }
  const double warps = std::max(1.0, subject.issues.empty() ? 1.0 : subject.issues[0]);
  return fmt::format(
      "More threads that do less each may help: each of its {} executes {}.",
      with_noun(shown(warps), "warp"),
      with_noun(shown(static_cast<double>(subject.outcome.warp_instructions) / warps),
                "instruction"));
}

bool is_bound_by_memory(const Subject& subject) {
  double sectors = 0;
  double busy = cycles_of_instruction * static_cast<double>(subject.outcome.warp_instructions);
  for (const SiteCounts& counts : subject.outcome.counts) {
    sectors += static_cast<double>(counts.global.transactions);
    busy += cycles_of_wavefront * static_cast<double>(counts.shared.transactions);
  }
  return sectors > sectors_of_memory_bound * busy;
}

/// The limit on a multiprocessor's blocks: "its 36 registers a thread".
std::string limiter_of(const DeviceLimits& device, const BlockNeeds& needs, int at_a_time) {
  BlockNeeds without_shared = needs, without_registers = needs;
  without_shared.shared_bytes = 0;
  without_registers.registers.reset();
  if (blocks_at_a_time(device, without_shared) > at_a_time) {
    return fmt::format("its {} of shared memory", with_noun(shown(needs.shared_bytes), "byte"));
  }
  if (blocks_at_a_time(device, without_registers) > at_a_time) {
    return fmt::format("its {} a thread", with_noun(*needs.registers, "register"));
  }
  const auto threads = static_cast<std::uint32_t>(device.threads_of_multiprocessor);
  if ((static_cast<std::uint32_t>(at_a_time) + 1) * needs.threads > threads) {
    return fmt::format("the {} that it may hold", with_noun(shown(threads), "thread"));
  }
  return fmt::format("the {} blocks that it may hold", device.blocks_of_multiprocessor);
}

std::uint32_t warps_of(const Geometry& geometry) {
  return (static_cast<std::uint32_t>(geometry.block.count()) + warp_lanes - 1) / warp_lanes;
}

/// `least_idle`: of all places, what is reported; `one_is_enough`: a multiprocessor works as fast
/// with one block, so that a second one there takes as long again while others have ended.
void find_tail(const Subject& subject, std::uint64_t blocks, std::uint64_t multiprocessors,
               std::uint64_t at_a_time, const std::string& limiter, double least_idle,
               bool one_is_enough, std::vector<Weighed>& found) {
  const auto count = [](std::uint64_t number) { return shown(static_cast<double>(number)); };
  const std::uint64_t places = multiprocessors * at_a_time;
  const double waves = static_cast<double>(blocks) / static_cast<double>(places);
  if (waves > 1) {
    const double whole = std::ceil(waves), idle = 1 - waves / whole;
    const double each = static_cast<double>(blocks) / static_cast<double>(multiprocessors);
    const double last = (waves - (whole - 1)) * static_cast<double>(at_a_time);
    const bool is_kept_busy =
        last * warps_of(subject.geometry) >= busy_warps && 1 - each / std::ceil(each) < even_enough;
    if (idle < least_idle || is_kept_busy) return;
    tell("tail", idle * subject.cycles,
         fmt::format(
             "{} are {:.2f} waves of {} ({} a multiprocessor, by {}): in the last one {} of "
             "the places stay empty.",
             with_noun(count(blocks), "block"), waves, count(places), at_a_time, limiter,
             whole - waves > 0.995 ? "nearly all" : fmt::format("{:.0f} %", 100 * (whole - waves))),
         found);
    return;
  }
  const std::uint64_t most = (blocks + multiprocessors - 1) / multiprocessors;
  const double idle = 1 - static_cast<double>(blocks) / static_cast<double>(most * multiprocessors);
  if (!one_is_enough || idle < least_idle) return;
  tell("tail", idle * subject.cycles,
       fmt::format("{} on {}: {} of them get {} and the others {}, and with "
                   "{} a block those take about as long again.",
                   with_noun(count(blocks), "block"), with_noun(multiprocessors, "multiprocessor"),
                   count(blocks - (most - 1) * multiprocessors), most, most - 1,
                   with_noun(warps_of(subject.geometry), "warp")),
       found);
}

}  // namespace

void find_launch_shape(const Subject& subject, std::vector<Weighed>& found) {
  const DeviceLimits& device = device_limits(subject.program.arch);
  const std::uint64_t blocks = subject.geometry.grid.count();
  const auto threads = static_cast<std::uint32_t>(subject.geometry.block.count());
  const std::uint64_t multiprocessors = static_cast<std::uint64_t>(device.multiprocessors);
  const std::uint32_t warps = warps_of(subject.geometry);
  if (threads % warp_lanes != 0) {
    const double idle = 1 - static_cast<double>(threads) / (warps * warp_lanes);
    tell("partial_warp", std::max(idle * subject.cycles, least_told(subject)),
         warps == 1
             ? fmt::format("A block has {}, a warp {} lanes: {:.0f} % of them do nothing. "
                           "{} threads fill the warp.",
                           with_noun(threads, "thread"), warp_lanes, 100 * idle, warp_lanes)
             : fmt::format(
                   "A block of {} threads has {} warps, the last of {}: {:.0f} % of the lanes "
                   "do nothing. {} or {} threads fill their warps.",
                   threads, warps, with_noun(threads % warp_lanes, "lane"), 100 * idle,
                   (warps - 1) * warp_lanes, warps * warp_lanes),
         found);
    // Lanes that never work cost every line, so that it may be more than what one line does.
    found.back().is_of_launch = false;
  }
  if (blocks < multiprocessors) {
    tell("small_grid",
         (1 - static_cast<double>(blocks) / static_cast<double>(multiprocessors)) * subject.cycles,
         fmt::format("{} {} of the {} of an sm_{} busy. {}",
                     with_noun(shown(static_cast<double>(blocks)), "block keeps", "blocks keep"),
                     in_words(blocks), with_noun(multiprocessors, "multiprocessor"),
                     subject.program.arch, what_gives_blocks(subject, blocks, multiprocessors)),
         found);
    return;
  }
  const BlockNeeds needs{threads,
                         static_cast<std::uint32_t>(subject.program.shared_bytes(subject.geometry)),
                         subject.program.resources.registers};
  const int at_a_time = blocks_at_a_time(device, needs);
  if (at_a_time <= 0) return;
  const double most_warps = static_cast<double>(device.threads_of_multiprocessor) / warp_lanes;
  const double occupancy = at_a_time * warps / most_warps;
  if (occupancy <= little_occupancy) {
    tell("low_occupancy", (1 - occupancy) * 0.5 * subject.cycles,
         fmt::format("A multiprocessor holds {} of {} at a time, {:.0f} % of its warps; what "
                     "keeps it from more is {}.",
                     with_noun(at_a_time, "block"), with_noun(warps, "warp"), 100 * occupancy,
                     limiter_of(device, needs, at_a_time)),
         found);
  }
  const bool waits = is_bound_by_memory(subject);
  find_tail(subject, blocks, multiprocessors, static_cast<std::uint64_t>(at_a_time),
            limiter_of(device, needs, at_a_time),
            waits ? much_of_the_tail_of_memory : much_of_the_tail,
            !waits && warps >= busy_with_one * most_warps, found);
}

}  // namespace warpmeter::model::explain
