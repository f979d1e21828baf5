// SPDX-License-Identifier: MIT
// A kernel twice: by the interpreter, and as machine code of a unit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/machine/execute/units.h"
#include "collector/model/machine/native/code.h"
#include "tests/collector/model/checked_twins.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {

/// The units that have machine code, and that this processor runs.
inline std::vector<const Unit*> native_units() {
  std::vector<const Unit*> found;
  for (const Unit& unit : units()) {
    if (unit.vector_bytes != 0 && unit.is_supported) found.push_back(&unit);
  }
  return found;
}

/// One kernel, by the interpreter and as machine code.
struct Twins {
  const Unit& unit;
  const Geometry shape;
  const std::vector<TestArgument> arguments;
  TestRun interpreted, native;
  const NativeCode* code = nullptr;

  Twins(const Unit& on, std::string_view text, const Geometry& with,
        const std::vector<TestArgument>& all, LaunchOptions options = {})
      : unit(on), shape(with), arguments(all) {
    options.unit = &unit;
    options.threads = 1;
    options.native_after = ~std::uint64_t{0} >> 32;
    interpreted = run_ptx(text, "k", shape, arguments, options);
    options.native_after = 0;
    native = run_ptx(text, "k", shape, arguments, options);
    if (native.refusal.empty()) code = native.program.native.get(native.program, unit);
  }
  /// And the checker's.
  void expect_equal_checked(const std::string& what) const {
    expect_equal(what);
    if (native.refusal.empty()) {
      expect_equal_checks(unit, native.program, shape, arguments, what);
    }
  }
  void expect_equal(const std::string& what) const {
    EXPECT_EQ(native.refusal, "") << what;
    EXPECT_NE(code, nullptr) << what;
    EXPECT_EQ(native.trap(), interpreted.trap()) << what;
    EXPECT_EQ(native.outcome.warp_instructions, interpreted.outcome.warp_instructions) << what;
    EXPECT_EQ(native.outcome.thread_instructions, interpreted.outcome.thread_instructions) << what;
    EXPECT_EQ(native.outcome.parted, interpreted.outcome.parted) << what;
    expect_equal_counts(what);
    ASSERT_EQ(native.buffers.size(), interpreted.buffers.size());
    for (std::size_t i = 0; i < native.buffers.size(); ++i) {
      const auto& a = native.buffers[i];
      const auto& b = interpreted.buffers[i];
      if (a == b) continue;
      const auto at = std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin();
      ADD_FAILURE() << what << ": buffer " << i << " differs at byte " << at;
    }
  }

 private:
  /// Counts of a launch that a trap ends are not complete.
  void expect_equal_counts(const std::string& what) const {
    if (interpreted.outcome.trap) return;
    const auto& sites = interpreted.outcome.counts;
    ASSERT_EQ(native.outcome.counts.size(), sites.size()) << what;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const auto words = [](const AccessCounts& c) {
        return fmt::format("{} requests, {} transactions, {} bytes, {} ideal", c.requests,
                           c.transactions, c.bytes, c.ideal);
      };
      const SiteCounts& mine = native.outcome.counts[i];
      EXPECT_TRUE(mine == sites[i]) << what << ": access " << i << ": shared " << words(mine.shared)
                                    << " for " << words(sites[i].shared) << "; global "
                                    << words(mine.global) << " for " << words(sites[i].global);
    }
    if (!interpreted.outcome.recording) return;
    const auto& a = native.outcome.recording.value().instructions;
    const auto& b = interpreted.outcome.recording->instructions;
    EXPECT_EQ(a.issues, b.issues) << what;
    EXPECT_EQ(a.lanes, b.lanes) << what;
  }
};

/// `body` in a loop of %r9 = 0 … 99: %rd1 and %rd2 are two buffers of 64 KiB, %r1 is %tid.x.
inline std::string loop_of(const std::string& body) {
  return module_with(".param .u64 in, .param .u64 out", R"(
    .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;
    .shared .align 16 .b8 room[8192];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r9, 0;
    mov.u32 %r8, 0; mov.u64 %rd9, 0; mov.u32 %r7, room;
  again:
)" + body + R"(
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 100;
    @%p1 bra again;
    mov.u32 %r20, %ctaid.x; mov.u32 %r21, %ntid.x; mad.lo.u32 %r22, %r20, %r21, %r1;
    mul.wide.u32 %rd20, %r22, 16;
    add.u64 %rd21, %rd2, %rd20;
    st.global.u64 [%rd21+32768], %rd9;
    st.global.u32 [%rd21+32776], %r8;
    ret;)");
}
inline Twins twins_of_loop(const Unit& unit, const std::string& body, const Geometry& shape,
                           const LaunchOptions& options = {}) {
  std::vector<std::uint64_t> in;
  for (std::uint64_t i = 0; i < 8192; ++i) in.push_back(i * 0x9e3779b97f4a7c15 ^ i << 7);
  return {unit,
          loop_of(body),
          shape,
          {TestArgument::buffer(in), TestArgument::buffer(std::vector<std::uint64_t>(8192))},
          options};
}
/// Without a recording, where a site has hits of its own, and with one.
inline void expect_equal_loops(const Unit& unit, const std::string& body, const Geometry& shape,
                               bool is_checked = false) {
  LaunchOptions options;
  for (const bool records : {false, true}) {
    options.records = records;
    const Twins twins = twins_of_loop(unit, body, shape, options);
    is_checked && !records ? twins.expect_equal_checked(body) : twins.expect_equal(body);
  }
}

}  // namespace warpmeter::model
