// SPDX-License-Identifier: MIT
// Vectors of all lanes that lie anywhere are moved as a whole and turned (execute/turned.h);
// atomics whose lanes lie as before go where they went. Each is done twice by the same instruction,
// the second time as it is remembered, on every kind of processor that is here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/collector/model/on_units.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

/// Lane l of a vector's kernel reads vector 13 l + 5 of 32, and writes it to 7 l + 3 of 32, `step`
/// bytes further each of two times.
std::string vectors(const std::string& type, const std::string& registers, unsigned bytes) {
  return module_with(".param .u64 out, .param .u64 in",
                     fmt::format(R"(
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<10>;
  .reg .b64 %w<5>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r2, %r1, 13, 5;
  and.b32 %r2, %r2, 31;
  mul.wide.u32 %d3, %r2, {0};
  add.u64 %d2, %d2, %d3;
  mad.lo.u32 %r2, %r1, 7, 3;
  and.b32 %r2, %r2, 31;
  mul.wide.u32 %d3, %r2, {0};
  add.u64 %d1, %d1, %d3;
  mov.u32 %r3, 0;
AGAIN:
  ld.global.{1} {2}, [%d2];
  st.global.{1} [%d1], {2};
  add.u64 %d1, %d1, {3};
  add.u64 %d2, %d2, {3};
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 2;
  @%p1 bra AGAIN;
  ret;)",
                                 bytes, type, registers, 32 * bytes));
}

template <class Number>
void expect_moved(const std::string& type, const std::string& registers, unsigned parts) {
  std::vector<Number> in(std::size_t{64} * parts);
  std::iota(in.begin(), in.end(), Number{1});
  std::vector<Number> expected(in.size());
  for (unsigned time = 0; time < 2; ++time) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned from = time * 32 + (lane * 13 + 5) % 32, to = time * 32 + (lane * 7 + 3) % 32;
      for (unsigned part = 0; part < parts; ++part) {
        expected[to * parts + part] = in[from * parts + part];
      }
    }
  }
  for (const Unit& unit : units()) {
    if (!lacks(unit).empty()) continue;
    const LaunchOptions options = options_of(unit);
    const TestRun run = run_ptx(
        vectors(type, registers, parts * sizeof(Number)), "k", geometry(1, 32),
        {TestArgument::buffer(std::vector<Number>(in.size())), TestArgument::buffer(in)}, options);
    ASSERT_EQ(run.refusal, "");
    ASSERT_EQ(run.trap(), "");
    EXPECT_EQ(run.buffer<Number>(0), expected) << type << " on " << unit.name;
  }
}

TEST(TurnedVectors, FourWords) { expect_moved<std::uint32_t>("v4.u32", "{%r4, %r5, %r6, %r7}", 4); }
TEST(TurnedVectors, TwoWords) { expect_moved<std::uint32_t>("v2.u32", "{%r4, %r5}", 2); }
TEST(TurnedVectors, TwoDoubleWords) { expect_moved<std::uint64_t>("v2.u64", "{%w1, %w2}", 2); }

TEST(TurnedVectors, APartMayBeReadTwice) {
  // The same register in two parts of a store.
  const std::string text = module_with(".param .u64 out", R"(
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  sub.u32 %r2, 31, %r1;
  mul.wide.u32 %d2, %r2, 16;
  add.u64 %d1, %d1, %d2;
  st.global.v4.u32 [%d1], {%r1, %r2, %r1, %r2};
  ret;)");
  for (const Unit& unit : units()) {
    if (!lacks(unit).empty()) continue;
    const LaunchOptions options = options_of(unit);
    const TestRun run = run_ptx(text, "k", geometry(1, 32),
                                {TestArgument::buffer(std::vector<std::uint32_t>(128))}, options);
    ASSERT_EQ(run.refusal + run.trap(), "");
    for (std::uint32_t i = 0; i < 128; ++i) {
      EXPECT_EQ(run.buffer<std::uint32_t>(0)[i], i % 2 == 0 ? 31 - i / 4 : i / 4) << i;
    }
  }
}

