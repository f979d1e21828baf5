// SPDX-License-Identifier: MIT
// A kernel twice under the checker: by the interpreter, and as machine code of a unit. The checker
// is told of the same, in the same order, and comes to the same.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lanes.h"
#include "collector/model/check/checker.h"
#include "collector/model/machine/access.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {

/// Calls of an observer: a number for each, which depends on all that it says.
using Told = std::vector<std::uint64_t>;

/// How the checker gets to know of a launch. `everywhere`: it does not hear which memory the launch
/// stores to, and keeps all reads in its shadow; `closely`: see NotedBlock.
enum class Look { as_always, closely, everywhere };

/// Notes what the checker is told. `closely`: hides that lanes lie as they did, so that the checker
/// looks at each access as if it were the first.
class NotedBlock final : public BlockObserver {
 public:
  NotedBlock(std::unique_ptr<BlockObserver> of, Told& told, bool closely)
      : of_(std::move(of)), told_(told), closely_(closely) {}

  const std::uint8_t* watched() const override { return of_->watched(); }
  const std::uint8_t* watches_more() const override { return of_->watches_more(); }
  LateLoads* late_loads() override { return &late_; }
  void take_late_loads() override {
    const LateLoad* const end = std::exchange(late_.next, late_room_.data());
    for (const LateLoad* load = late_room_.data(); load != end; ++load) {
      const Warp& warp = *load->warp;
      tell_observer(warp, load->op, warp.sites[load->op->extra].mask, load->address);
    }
  }
  void start(std::uint64_t block, const std::byte* shared) override {
    take_late_loads();
    note({1, block});
    of_->start(block, shared);
  }
  void observe(const Warp& warp, const Operation* op, std::uint32_t mask) override {
    take_late_loads();
    note({2, warp.index, number(warp, op), mask, warp.active, number(warp, warp.last)});
    of_->observe(warp, op, mask);
  }
  std::byte* refuse(const Warp& warp, const Operation* op, TrapKind kind, AddressSpace space,
                    unsigned lane, std::uint64_t address) override {
    take_late_loads();
    note({3, warp.index, number(warp, op), static_cast<std::uint64_t>(kind),
          static_cast<std::uint64_t>(space), lane, address});
    return of_->refuse(warp, op, kind, space, lane, address);
  }
  void accept(const Warp& warp, const Operation* op, const SiteInfo& info,
              const Places& places) override {
    take_late_loads();
    note_places(4, warp, op, places);
    of_->accept(warp, op, info, places);
  }
  void accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                    const Places& places) override {
    take_late_loads();
    note_places(5, warp, op, places);
    closely_ ? of_->accept(warp, op, info, places) : of_->accept_again(warp, op, info, places);
  }
  void written_for(const Warp& warp, unsigned lane, std::uint64_t address,
                   std::uint64_t bytes) override {
    take_late_loads();
    note({6, warp.index, lane, address, bytes});
    of_->written_for(warp, lane, address, bytes);
  }
  void arrive(std::uint32_t barrier, std::uint32_t warp) override {
    take_late_loads();
    note({7, barrier, warp});
    of_->arrive(barrier, warp);
  }
  void release(const Meeting& meeting) override {
    take_late_loads();
    note({8, meeting.barrier, meeting.waiting, meeting.arrived, meeting.finished});
    for_each_lane(meeting.finished, [&](unsigned warp) {
      note({9, meeting.last[warp] == nullptr ? 0u : meeting.last[warp]->instruction});
    });
    of_->release(meeting);
  }
  void part(const Warp& warp, const Operation* barrier, std::uint32_t lanes) override {
    take_late_loads();
    note({10, warp.index, number(warp, barrier), lanes});
    of_->part(warp, barrier, lanes);
  }
  void end() override {
    take_late_loads();
    note({11});
    of_->end();
  }

 private:
  static std::uint64_t number(const Warp& warp, const Operation* op) {
    return op == nullptr ? ~std::uint64_t{0} : static_cast<std::uint64_t>(op - warp.code);
  }
  void note(std::initializer_list<std::uint64_t> all) {
    told_.push_back(0);
    for (const std::uint64_t each : all) add(each);
  }
  void add(std::uint64_t number) {
    told_.back() = (told_.back() ^ number) * 0x9e3779b97f4a7c15;
    told_.back() ^= told_.back() >> 29;
  }
  void note_places(std::uint64_t kind, const Warp& warp, const Operation* op,
                   const Places& places) {
    note({kind, warp.index, number(warp, op), static_cast<std::uint64_t>(places.space),
          places.mask});
    for_each_lane(places.mask, [&](unsigned lane) { add(places[lane]); });
  }

  std::unique_ptr<BlockObserver> of_;
  Told& told_;
  const bool closely_;
  std::array<LateLoad, 7> late_room_;  // few, so that they come to its end
  LateLoads late_{late_room_.data(), late_room_.data() + late_room_.size()};
};

