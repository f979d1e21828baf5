// SPDX-License-Identifier: MIT
// Memory that a launch only reads: the code and the arguments tell which it is, and the checker
// keeps no shadow of it. That this changes no finding is compared for every checked twin
// (checked_twins.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/model/check/checker.h"
#include "collector/model/machine/order.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model::only_read {
namespace {

using check::Gap;

/// A kernel k(out, in, far) of blocks of 32 threads; out and in are buffers of 4,096 bytes, `far`
/// is a number. %d1 and %d2 are the thread's element of each.
constexpr std::string_view parameters = ".param .u64 out, .param .u64 in, .param .u64 far";
constexpr std::string_view start = R"(
  .reg .b32 %r<10>;
  .reg .b64 %d<20>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
)";

struct Kernel {
  explicit Kernel(std::string_view body, std::string_view before = "") {
    auto module = ptx::parse(
        module_with(parameters, std::string(start) + std::string(body) + "\nret;", before));
    auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(module), "k");
    program = std::move(std::get<Program>(decoded));
  }

  Program program;
};

struct Device {
  Device() {
    for (std::uint64_t* address : {&out, &in})
      *address = memory.allocate(std::vector<std::byte>(4096), "buffer");
  }

  std::vector<std::byte> arguments(const Program& program, std::uint64_t far = 0) const {
    const std::vector<std::vector<std::byte>> values = {TestArgument::scalar(out).bytes,
                                                        TestArgument::scalar(in).bytes,
                                                        TestArgument::scalar(far).bytes};
    return *pack_parameters(program, values);
  }

  DeviceMemory memory;
  std::uint64_t out = 0, in = 0;
};

using Stored = std::optional<std::set<std::uint64_t>>;

Stored stored_by(std::string_view body, Device& device, std::string_view before = "") {
  const Kernel kernel(body, before);
  return stored_allocations(kernel.program, device.arguments(kernel.program), device.memory);
}

TEST(StoredAllocations, AreThoseThatPointersOfStoresLeadTo) {
  Device device;
  const std::string load = "ld.global.u32 %r2, [%d2];";
  EXPECT_EQ(stored_by(load + "st.global.u32 [%d1], %r2;", device), Stored({device.out}));
  EXPECT_EQ(stored_by(load + "st.global.u32 [%d2], %r2;", device), Stored({device.in}));
  EXPECT_EQ(stored_by(load + "red.global.add.u32 [%d1], %r2;", device), Stored({device.out}));
  EXPECT_EQ(stored_by(load, device), Stored(std::set<std::uint64_t>()));
  const std::string either = load + "setp.eq.u32 %p1, %r2, 0; selp.b64 %d4, %d1, %d2, %p1;";
  EXPECT_EQ(stored_by(".reg .pred %p<2>;" + either + "st.global.u32 [%d4], %r2;", device),
            Stored({device.out, device.in}));
}

TEST(StoredAllocations, AreAllThatAPointerMayBeMadeOf) {
  Device device;
  const std::string pick = ".reg .pred %p<2>; setp.eq.u32 %p1, %r1, 0; ";
  EXPECT_EQ(stored_by(pick + ".shared .b32 s[32]; mov.u64 %d4, s; cvta.shared.u64 %d4, %d4;"
                             "selp.b64 %d5, %d4, %d2, %p1; st.u32 [%d5], %r1;",
                      device),
            Stored({device.in}));
  EXPECT_EQ(
      stored_by("sub.u64 %d4, %d2, %d1; add.u64 %d5, %d1, %d4; st.global.u32 [%d5], %r1;", device),
      Stored({device.out, device.in}));
  EXPECT_EQ(stored_by(pick + "ld.global.u64 %d4, [%d2]; selp.b64 %d5, %d1, %d4, %p1;"
                             "cvta.to.global.u64 %d5, %d5; st.global.u32 [%d5], %r1;",
                      device),
            Stored());
  EXPECT_EQ(stored_by(pick + "ld.global.v2.u32 {%r2, %r3}, [%d2]; mov.b64 %d4, {%r2, %r3};"
                             "selp.b64 %d5, %d1, %d4, %p1; st.global.u32 [%d5], %r1;",
                      device),
            Stored());
  EXPECT_EQ(stored_by(pick + "ld.global.u32 %r2, [%d2]; cvt.u64.u32 %d4, %r2; shl.b64 %d4, %d4, 32;"
                             "selp.b64 %d5, %d1, %d4, %p1; st.global.u32 [%d5], %r1;",
                      device),
            Stored());
}

