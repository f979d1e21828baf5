// SPDX-License-Identifier: MIT
// `warpmeter model --check` on kernels that are sound and on kernels that are not (check/*.cu).
#include <set>
#include <sstream>
#include <utility>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A line of the source, and what is wrong with it.
using Findings = std::set<std::pair<int, std::string>>;

class ModelCheck : public Workspace {
 protected:
  void SetUp() override {
    for (const auto& entry :
         std::filesystem::directory_iterator(source_dir() + "/tests/collector/cli/check")) {
      std::filesystem::copy(entry, file(entry.path().filename().string()));
    }
  }

  /// The expected findings in the comments: "// ! race, misaligned".
  Findings expected(const std::string& source) const {
    Findings all;
    std::istringstream text(contents(source));
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const std::size_t mark = line.find("// ! ");
      if (mark == std::string::npos) continue;
      std::istringstream defects(line.substr(mark + 5));
      for (std::string defect; std::getline(defects >> std::ws, defect, ',');) {
        all.emplace(number, defect);
      }
    }
    return all;
  }

  /// The mistakes that a csv of findings names: variant,finding,place,weight,…
  static Findings found(const std::string& csv, const std::string& source) {
    Findings all;
    std::istringstream text(csv);
    std::string line, variant, defect, place, weight;
    std::getline(text, line);
    while (std::getline(text, line)) {
      std::istringstream cells(line);
      std::getline(cells, variant, ',');
      std::getline(cells, defect, ',');
      std::getline(cells, place, ',');
      std::getline(cells, weight, ',');
      if (weight == "remark") continue;
      EXPECT_EQ(place.substr(0, source.size() + 1), source + ":") << line;
      all.emplace(std::atoi(place.c_str() + source.size() + 1), defect);
    }
    return all;
  }
};

TEST_F(ModelCheck, FindsNothingInSoundKernels) {
  const Outcome outcome =
      warpmeter({"model", "--spec", "sound.yaml", "--check", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(found(outcome.output, "sound.cu"), IsEmpty()) << outcome.output;
}

TEST_F(ModelCheck, FindsEveryMistakeWithItsLine) {
  const Outcome outcome =
      warpmeter({"model", "--spec", "faulty.yaml", "--check", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  EXPECT_EQ(found(outcome.output, "faulty.cu"), expected("faulty.cu")) << outcome.output;
}

TEST_F(ModelCheck, FindsVariablesThatAreNotSetWhereItMatters) {
  const Outcome outcome =
      warpmeter({"model", "--spec", "unset.yaml", "--check", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.error;
  EXPECT_EQ(found(outcome.output, "unset.cu"), expected("unset.cu")) << outcome.output;
}

TEST_F(ModelCheck, SaysWhatAndWhere) {
  const Outcome outcome =
      warpmeter({"model", "faulty.cu", "-k", "oob", "--grid", "2", "--block", "128", "--arg",
                 "o:f32[256]", "--arg", "in:f32[256]=iota", "--arg", "i32=1", "--check"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.output, HasSubstr("just past the end of 'in'"));
  EXPECT_THAT(outcome.output, HasSubstr("block (1,0,0), thread (127,0,0)"));
  EXPECT_THAT(outcome.error, HasSubstr("--check found 1 mistake"));
}

TEST_F(ModelCheck, SaysThatVolatileAccessesNeverRace) {
  write("reduce.cu", R"(__global__ void reduce(float* out, const float* in) {
  __shared__ MAYBE float s[64];
  s[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) out[0] = s[0] + s[63];
}
)");
  const auto checked = [&](const char* maybe) {
    return warpmeter({"model", "reduce.cu", "-k", "reduce", "--grid", "1", "--block", "64", "--arg",
                      "o:f32[1]", "--arg", "in:f32[64]=iota", "--check", "-D", maybe});
  };
  const Outcome with = checked("MAYBE=volatile"), without = checked("MAYBE=");
  EXPECT_THAT(with.output, HasSubstr("volatile, relaxed, acquiring"));
  EXPECT_THAT(with.output, testing::Not(HasSubstr("with nothing to order the two")));
  EXPECT_THAT(without.output, testing::Not(HasSubstr("volatile")));
  EXPECT_THAT(without.output, HasSubstr("with nothing to order the two"));
}

TEST_F(ModelCheck, SaysWhatWasUnsetInAPartAndWhereItWasRead) {
  write("sum.cu", R"(__global__ void first(float* out) { out[4 * threadIdx.x] = 1; }
__global__ void sum(float* out, const float4* in) {
  const float4 v = in[threadIdx.x];
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
)");
  write("sum.yaml", R"(file: sum.cu
launches:
  - {kernel: first, grid: [1], block: [32], args: ['buffer:f32[128]']}
  - {kernel: sum, grid: [1], block: [32], args: ['out:f32[32]', '@buffer']}
)");
  const Outcome outcome = warpmeter({"model", "--spec", "sum.yaml", "--check", "--format", "csv"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(found(outcome.output, "sum.cu"), (Findings{{4, "uninitialised read"}}));
  EXPECT_THAT(outcome.output, HasSubstr("uses 12 of the 16 bytes of 'buffer' at byte 0 (read on "
                                        "line 3), which nothing has set, to compute what it "
                                        "writes"));
}

TEST_F(ModelCheck, SaysWhichSharedArrayAnAccessLeavesOrThatItDoesNotKnow) {
  write("two.cu", R"(__global__ void two(int* out, int more) {
  __shared__ int a[32], b[32];
  const int t = threadIdx.x;
  a[t] = b[t] = t;
  __syncthreads();
#ifdef KNOWN
  if (t < 4) a[t + more] = 7;
#else
  int* const own = t < 16 ? a : b;
  own[t] = 7;
#endif
  __syncthreads();
  out[t] = a[t] + b[t];
}
)");
  const auto checked = [&](const char* define) {
    return warpmeter({"model", "two.cu", "-k", "two", "--grid", "1", "--block", "32", "--arg",
                      "o:i32[32]", "--arg", "i32=32", "--check", "-D", define});
  };
  const Outcome known = checked("KNOWN"), unknown = checked("OTHER");
  EXPECT_EQ(known.exit_code, 6);
  EXPECT_THAT(known.output, HasSubstr("writes 4 bytes at byte 128 of 'a' (128 bytes) in "
                                      "shared memory, where 'b' lies"));
  EXPECT_THAT(known.output, testing::Not(HasSubstr("from one shared array into another")));
  EXPECT_EQ(unknown.exit_code, 0) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("from one shared array into another"));
}

}  // namespace
}  // namespace warpmeter::cli