/// Each lane adds to places of its own or to a common one, again and again.
TEST(AtomicsAgain, AddAndAnswerWhatWasThere) {
  const std::string text = module_with(".param .u64 sums, .param .u64 olds", R"(
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .f64 %f<2>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [sums];
  ld.param.u64 %d2, [olds];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r1, 8;
  add.u64 %d4, %d1, %d4;
  mov.f64 %f1, 0d3FE0000000000000;
  mov.u32 %r3, 0;
AGAIN:
  atom.global.add.u32 %r4, [%d1], 2;
  red.global.add.f64 [%d4+8], %f1;
  st.global.u32 [%d2], %r4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 3;
  @%p1 bra AGAIN;
  ret;)");
  for (const Unit& unit : units()) {
    if (!lacks(unit).empty()) continue;
    const LaunchOptions options = options_of(unit);
    const TestRun run = run_ptx(text, "k", geometry(1, 32),
                                {TestArgument::buffer(std::vector<double>(33)),
                                 TestArgument::buffer(std::vector<std::uint32_t>(32))},
                                options);
    ASSERT_EQ(run.refusal + run.trap(), "");
    EXPECT_EQ(run.buffer<std::uint32_t>(0)[0], 2u * 32 * 3);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(run.buffer<double>(0)[lane + 1], 1.5) << lane;
      EXPECT_EQ(run.buffer<std::uint32_t>(1)[lane], 2 * (64 + lane)) << lane;
    }
  }
}

TEST(AtomicsAgain, CountAsTheyDidOneByOne) {
  const std::string text = module_with(".param .u64 sums", R"(
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [sums];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 8;
  add.u64 %d1, %d1, %d3;
  mov.u32 %r3, 0;
AGAIN:
  red.global.add.u32 [%d1], 1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 5;
  @%p1 bra AGAIN;
  ret;)");
  const TestRun run =
      run_ptx(text, "k", geometry(2, 32), {TestArgument::buffer(std::vector<std::uint32_t>(64))});
  ASSERT_EQ(run.refusal + run.trap(), "");
  std::uint64_t requests = 0, sectors = 0;
  for (const SiteCounts& site : run.outcome.counts) {
    requests += site.global.requests;
    sectors += site.global.transactions;
  }
  EXPECT_EQ(requests, 10u);  // five of each of two warps
  EXPECT_EQ(sectors, 80u);   // 256 bytes each
}

TEST(Lookups, GoToTheBufferThatIsMeant) {
  // 64 times: of a place that depends on lane and time, in one buffer and the other in turn; the
  // last times beyond the smaller one's end, where there is nothing.
  const std::string text =
      module_with(".param .u64 out, .param .u64 one, .param .u64 other, .param .u32 times", R"(
  .reg .pred %p<4>;
  .reg .b32 %r<10>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [one];
  ld.param.u64 %d3, [other];
  ld.param.u32 %r9, [times];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d1, %d1, %d4;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
AGAIN:
  mad.lo.u32 %r4, %r1, %r3, %r3;
  and.b32 %r4, %r4, 255;
  and.b32 %r5, %r3, 1;
  setp.eq.u32 %p1, %r5, 0;
  selp.b64 %d5, %d2, %d3, %p1;
  mul.wide.u32 %d6, %r4, 4;
  add.u64 %d5, %d5, %d6;
  ld.global.u32 %r6, [%d5];
  add.u32 %r2, %r2, %r6;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, %r9;
  @%p2 bra AGAIN;
  st.global.u32 [%d1], %r2;
  ret;)");
  std::vector<std::uint32_t> one(256), other(256);
  std::iota(one.begin(), one.end(), 1000u);
  std::iota(other.begin(), other.end(), 7u);
  for (const Unit& unit : units()) {
    if (!lacks(unit).empty()) continue;
    LaunchOptions options = options_of(unit);
    options.counts = false;
    const auto run = [&](const std::vector<std::uint32_t>& second) {
      return run_ptx(
          text, "k", geometry(1, 32),
          {TestArgument::buffer(std::vector<std::uint32_t>(32)), TestArgument::buffer(one),
           TestArgument::buffer(second), TestArgument::scalar<std::uint32_t>(64)},
          options);
    };
    const TestRun whole = run(other);
    ASSERT_EQ(whole.refusal + whole.trap(), "") << unit.name;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      std::uint32_t sum = 0;
      for (std::uint32_t time = 0; time < 64; ++time) {
        sum += (time % 2 == 0 ? one : other)[(lane * time + time) % 256];
      }
      EXPECT_EQ(whole.buffer<std::uint32_t>(0)[lane], sum) << lane << " on " << unit.name;
    }
    EXPECT_THAT(run({1, 2, 3}).trap(), testing::HasSubstr("illegal address")) << unit.name;
  }
}

}  // namespace
}  // namespace warpmeter::model
