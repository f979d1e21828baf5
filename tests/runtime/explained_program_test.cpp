// SPDX-License-Identifier: MIT
// The messages about kernels of programs without a GPU beside counts: what costs, and their code.
#include "tests/runtime/answered_program.h"

namespace warpmeter::cli {
namespace {

using testing::HasSubstr;

TEST_F(RuntimeProgram, IsToldWhatCostsItsKernels) {
  EXPECT_EQ(profile("shared_square").exit_code, 0);
  const std::string first = "FROM findings f JOIN launches USING (launch_id) WHERE rank = 1 AND ";
  EXPECT_EQ(value_of("SELECT DISTINCT kind || ' ' || object || ' ' || (transactions / requests) " +
                     first + "variant = 'row_column'"),
            "bank_conflict tile 32");
  EXPECT_EQ(value_of("SELECT DISTINCT change FROM remedies JOIN launches USING (launch_id) WHERE "
                     "name = 'padding 1' AND finding_rank = 1 AND variant = 'row_column'"),
            "tile[32][33]");
  // Each of many launches of one kernel has its own explanation.
  EXPECT_EQ(profile("threads").exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM explanations WHERE findings IS NOT NULL AND run_id = "
                     "(SELECT max(run_id) FROM runs)"),
            "60");
}

// Four launches are alike: the first three are recorded. The fifth is like none of them, and is
// not; the sixth is, and the seventh is like it.
TEST_F(RuntimeProgram, IsToldWhatCostsItsKernelsAgainWhenTheyChange) {
  EXPECT_EQ(profile("data_changes").exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(findings IS NOT NULL, '') FROM (SELECT findings FROM "
                     "launches JOIN explanations USING (launch_id) WHERE variant = 'load' ORDER BY "
                     "launch_id)"),
            "1111011");
  EXPECT_EQ(value_of("SELECT group_concat(times, ' ') FROM (SELECT count(*) AS times FROM launches "
                     "JOIN explanations USING (launch_id) WHERE variant = 'load' GROUP BY "
                     "explanation_id ORDER BY min(launch_id))"),
            "4 1 2");
}

/// 4 blocks of 32 warps, each of which writes 32 words of one bank: 32 wavefronts a request.
TEST_F(RuntimeProgram, IsToldThatItsAsynchronousCopiesMeetInBanks) {
  EXPECT_EQ(profile("copied_columns").exit_code, 0);
  EXPECT_EQ(value_of("SELECT kind || ' ' || object || ' ' || requests || ' ' || transactions FROM "
                     "findings WHERE access = 'shared async copy' AND line = 13"),
            "bank_conflict tile 128 4096");
  EXPECT_EQ(value_of("SELECT requests || ' ' || transactions || ' ' || ideal FROM lines WHERE "
                     "access = 'shared async copy'"),
            "128 4096 128");
  EXPECT_EQ(value_of("SELECT count(*) FROM lines WHERE access = 'shared store'"), "0");
}

TEST_F(RuntimeProgram, HasItsAtomicsToldApartWithoutTheirLines) {
  EXPECT_EQ(profile("without_lines").exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM findings WHERE kind = 'contended_atomic'"), "1");
  const std::string evidence =
      value_of("SELECT evidence FROM findings WHERE kind = 'contended_atomic'");
  EXPECT_THAT(evidence, HasSubstr("32 lanes of a request go to one address"));
  EXPECT_THAT(evidence, HasSubstr("compile it with -lineinfo"));
}

TEST_F(RuntimeProgram, MayHaveTheShapesOfItsArraysGiven) {
  EXPECT_EQ(profile("shared_square", {"--shape", "tile=16x64:f32"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT DISTINCT change FROM remedies JOIN launches USING (launch_id) WHERE "
                     "name = 'padding 1' AND finding_rank = 1 AND variant = 'row_column'"),
            "tile[16][65]");
  const Outcome small = profile("shared_square", {"--shape", "tile=2x2:f32"});
  EXPECT_EQ(small.exit_code, 2);
  EXPECT_THAT(small.error, HasSubstr("--shape gives 'tile' 16 bytes, and "));
  const Outcome unknown = profile("shared_square", {"--shape", "tale=2x2:f32"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.error, HasSubstr("--shape names 'tale', which is no array"));
}

// The linker of device code joins the PTX of both files with their lines.
TEST_F(RuntimeProgram, HasTheLinesOfFilesThatWereCompiledApart) {
  EXPECT_EQ(profile("apart_lines", {"--lines"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT group_concat(place, ' ') FROM (SELECT replace(file, rtrim(file, "
                     "replace(file, '/', '')), '') || ':' || line || ':' || access || '=' || "
                     "transactions AS place FROM lines ORDER BY place)"),
            // 32 floats in a row are 4 sectors, 32 or 8 floats apart 32.
            "apart_lines.cu:7:global load=32 apart_lines.cu:7:global store=4 "
            "apart_lines_function.cu:5:global store=32");
  EXPECT_EQ(value_of("SELECT text FROM lines WHERE line = 5"), "table[threadIdx.x * stride] = x;");
  EXPECT_EQ(value_of("SELECT object FROM findings WHERE file LIKE '%apart_lines_function.cu' AND "
                     "line = 5"),
            "table");
  const Outcome wrong = checked("apart_lines", {"9"});  // 31 × 9 is past the 256 of the table
  EXPECT_EQ(wrong.exit_code, 6);
  EXPECT_THAT(wrong.error, HasSubstr("apart_lines_function.cu:5"));
}

// Each of 40 warps loads 32 floats from 32 sectors.
TEST_F(RuntimeProgram, HasTheLinesOfItsWorstLaunchPrinted) {
  const Outcome outcome = profile("two_sizes", {"--lines"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error,
              HasSubstr("two_sizes/far_apart, grid 40x1x1, block 32x1x1, launch 2 of 3"));
  EXPECT_THAT(outcome.error, HasSubstr("1,280"));
  EXPECT_THAT(outcome.error, testing::Not(HasSubstr("grid 1x1x1")));
  EXPECT_THAT(outcome.error, testing::Not(HasSubstr("grid 2x1x1")));
}

// Whoever compiled a program chose the paths of its line table.
TEST_F(RuntimeProgram, HasSourcesReadInItsProjectAndInFoldersThatThePersonNames) {
  const std::string sources = source_dir() + "/tests/device/programs";
  const auto texts = [&](const std::vector<std::string>& more) {
    std::filesystem::remove(file("warpmeter.db"));
    std::vector<std::string> words = {"profile", "-b", "model", "--lines"};
    words.insert(words.end(), more.begin(), more.end());
    words.push_back("./shared_square");
    const Outcome outcome = run_program({words, folder_, {{"LD_LIBRARY_PATH", ""}}});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.error.find("--source-root " + sources) == std::string::npos, !more.empty())
        << outcome.error;
    return value_of("SELECT count(*) > 0 FROM lines WHERE text LIKE '%tile[%'") +
           value_of("SELECT count(*) > 0 FROM findings WHERE text LIKE '%tile[%'") +
           value_of("SELECT count(*) FROM sources");
  };
  std::filesystem::copy_file(program("shared_square"), file("shared_square"));
  EXPECT_EQ(texts({}), "000");
  EXPECT_EQ(value_of("SELECT count(*) > 0 FROM lines WHERE line > 0"), "1");
  EXPECT_EQ(texts({"--source-root", sources}), "111");
  // A link in the project leads out of it.
  std::filesystem::create_directory_symlink(sources, file("sources"));
  EXPECT_EQ(texts({}), "000");
  const Outcome wrong = profile("shared_square", {"--source-root", "nowhere"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("--source-root 'nowhere' is no folder"));
}

TEST_F(RuntimeProgram, HasThePtxOfItsKernelsKeptWhenItsLinesAreAskedFor) {
  EXPECT_EQ(profile("shared_square").exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM codes"), "0");
  EXPECT_EQ(profile("shared_square", {"--lines"}).exit_code, 0);
  EXPECT_EQ(value_of("SELECT count(*) FROM codes WHERE form = 'PTX' AND run_id = 2"), "5");
  // The code of a line stands below it.
  EXPECT_EQ(value_of("SELECT kernel FROM codes JOIN lines USING (run_id, file) WHERE kernel LIKE "
                     "'%row_row(%' AND access = 'shared store' AND line < 17 AND instr(codes.text, "
                     "'// ' || lines.file || ':' || lines.line || char(10)) > 0 LIMIT 1"),
            "shared_square/row_row(int*)");
}

}  // namespace
}  // namespace warpmeter::cli