TEST(StoredAllocations, MayBeAnyWhereAPointerComesOutOfMemory) {
  Device device;
  EXPECT_EQ(stored_by("ld.global.u64 %d4, [%d2]; st.global.u32 [%d4], %r1;", device), Stored());
  EXPECT_EQ(stored_by("ld.param.u64 %d4, [far]; st.global.u32 [%d4], %r1;", device), Stored())
      << "the number is nobody's address";
}

TEST(StoredAllocations, MayBeAnyWhereAFunctionGetsThePointer) {
  Device device;
  const std::string_view function = R"(
.func put(.param .b64 where) {
  .reg .b64 %a<2>;
  .reg .b32 %v<2>;
  ld.param.u64 %a1, [where];
  mov.u32 %v1, 1;
  st.global.u32 [%a1], %v1;
  ret;
}
)";
  const std::string_view call = R"({
  .param .b64 given;
  st.param.b64 [given], %d1;
  call.uni put, (given);
})";
  const Stored stored = stored_by(call, device, function);
  EXPECT_EQ(stored, Stored());
}

struct Checked {
  std::vector<std::string> findings;
  check::Gaps gaps;
  std::size_t bytes = 0;
};

Checked checked(std::string_view body, Device& device, std::uint64_t far = 0) {
  const Kernel kernel(body);
  check::WrittenMemory written;
  check::Checker checker(kernel.program, geometry(2, 32), device.memory, written,
                         check::Wanted::findings);
  LaunchOptions options;
  options.observer = &checker;
  const LaunchOutcome outcome =
      launch(kernel.program, geometry(2, 32), device.arguments(kernel.program, far), device.memory,
             options);
  Checked result{{}, checker.gaps(), checker.bytes()};
  if (outcome.trap) result.findings.push_back(outcome.trap->message);
  for (const check::Finding& finding : checker.findings())
    result.findings.push_back(finding.message);
  return result;
}

TEST(OnlyRead, MemoryHasNoShadow) {
  Device device;
  const Checked once = checked("ld.global.u32 %r2, [%d2];", device);
  EXPECT_THAT(once.findings, testing::IsEmpty());
  EXPECT_LT(once.bytes, 4096u);
  const std::string both = "ld.global.u32 %r2, [%d2]; st.global.u32 [%d2], %r2;";
  EXPECT_GT(checked(both, device).bytes, 4096u);
}

TEST(OnlyRead, ABufferByTwoNamesIsNot) {
  Device device;
  device.in = device.out;
  const Checked twice = checked(
      "mov.u32 %r3, %ctaid.x; ld.global.u32 %r2, [%d2+4]; st.global.u32 [%d1], %r3;", device);
  EXPECT_THAT(twice.findings, testing::Contains(testing::HasSubstr("reads")));
}

// The number is how far the one buffer is from the other. A number of 64 bits may be a pointer.
TEST(OnlyRead, ABufferIsNotWhereANumberMayLeadToIt) {
  Device device;
  const Checked found = checked(
      "ld.param.u64 %d5, [far]; add.u64 %d6, %d1, %d5;"
      "ld.global.u32 %r2, [%d2+4]; st.global.u32 [%d6], %r1;",
      device, device.in - device.out);
  EXPECT_THAT(found.findings, testing::Contains(testing::HasSubstr("reads")));
}

TEST(OnlyRead, AStoreThatGetsThereByAnIndexIsSaidToBeLeftOut) {
  Device device;
  const std::string store =
      "ld.param.u32 %r4, [far]; mul.wide.s32 %d5, %r4, 4; add.u64 %d6, %d1, %d5;"
      "ld.global.u32 %r2, [%d2]; st.global.u32 [%d6], %r1;";
  ASSERT_LT(device.in - device.out, std::uint64_t{1} << 30);
  EXPECT_TRUE(checked(store, device, (device.in - device.out) / 4).gaps.has(Gap::stray_stores));
  EXPECT_FALSE(checked(store, device, 32).gaps.has(Gap::stray_stores));
}

}  // namespace
}  // namespace warpmeter::model::only_read
