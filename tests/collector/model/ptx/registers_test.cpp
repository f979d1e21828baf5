// SPDX-License-Identifier: MIT
#include "collector/model/ptx/flow/registers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collector/model/ptx/parsed.h"

namespace warpmeter::model::ptx {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// The registers that the one instruction reads or writes, by name.
class PtxRegisters : public testing::Test {
 protected:
  void analyse(const std::string& instruction) {
    module_ = parsed(entry(".local .b32 v[4];\n" + instruction));
    data_ = data_flow(module_->functions[0]);
  }
  std::vector<std::string> names(std::span<const RegisterId> ids) const {
    std::vector<std::string> result;
    for (const RegisterId id : ids) result.emplace_back(data_.registers()[id].name);
    return result;
  }
  std::vector<std::string> reads() const { return names(data_.reads(0)); }
  std::vector<std::string> writes() const { return names(data_.writes(0)); }

  std::unique_ptr<Module> module_;
  DataFlow data_;
};

TEST_F(PtxRegisters, TheFirstOperandIsWrittenTheOthersAreRead) {
  analyse("mad.lo.s32 %r1, %r2, %r3, %r2;");
  EXPECT_THAT(writes(), ElementsAre("%r1"));
  EXPECT_THAT(reads(), UnorderedElementsAre("%r2", "%r3"));
}

TEST_F(PtxRegisters, AStoreWritesNone) {
  analyse("st.global.v2.u32 [%d1+4], {%r1, %r2};");
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(reads(), UnorderedElementsAre("%d1", "%r1", "%r2"));
}

TEST_F(PtxRegisters, ALoadReadsItsAddress) {
  analyse("ld.shared.v2.u32 {%r1, _}, [%r3];");
  EXPECT_THAT(writes(), ElementsAre("%r1"));
  EXPECT_THAT(reads(), ElementsAre("%r3"));
}

TEST_F(PtxRegisters, APairIsWrittenWhole) {
  analyse("setp.lt.and.u32 %p1|%p2, %r1, 5, !%p3;");
  EXPECT_THAT(writes(), UnorderedElementsAre("%p1", "%p2"));
  EXPECT_THAT(reads(), UnorderedElementsAre("%r1", "%p3"));
}

TEST_F(PtxRegisters, AGuardedWriteKeepsSomeOldValues) {
  analyse("@!%p1 mov.u32 %r1, %r2;");
  EXPECT_THAT(writes(), ElementsAre("%r1"));
  EXPECT_THAT(reads(), UnorderedElementsAre("%p1", "%r1", "%r2"));
}

TEST_F(PtxRegisters, ACallWritesItsResults) {
  analyse("call (%r1), f, (%r2, %d1);");
  EXPECT_THAT(writes(), ElementsAre("%r1"));
  EXPECT_THAT(reads(), UnorderedElementsAre("%r2", "%d1"));
}

TEST_F(PtxRegisters, SpecialRegistersVariablesAndLabelsAreNone) {
  analyse("mov.u32 %r1, %tid.x;\nmov.u64 %d1, v;\nL: bra L;\nmov.u32 %r99, %r1;");
  EXPECT_THAT(names(data_.reads(0)), IsEmpty());
  EXPECT_THAT(names(data_.reads(1)), IsEmpty());
  EXPECT_THAT(names(data_.reads(2)), IsEmpty());
  EXPECT_THAT(names(data_.writes(3)), IsEmpty());
  EXPECT_FALSE(data_.find("%r99").has_value());
  EXPECT_FALSE(data_.find("%r7").has_value());
  EXPECT_EQ(data_.find("%r1"), 0u);
}

TEST_F(PtxRegisters, WidthsFollowTheDeclaredTypes) {
  analyse(".reg .b16 h; .reg .b128 q; mov.b16 h, 1; mov.b128 q, {%d1, %d2}; not.pred %p1, %p2;");
  EXPECT_EQ(data_.registers()[*data_.find("h")].width, Width::word);
  EXPECT_EQ(data_.registers()[*data_.find("q")].width, Width::quad);
  EXPECT_EQ(data_.registers()[*data_.find("%d1")].width, Width::pair);
  EXPECT_EQ(data_.registers()[*data_.find("%p2")].width, Width::predicate);
}

TEST_F(PtxRegisters, AnUnknownInstructionReadsWhatItNames) {
  analyse("frobnicate %r1, %r2;");
  EXPECT_THAT(writes(), IsEmpty());
  EXPECT_THAT(reads(), UnorderedElementsAre("%r1", "%r2"));
}

TEST_F(PtxRegisters, ARangeMayStartWithAnotherRangesName) {
  analyse(
      ".reg .b32 x<3>; .reg .b64 x1<5>; .reg .pred x;\nselp.b32 x2, x1, 0, x;\nmov.u64 x14, 1;");
  EXPECT_EQ(data_.registers()[*data_.find("x2")].width, Width::word);
  EXPECT_EQ(data_.registers()[*data_.find("x14")].width, Width::pair);
  EXPECT_EQ(data_.registers()[*data_.find("x")].width, Width::predicate);
}

}  // namespace
}  // namespace warpmeter::model::ptx
