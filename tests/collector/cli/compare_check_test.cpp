// SPDX-License-Identifier: MIT
// `compare` and `check` as a person uses them, on runs of the model.
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  expect(0, {"compare"}, "7 of them without a time on either side (the model");
  expect(0, {"compare", "--format", "markdown"},
         "## Limits\n\n- Nobody knows what limits 7 pairs: inst_executed was not counted (`run -m "
         "@limits` counts all that it needs).");
  expect(0, {"compare", "before", "after", "--fail-on", "changed"}, "No counter of");
  expect(2, {"compare", "before", "affter"}, "did you mean after?");
}

/// Tiles of 16 × 16 floats, a warp two rows: 128 warps at 64 × 64. Unpadded, a column of two rows
/// meets 4 of 32 banks, 8 words each: 8 wavefronts, and 1 to store. Rows of 17 words make 2 and 2.
TEST_F(CompareAndCheck, TheModelSaysWhichVariantMovesLessOfWhatLimitsIt) {
  ASSERT_EQ(warpmeter({"run", "transpose/tiled", "transpose/tiled_padded", "-n", "64", "-b",
                       "model", "-q", "-m", "@limits"})
                .exit_code,
            0);
  expect(0, {"compare", "--by", "variant", "tiled", "tiled_padded", "--format", "markdown"},
         "- transpose/tiled_padded at 64 against tiled: both move the same of what limits them, "
         "device memory: 32,768 bytes of input and output (18.4 a cycle). The rest differs most in "
         "shared memory: tiled_padded moves less of it, 512 wavefronts against 1,152 (1 a cycle).");
}

TEST_F(CompareAndCheck, RunsOfTwoDatabasesAreComparedAndNeitherFileChanges) {
  const auto measure_into = [&](const std::string& database, const std::string& size,
                                const std::string& label) {
    ASSERT_EQ(warpmeter({"run", "transpose", "-n", size, "-b", "model", "-q", "--db", database,
                         "--label", label})
                  .exit_code,
              0);
  };
  measure_into("a.db", "64", "small");
  measure_into("a.db", "128", "large");
  measure_into("b.db", "64", "other");
  const std::string a = contents("a.db"), b = contents("b.db");
  expect(0, {"compare", "a.db:small", "b.db", "--fail-on", "changed"},
         "b.db, run 1 (other) against a.db, run 1 (small)");
  expect(0, {"compare", "b.db", "./a.db:last~1"},
         "./a.db, run 1 (small) against b.db, run 1 (other)");
  expect(0, {"compare", "a.db:1", "--db", "b.db"},
         "b.db, run 1 (other) against a.db, run 1 (small)");
  expect(0, {"compare", "a.db:small", "other", "--db", "b.db"}, "7 pairs");
  expect(0, {"compare", "b.db", "a.db:1", "--format", "json"},
         "\"name\":\"a.db, run 1 (small)\",\"runs\":[1]");
  expect(3, {"compare", "a.db", "b.db"},
         "a.db, run 2 (large) and b.db, run 1 (other) have no launch in common");
  expect(2, {"compare", "a.db:2", "a.db"},
         "a.db, run 2 (large) and a.db, run 2 (large) are the same run");
  expect(2, {"compare", "a.db:smal", "b.db"}, "a.db: there is no run 'smal'; did you mean small?");
  expect(2, {"compare", "a.db:", "b.db"}, "names no run after the colon");
  expect(2, {"compare", "a.db", "b.db", "c.db"}, "'c.db' is one too many");
  expect(5, {"compare", "a.db", "c.db"}, "there is no database c.db");
  expect(2, {"compare", "a.db:1", "b.db", "-o", "b.db"}, "-o b.db would overwrite the database");
  EXPECT_EQ(contents("a.db"), a);
  EXPECT_EQ(contents("b.db"), b);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("a.db", "b.db"));
  }
}

TEST_F(CompareAndCheck, WithoutNamesTheLastRunMeetsTheLatestThatMeasuredTheSame) {
  const auto measure = [this](const std::string& what, const std::string& size) {
    ASSERT_EQ(warpmeter({"run", what, "-n", size, "-b", "model", "-q"}).exit_code, 0);
  };
  measure("transpose/naive", "64");
  measure("vector_add", "1000");
  expect(3, {"compare"}, "no earlier run has launches of run 2 (vector_add/block_128 on model, …)");
  measure("transpose/naive", "32");
  expect(3, {"compare"}, "no earlier run has launches of run 3");
  measure("transpose", "64");
  expect(0, {"compare"}, "run 4 against run 1");
  expect(0, {"compare", "--fail-on", "changed"}, "run 4 against run 1");
}

TEST_F(CompareAndCheck, ARunThatWasMergedIsItselfInBothDatabases) {
  measure("one");
  ASSERT_EQ(warpmeter({"merge", "warpmeter.db", "-o", "merged.db"}).exit_code, 0);
  expect(2, {"compare", "warpmeter.db", "merged.db"}, "are the same run");
}

TEST_F(CompareAndCheck, VariantsDifferAndFailOnSaysSo) {
  measure("all");
  expect(0, {"compare", "--by", "variant", "tiled", "tiled_padded"},
         "shared_load_transactions_per_request");
  expect(1, {"compare", "--by", "variant", "tiled", "tiled_padded", "--fail-on", "changed"},
         "changed");
  expect(3, {"compare", "--by", "variant", "tiled", "tiled_padded", "--fail-on", "slower"},
         "nobody knows whether one is slower");
  expect(2, {"compare", "--by", "variant", "tiled", "padded"}, "no variant 'padded'");
}

