// SPDX-License-Identifier: MIT
// Families with several named sizes: what is compared with what.
#include "tests/collector/cli/family_file.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

class FamilySizes : public FamilyFile {};

constexpr const char* two_sizes = R"(
file: r.cu
sizes: { n: [64, 128], m: [2, 8] }
arguments:
  - out: f32[n*m]
  - in: f32[n*m] = iota
  - i32: n*m
reference: plain
ceiling: copy
work: { read: 4*n*m, written: 4*n*m }
variants:
  copy: { kernel: copied, grid: 1, block: 32 }
  plain: { kernel: 'scaled<1>', grid: 1, block: 32 }
  by: { kernel: 'scaled<BY>', parameters: { BY: [2, 4] }, grid: 1, block: 32 }
)";
constexpr const char* scaled_rows = R"(
__global__ void copied(float* out, const float* in, int count) {
  for (int i = threadIdx.x; i < count; i += 32) out[i] = in[i];
}
template <int BY> __global__ void scaled(float* out, const float* in, int count) {
  for (int i = threadIdx.x; i < count / BY * BY; i += 32) out[i] = 2 * in[i];
}
)";

TEST_F(FamilySizes, AreThoseOfTheReferenceToo) {
  write("r.cu", scaled_rows);
  const Outcome outcome = run(two_sizes);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE outcome = 'done' AND verified"), "8")
      << "two sizes of n, two of m, two parameters";
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE is_ceiling"), "4");
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE is_ceiling AND variant IN "
                     "('copy(m=2)', 'copy(m=8)')"),
            "4");
  const Outcome named = run(std::string(two_sizes) +
                                "  own: { kernel: 'scaled<1>', grid: 1, block: 32, "
                                "reference: 'by[BY=2]' }\n",
                            {"*/own*"});
  EXPECT_EQ(named.exit_code, 0) << named.error;
  const Outcome several = run(std::string(two_sizes) +
                              "  own: { kernel: 'scaled<1>', grid: 1, block: 32, "
                              "reference: by }\n");
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.error, HasSubstr("the reference 'by' is 2 configurations; name one of them: "
                                       "by[BY=2]"));
}

TEST_F(FamilySizes, AreNotThoseOfAReferenceThatIsNamedWithItsOwn) {
  write("r.cu", scaled_rows);
  for (const char* key : {"reference: plain", "ceiling: copy"}) {
    std::string yaml = two_sizes;
    const std::string name = std::string(key).substr(std::string(key).find(' ') + 1);
    yaml.insert(yaml.find(key) + std::string(key).size(), "(m=2)");
    const Outcome outcome = run(yaml, {"--dry-run"});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_THAT(outcome.error, HasSubstr("'" + name +
                                         "(m=2)' is at m=2, and others are at m=8: "
                                         "name it without sizes, " +
                                         name));
  }
}

TEST_F(FamilySizes, AreNoneOfWhere) {
  write("r.cu", scaled_rows);
  std::string yaml = two_sizes;
  yaml.replace(yaml.find("by: {"), 5, "by: { where: BY < n,");
  const Outcome outcome = run(yaml, {"--dry-run"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("where 'BY < n' cannot use n, which -n replaces"));
}

TEST_F(FamilySizes, AndParametersAreNamedByWhatIsTyped) {
  write("r.cu", scaled_rows);
  const std::string yaml =
      std::string(two_sizes) + "  byBY: { kernel: 'scaled<1>', grid: 1, block: 32 }\n";
  ASSERT_EQ(run(yaml, {"f/by[BY=2](m=2)", "-n", "64"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches"), "1");
  ASSERT_EQ(run(yaml, {"*/by[BY=*](m=8)", "-n", "64"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM launches WHERE run_id = 2 AND variant GLOB 'by[[]*'"),
            "2");
  const Outcome history =
      warpmeter({"history", "f/by[BY=2](m=2)", "-m", "gst_transactions", "--format", "csv"});
  EXPECT_EQ(history.exit_code, 0) << history.error;
  EXPECT_THAT(history.output, HasSubstr("by[BY=2](m=2)"));
}

TEST_F(FamilySizes, HaveToHaveTheReference) {
  write("r.cu", scaled_rows);
  std::string yaml = two_sizes;
  yaml.replace(yaml.find("plain: {"), 8, "plain: { where: m < 8,");
  const Outcome outcome = run(yaml);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("the reference 'plain' leaves out m=8, which others have"));
}

}  // namespace
}  // namespace warpmeter::cli
