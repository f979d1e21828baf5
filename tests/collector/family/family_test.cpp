// SPDX-License-Identifier: MIT
// The refusals at the load of a family, before anything runs, and what each variant is held to.
#include "collector/family/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/model/input/npy.h"
#include "tests/collector/family/files.h"

namespace warpmeter::family {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string head = R"(family: f
file: k.ptx
sizes: [32]
arguments: [out: 'f32[n]', in: 'f32[n] = iota', u32: n]
)";
const std::string variants = R"(variants:
  plain: { kernel: plain, grid: 1, block: n }
  scaled: { kernel: scaled, grid: 1, block: n }
)";

struct Load : FamilyFiles {};

TEST_F(Load, ABufferThatIsToBeComparedIsOneOfTheArguments) {
  EXPECT_EQ(refusal(head + "outputs: [out, inn]\n" + variants),
            "f.yaml:5:16: there is no buffer 'inn' to compare; did you mean in?");
  EXPECT_EQ(refusal(head + "reference: { result: good.npy }\n" + variants),
            "f.yaml:5:22: there is no buffer 'result' to compare");
  EXPECT_EQ(refusal(head + "outputs: [out, in]\nreference: plain\n" + variants), "");
}

TEST_F(Load, EachVariantThatIsComparedHasTheBuffersOfTheFamily) {
  const std::string others =
      "  other: { kernel: plain, grid: 1, block: n, arguments: ['f32[n]', 'f32[n]', u32: n] }\n";
  EXPECT_EQ(refusal(head + "outputs: out\n" + variants + others),
            "f.yaml:5:10: there is no buffer 'out' to compare");
  EXPECT_EQ(refusal(head + "reference: { out: good.npy }\n" + variants + others),
            "f.yaml:5:19: there is no buffer 'out' to compare");
}

TEST_F(Load, AVariantWithAReferenceOfItsOwnIsNotHeldToTheFamilysOutputs) {
  for (const std::string reference : {"none", "plain"}) {
    const std::string other =
        "  other: { kernel: plain, grid: 1, block: n, reference: " + reference +
        ", arguments: ['f32[n]', 'f32[n]', u32: n] }\n";
    EXPECT_EQ(refusal(head + "outputs: out\n" + variants + other), "");
    EXPECT_EQ(refusal(head + "reference: { out: good.npy }\n" + variants + other), "");
  }
}

TEST_F(Load, NeitherIsTheCeiling) {
  const std::string ceiling =
      "  top: { kernel: plain, grid: 1, block: n, arguments: ['f32[n]', 'f32[n]', u32: n] }\n";
  EXPECT_EQ(refusal(head + "outputs: out\nceiling: top\n" + variants + ceiling), "");
  EXPECT_NE(refusal(head + "outputs: out\nceiling: plain\n" + variants + ceiling), "");
}

TEST_F(Load, ASettingIsOfAVariableThatTheModuleHas) {
  EXPECT_THAT(refusal(head + "set: { facter: 2.0 }\n" + variants),
              testing::AllOf(HasSubstr("f.yaml:5:8: "), HasSubstr("'facter=2.0' names no variable"),
                             HasSubstr("did you mean factor")));
  EXPECT_THAT(
      refusal(head + variants + "  other: { kernel: plain, grid: 1, block: n, set: { n: 1 } }\n"),
      testing::AllOf(HasSubstr("f.yaml:8:53: "), HasSubstr("'n=1' names no variable")));
  EXPECT_THAT(refusal(head + "set: { factor: [1, 2] }\n" + variants), HasSubstr("f.yaml:5:8: "));
  EXPECT_EQ(refusal(head + "set: { factor: 2.0 }\n" + variants), "");
}

TEST_F(Load, ArgumentsFitTheKernel) {
  EXPECT_THAT(refusal(head + variants +
                      "  other: { kernel: plain, grid: 1, block: n, arguments: ['f32[n]'] }\n"),
              HasSubstr("f.yaml:8:20: "));
  EXPECT_THAT(refusal(head + variants +
                      "  other: { kernel: plain, grid: 1, block: n, arguments: ['f32[n', "
                      "'f32[n]', u32: n] }\n"),
              HasSubstr("f.yaml:8:58: "));
}

TEST_F(Load, VariantsAreComparedWithTheFilesOfTheFamilyButThoseWithTheirOwnReference) {
  const std::vector<std::byte> numbers(32 * sizeof(float));
  write("good.npy",
        model::npy_header(Element::f32, numbers.size()) + std::string(numbers.size(), '\0'));
  const auto loaded = family(head + "reference: { out: good.npy }\n" + variants +
                             "  own: { kernel: plain, grid: 1, block: n, reference: plain }\n"
                             "  none: { kernel: plain, grid: 1, block: n, reference: none }\n");
  const kernels::Problem problem = loaded->family().prepare(32);
  for (const char* name : {"plain", "scaled"}) {
    const kernels::Variant* variant = loaded->family().find(name);
    ASSERT_TRUE(variant->expected) << name;
    const auto expected = variant->expected(32, problem);
    ASSERT_EQ(expected.size(), 1U);
    EXPECT_EQ(expected[0].buffer, 0U);
    EXPECT_EQ(expected[0].values, numbers);
    EXPECT_THAT(variant->reference, IsEmpty());
  }
  EXPECT_FALSE(loaded->family().find("own")->expected);
  EXPECT_EQ(loaded->family().find("own")->reference, "plain");
  EXPECT_FALSE(loaded->family().find("none")->expected);
  EXPECT_THAT(loaded->family().find("none")->reference, IsEmpty());
}

}  // namespace
}  // namespace warpmeter::family