TEST_F(CompareAndCheck, NothingToPairIsExitCode3) {
  measure("a", "transpose");
  measure("b", "vector_add");
  expect(3, {"compare", "a", "b"}, "no launch in common");
  expect(3, {"compare"}, "no earlier run has launches of run 2");
}

TEST_F(CompareAndCheck, GatesHoldBreakOrMatchNothing) {
  measure("all", "transpose", "1024");      // a size with expectations
  expect(0, {"check"}, "22 of 22 checks");  // as many as kernels/transpose.yaml expects
  expect(1, {"check", "--gate", "transpose/*: shared_load_transactions_per_request <= 2"},
         "kernels/transpose.cu:");
  expect(0, {"check", "transpose/tiled_padded", "-g", "shared_load_transactions_per_request <= 2"},
         "hold");
  expect(3, {"check", "--gate", "reduction: gld_efficiency > 1"}, "matches no launch");
  expect(0, {"check", "*@1024", "-g", "transpose@1024@block=16x16: gst_efficiency >= 25"}, "hold");
  expect(3, {"check", "--gate", "transpose@4096: gst_efficiency >= 25"}, "matches no launch");
  expect(2, {"check", "transpose@4096"}, "(the launches: transpose/copy@1024");
  expect(2, {"check", "transpose@block"},
         "at column 11 a size, grid=…, block=… or device=… was expected");
  expect(2, {"check", "--gate", "gst_efficiency => 90"}, "at column 16 a relation");
  expect(2, {"check", "--run", "none"}, "there is no run 'none'");
  expect(2, {"check", "reduction"}, "no launch of run 1 matches 'reduction'");
  expect(2, {"check", "transpose/tiled@1024: gst_efficiency > 90"},
         "is a gate, and not which launches to check: --gate 'transpose/tiled@1024:");
  expect(1, {"check", "--format", "github", "--gate", "gst_efficiency > 90"},
         "::error file=kernels/transpose.cu,line=");
  expect(1, {"check", "--format", "junit", "--gate", "gst_efficiency > 90"}, "<failure message=");
  expect(1, {"check", "--format", "sarif", "--gate", "gst_efficiency > 90"}, R"("level": "error")");
}

TEST_F(CompareAndCheck, TheRepositorysGatesAreRead) {
  measure("all");
  write("warpmeter.toml", "[check]\ngates = [\"gst_efficiency >= 101\"]\n");
  expect(1, {"check"}, "gst_efficiency >= 101");
  write("other.toml", "[check]\nexpectations = false\ngates = [\"gst_efficiency >= 25\"]\n");
  expect(0, {"check", "--config", "other.toml"}, "7 of 7 checks");
  write("warpmeter.toml", "[check]\ngates = [\"gst_efficiency >=\"]\n");
  expect(2, {"check"},
         "warpmeter.toml, line 2, column 10: the gate 'gst_efficiency >=' cannot be read: at "
         "column 18");
}

TEST_F(CompareAndCheck, GatesHoldInTheFoldersBelowTheirFileToo) {
  measure("all");
  write("warpmeter.toml", "[check]\nexpectations = false\ngates = [\"gst_efficiency >= 101\"]\n");
  std::filesystem::create_directories(file("a/b"));
  const auto in = [&](const std::string& folder, std::vector<std::string> words) {
    const Outcome outcome = run_program({std::move(words), file(folder)});
    return std::to_string(outcome.exit_code) + ": " + outcome.output + outcome.error;
  };
  const std::vector<std::string> check = {"check", "--db", file("warpmeter.db").string()};
  EXPECT_THAT(in("a/b", check),
              AllOf(StartsWith("1: "), HasSubstr("the gates of ../../warpmeter.toml hold here")));
  EXPECT_THAT(in(".", check), AllOf(StartsWith("1: "), Not(HasSubstr("hold here"))));
  EXPECT_THAT(in("a/b", {"doctor"}), HasSubstr("1 gate of ../../warpmeter.toml"));
  EXPECT_THAT(
      in("a/b", {"check", "--db", file("warpmeter.db").string(), "-o", "../../warpmeter.toml"}),
      AllOf(StartsWith("2: "), HasSubstr("would overwrite the gates")));
  // The nearest one holds, and none of outside of the repository.
  write("a/warpmeter.toml", "[check]\nexpectations = false\ngates = [\"gst_efficiency >= 25\"]\n");
  EXPECT_THAT(in("a/b", check), StartsWith("0: "));
  std::filesystem::create_directories(file("a/b/.git"));
  EXPECT_THAT(in("a/b", {"doctor"}), HasSubstr("no warpmeter.toml here or in a folder above"));
  write("a/b/warpmeter.toml", "[check]\ngates = [\"gst_efficiency >=\"]\n");
  EXPECT_THAT(in("a/b", {"doctor"}),
              AllOf(StartsWith("5: "), HasSubstr("broken   gates"), HasSubstr("cannot be read")));
  write("a/warpmeter.toml", "[check]\nbaseline = \"main.db\"\n");
  std::filesystem::remove_all(file("a/b/.git"));
  std::filesystem::remove(file("a/b/warpmeter.toml"));
  EXPECT_THAT(in("a/b", check),
              AllOf(StartsWith("5: "), HasSubstr("there is no baseline '../main.db'")));
  for (const char* outside : {"/etc/passwd", "../../main.db"}) {
    write("a/warpmeter.toml", std::string("[check]\nbaseline = \"") + outside + "\"\n");
    EXPECT_THAT(in("a/b", check),
                AllOf(StartsWith("2: "), HasSubstr("lies neither in its folder nor in this one")));
  }
}

TEST_F(CompareAndCheck, BaselinesThatAreNotThereNameThoseThatAre) {
  measure("before");
  measure("after");
  expect(5, {"check", "--baseline", "main.db"},
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
