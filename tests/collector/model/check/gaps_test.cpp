// SPDX-License-Identifier: MIT
// A kernel with code that the check does not judge says so, and no other kernel does.
#include "collector/model/check/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

#include "collector/model/check/checker.h"
#include "collector/model/check/coverage.h"
#include "collector/model/input/kernel_file.h"
#include "collector/model/machine/decode/decode.h"
#include "collector/model/ptx/module.h"
#include "tests/collector/model/check/corpus.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/paths.h"

namespace warpmeter::corpus {
namespace {

using model::check::Gap;

struct Opens {
  const char* kernel;
  std::set<Gap> gaps;
};
void PrintTo(const Opens& opens, std::ostream* stream) { *stream << opens.kernel; }

std::string name_of(const testing::TestParamInfo<Opens>& test) { return test.param.kernel; }

class GapsOf : public testing::TestWithParam<Opens> {};

// The module has a __constant__ variable; only what its kernels reach is part of their programs.
TEST_P(GapsOf, TheKernelAreNamedAndNoOthers) {
  static const model::KernelFile file =
      model::read_kernel_file(ptx_of(binary_dir(), "gaps"), {}, {});
  const auto decoded = model::decode(*file.module, GetParam().kernel);
  ASSERT_TRUE(std::holds_alternative<model::Program>(decoded));
  const model::check::Gaps gaps = model::check::gaps_of(std::get<model::Program>(decoded));
  model::check::Gaps expected;
  for (const Gap gap : GetParam().gaps) expected.add(gap);
  expected.add(Gap::constants);
  EXPECT_EQ(gaps.bits(), expected.bits()) << testing::PrintToString(further_gaps(gaps));
}

const Opens all[] = {
    {"plain", {}},
    {"constant_read", {}},
    {"volatile_message", {Gap::order}},
    {"source_of_a_copy_changed", {Gap::copies}},
    {"store_counted_by_nobody", {Gap::counted_stores, Gap::objects, Gap::clusters}},
    {"object_overwritten", {}},
    {"atomics_of_two_widths", {}},
    {"atomics_of_float_and_long", {Gap::widths}},
    {"last_block_without_acquire", {Gap::acquires}},
    {"local_of_another_thread", {Gap::local_memory}},
    {"texture_read", {}},
    {"surface_written", {}},
    {"surface_written_formatted", {Gap::formatted_stores}},
};
INSTANTIATE_TEST_SUITE_P(Kernels, GapsOf, testing::ValuesIn(all), name_of);

TEST(GapsOf, ProgramsAreNamedInAllOfThem) {
  model::check::Coverage coverage;
  coverage.is_program = true;
  const std::string gaps = testing::PrintToString(not_looked_for(coverage));
  for (const char* gap :
       {"never destroyed", "freed while it is registered", "one row or member of any array",
        "a host function of a stream", "once that has run"}) {
    EXPECT_THAT(gaps, testing::HasSubstr(gap));
  }
}

TEST(GapsOf, AKernelThatLaunchesOthersNamesTheirRaces) {
  const auto module = model::ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.visible .entry parent() { .param .b32 r; call (r), __cudaCDP2GetLastError; ret; }
)");
  ASSERT_EQ(module.index(), 0u);
  const auto decoded = model::decode(*std::get<0>(module), "parent");
  ASSERT_TRUE(std::holds_alternative<model::Program>(decoded));
  const model::check::Gaps gaps = model::check::gaps_of(std::get<model::Program>(decoded));
  EXPECT_THAT(further_gaps(gaps),
              testing::Contains(testing::HasSubstr("those that it launches itself")));
}

TEST(GapsOf, ArraysOfAThreadAndItsStackAreNamedForEveryKernel) {
  const std::string gaps = testing::PrintToString(model::check::not_looked_for({}));
  EXPECT_THAT(gaps, testing::HasSubstr("run over from one local array of a thread"));
  EXPECT_THAT(gaps, testing::HasSubstr("stacks deeper than cudaLimitStackSize"));
}

TEST(GapsOf, BlocksThatWaitedForEachOtherAreNamed) {
  const auto gaps_of_launch = [](const char* waiting) {
    const auto module = model::ptx::parse(model::module_with(".param .u64 flag", std::string(R"(
  .reg .pred %p<3>; .reg .b32 %r<3>; .reg .b64 %d;
  ld.param.u64 %d, [flag];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra set;
)") + waiting + R"(
  ret;
set:
  st.volatile.global.u32 [%d], %r1;
  ret;)"));
    auto decoded = model::decode(*std::get<0>(module), "k");
    const auto& program = std::get<model::Program>(decoded);
    model::TestMemory memory({model::TestArgument::buffer(std::vector<int>(1))});
    model::check::WrittenMemory written;
    model::check::Checker checker(program, model::geometry(2, 1), memory.memory, written,
                                  model::check::Wanted::findings);
    model::LaunchOptions options;
    options.observer = &checker;
    model::launch(program, model::geometry(2, 1), *model::pack_parameters(program, memory.values),
                  memory.memory, options);
    return checker.gaps();
  };
  EXPECT_TRUE(gaps_of_launch("again: ld.volatile.global.u32 %r2, [%d]; setp.eq.u32 %p2, %r2, 0;"
                             "@%p2 bra again;")
                  .has(Gap::turns));
  EXPECT_FALSE(gaps_of_launch("ld.volatile.global.u32 %r2, [%d];").has(Gap::turns));
}

TEST(GapsOf, SeveralKernelsAreAddedUp) {
  model::check::Gaps gaps, more;
  gaps.add(Gap::widths);
  more.add(Gap::order);
  gaps.add(more);
  EXPECT_THAT(further_gaps(gaps), testing::ElementsAre(testing::HasSubstr("another width")));
  EXPECT_THAT(main_gaps(gaps), testing::ElementsAre(testing::HasSubstr("volatile")));
}

}  // namespace
}  // namespace warpmeter::corpus