class NotedLaunch final : public LaunchObserver {
 public:
  NotedLaunch(LaunchObserver& of, Look look) : of_(of), look_(look) {}

  void stores_to(const std::set<std::uint64_t>& allocations) override {
    if (look_ != Look::everywhere) of_.stores_to(allocations);
  }
  std::unique_ptr<BlockObserver> new_block_observer() override {
    return std::make_unique<NotedBlock>(of_.new_block_observer(), told, look_ == Look::closely);
  }
  void stopped(TrapKind kind, std::uint32_t instruction, const std::string& message) override {
    of_.stopped(kind, instruction, message);
  }

  Told told;

 private:
  LaunchObserver& of_;
  const Look look_;
};

struct CheckedRun {
  Told told;
  std::string text;       ///< all that the checker says in the end
  std::size_t bytes = 0;  ///< that it took
  LaunchOutcome outcome;
  std::vector<std::vector<std::byte>> buffers;
};

/// `unset`: nobody has set the last buffer before the launch.
inline CheckedRun run_checked(const Program& program, const Geometry& geometry,
                              const std::vector<TestArgument>& arguments, LaunchOptions options,
                              bool unset, Look look = Look::as_always) {
  CheckedRun run;
  TestMemory memory(arguments);
  check::WrittenMemory written;
  if (unset)
    written.add(memory.addresses.back(), memory.memory.find(memory.addresses.back())->data.size());
  check::Checker checker(program, geometry, memory.memory, written, check::Wanted::touched);
  NotedLaunch observer(checker, look);
  options.observer = &observer;
  run.outcome =
      launch(program, geometry, *pack_parameters(program, memory.values), memory.memory, options);
  for (const check::Finding& finding : checker.findings()) {
    run.text += fmt::format("{}:{}: {}, span {}, {} times: {} ({}, {}, {})\n", finding.file,
                            finding.place.line, to_string(finding.defect),
                            static_cast<int>(finding.span), finding.times, finding.message,
                            finding.other_line, finding.address, finding.width);
  }
  run.text += fmt::format("gaps {}\n", checker.gaps().bits());
  run.bytes = checker.bytes();
  checker.for_each_touched([&](const check::Touched& touched) {
    run.text += fmt::format("{} bytes from {}: {} {}\n", touched.bytes, touched.address,
                            static_cast<int>(touched.writes), static_cast<int>(touched.reads));
  });
  for (const std::uint64_t address : memory.addresses) {
    const check::MarkedBytes* const bytes = written.find(address);
    for (std::uint64_t at = 0; bytes != nullptr && at < bytes->size();) {
      const std::uint64_t begin = bytes->next(true, at, bytes->size());
      at = bytes->next(false, begin, bytes->size());
      run.text += fmt::format("written: {} to {}\n", begin, at);
    }
  }
  run.buffers = memory.take_buffers();
  return run;
}

/// With all buffers set, and with the last one unset.
inline void expect_equal_checks(const Unit& unit, const Program& program, const Geometry& geometry,
                                const std::vector<TestArgument>& arguments,
                                const std::string& what) {
  LaunchOptions options;
  options.unit = &unit;
  for (const bool unset : {false, true}) {
    options.native_after = ~std::uint64_t{0} >> 32;
    const CheckedRun interpreted = run_checked(program, geometry, arguments, options, unset);
    options.native_after = 0;
    const CheckedRun native = run_checked(program, geometry, arguments, options, unset);
    EXPECT_EQ(native.text, interpreted.text) << what;
    EXPECT_EQ(native.bytes, interpreted.bytes) << what;
    for (const Look look : {Look::closely, Look::everywhere}) {
      EXPECT_EQ(run_checked(program, geometry, arguments, options, unset, look).text,
                interpreted.text)
          << what << ": " << (look == Look::closely ? "looked at closely" : "all in the shadow");
    }
    const auto trap = [](const CheckedRun& run) {
      return run.outcome.trap ? run.outcome.trap->message : std::string();
    };
    EXPECT_EQ(trap(native), trap(interpreted)) << what;
    EXPECT_EQ(native.outcome.warp_instructions, interpreted.outcome.warp_instructions) << what;
    EXPECT_EQ(native.outcome.thread_instructions, interpreted.outcome.thread_instructions) << what;
    if (!interpreted.outcome.trap) {
      EXPECT_TRUE(native.outcome.counts == interpreted.outcome.counts) << what;
    }
    EXPECT_TRUE(native.buffers == interpreted.buffers) << what;
    EXPECT_EQ(native.told.size(), interpreted.told.size()) << what;
    const auto other = std::mismatch(native.told.begin(), native.told.end(),
                                     interpreted.told.begin(), interpreted.told.end());
    EXPECT_EQ(other.first, native.told.end())
        << what << ": call " << other.first - native.told.begin() << " is another";
  }
}

}  // namespace warpmeter::model
