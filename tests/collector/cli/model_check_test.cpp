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

  /// What the comments say: "// ! race, misaligned".
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
  EXPECT_THAT(with.output, HasSubstr("races of volatile, relaxed, acquiring"));
  EXPECT_THAT(with.output, testing::Not(HasSubstr("with nothing to order the two")));
  EXPECT_THAT(without.output, testing::Not(HasSubstr("volatile")));
  EXPECT_THAT(without.output, HasSubstr("with nothing to order the two"));
}

}  // namespace
}  // namespace warpmeter::cli
