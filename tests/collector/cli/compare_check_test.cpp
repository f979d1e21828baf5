// `compare` and `check` as a person uses them, on runs of the model.
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::HasSubstr;

class CompareAndCheck : public Workspace {
 protected:
  void measure(const std::string& label, const std::string& what = "transpose",
               const std::string& size = "64") const {
    const Outcome outcome =
        warpmeter({"run", what, "-n", size, "-b", "model", "-q", "--label", label});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  }
  void expect(int exit_code, const std::vector<std::string>& words, const std::string& text) const {
    const Outcome outcome = warpmeter(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.output << outcome.error;
    EXPECT_THAT(outcome.output + outcome.error, HasSubstr(text));
  }
};

TEST_F(CompareAndCheck, TwoRunsOfTheModelAreEqual) {
  measure("before");
  measure("after");
  expect(0, {"compare"}, "4 of them without a time on either side (the model");
  expect(0, {"compare", "before", "after", "--fail-on", "changed"}, "No counter of");
  expect(2, {"compare", "before", "affter"}, "did you mean after?");
}

TEST_F(CompareAndCheck, VariantsDifferAndFailOnSaysSo) {
  measure("all");
  expect(0, {"compare", "--by", "variant", "tiled", "tiled_padded"},
         "shared_load_transactions_per_request");
  expect(1, {"compare", "--by", "variant", "tiled", "tiled_padded", "--fail-on", "changed"},
         "changed");
  expect(0, {"compare", "--by", "variant", "tiled", "tiled_padded", "--fail-on", "slower"},
         "changed");
  expect(2, {"compare", "--by", "variant", "tiled", "padded"}, "no variant 'padded'");
}

TEST_F(CompareAndCheck, NothingToPairIsExitCode3) {
  measure("a", "transpose");
  measure("b", "vector_add");
  expect(3, {"compare"}, "no launch in common");
}

TEST_F(CompareAndCheck, GatesHoldBreakOrMatchNothing) {
  measure("all", "transpose", "1024");  // a size with expectations
  expect(0, {"check"}, "12 of 12 checks");
  expect(1, {"check", "--gate", "transpose/*: shared_load_transactions_per_request <= 2"},
         "kernels/transpose.cu:");
  expect(0, {"check", "transpose/tiled_padded", "-g", "shared_load_transactions_per_request <= 2"},
         "hold");
  expect(3, {"check", "--gate", "reduction: gld_efficiency > 1"}, "matches no launch");
  expect(0, {"check", "*@1024", "-g", "transpose@1024@block=16x16: gst_efficiency >= 25"}, "hold");
  expect(3, {"check", "--gate", "transpose@4096: gst_efficiency >= 25"}, "matches no launch");
  expect(2, {"check", "transpose@4096"}, "(the launches: transpose/copy@1024");
  expect(2, {"check", "transpose@block"}, "at column 11 a size, grid=… or block=… was expected");
  expect(2, {"check", "--gate", "gst_efficiency => 90"}, "at column 16 a relation");
  expect(2, {"check", "--run", "none"}, "there is no run 'none'");
  expect(2, {"check", "reduction"}, "no launch of run 1 matches 'reduction'");
  expect(1, {"check", "--format", "github", "--gate", "gst_efficiency > 90"},
         "::error file=kernels/transpose.cu,line=");
  expect(1, {"check", "--format", "junit", "--gate", "gst_efficiency > 90"}, "<failure message=");
}

TEST_F(CompareAndCheck, TheRepositorysGatesAreRead) {
  measure("all");
  write("warpmeter.toml", "[check]\ngates = [\"gst_efficiency >= 101\"]\n");
  expect(1, {"check"}, "gst_efficiency >= 101");
  write("other.toml", "[check]\nexpectations = false\ngates = [\"gst_efficiency >= 25\"]\n");
  expect(0, {"check", "--config", "other.toml"}, "4 of 4 checks");
  write("warpmeter.toml", "[check]\ngates = [\"gst_efficiency >=\"]\n");
  expect(2, {"check"},
         "warpmeter.toml, line 2, column 10: the gate 'gst_efficiency >=' cannot be read: at "
         "column 18");
}

TEST_F(CompareAndCheck, BaselinesThatAreNotThereNameThoseThatAre) {
  measure("before");
  measure("after");
  expect(2, {"check", "--baseline", "main.db"},
         "there is no baseline 'main.db' (the databases in .: warpmeter.db)");
  expect(2, {"check", "--baseline", "never"}, "there is no run 'never'");
  expect(2, {"check", "--baseline", "after"}, "is the run that is checked");
  expect(3, {"check", "--baseline", "before"}, "the baseline has no time");
  expect(2, {"check", "--significance", "1%"}, "--significance needs a --baseline");
  expect(2, {"check", "--baseline", "before", "--significance", "0"},
         "--significance '0' is not between 0% and 100%");
  write("notes.db", std::string(3000, 'x'));
  expect(5, {"check", "--baseline", "notes.db"}, "notes.db");
  expect(5, {"check", "--baseline", "notes.db"}, "another file with --baseline");
}

}  // namespace
}  // namespace warpmeter::cli
