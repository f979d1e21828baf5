// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/reached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::Contains;
using testing::Not;

constexpr const char* text = R"(
.shared .align 4 .b32 own, of_callee, of_pointed, of_other;
.global .align 8 .u64 table[1] = {pointed};
.func callee () { .reg .b32 %r<2>; ld.shared.u32 %r1, [of_callee+4]; ret; }
.func pointed () { .reg .b32 %r<2>; ld.shared.u32 %r1, [of_pointed]; ret; }
.func other () { .reg .b32 %r<2>; ld.shared.u32 %r1, [of_other]; ret; }
.entry calls () { .reg .b32 %r<2>; ld.shared.u32 %r1, [own]; call callee; ret; }
.entry mentions () { .reg .b64 %rd<2>; mov.u64 %rd1, table; ret; }
.entry points (.param .u64 at) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [at];
  prototype: .callprototype _ ();
  call %rd1, prototype;
  ret;
}
)";

std::unordered_set<std::string_view> reached(const Module& module, std::string_view entry) {
  return reached_names(module, *module.find(entry));
}

TEST(PtxReached, FollowsCallsAndInitialValues) {
  const auto module = parsed(with_header(text));
  const auto by_call = reached(*module, "calls");
  EXPECT_THAT(by_call, Contains("own"));
  EXPECT_THAT(by_call, Contains("of_callee"));
  EXPECT_THAT(by_call, Not(Contains("of_pointed")));
  EXPECT_THAT(by_call, Not(Contains("of_other")));
  const auto by_value = reached(*module, "mentions");
  EXPECT_THAT(by_value, Contains("of_pointed"));
  EXPECT_THAT(by_value, Not(Contains("own")));
}

TEST(PtxReached, ACallByAnAddressMayBeOfAnyFunction) {
  const auto module = parsed(with_header(text));
  const auto found = reached(*module, "points");
  EXPECT_THAT(found, Contains("of_callee"));
  EXPECT_THAT(found, Contains("of_other"));
  EXPECT_THAT(found, Not(Contains("own")));
}

}  // namespace
}  // namespace warpmeter::model::ptx
