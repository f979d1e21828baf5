// The completion script in the shell that it is for.
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::HasSubstr;

struct Completion {
  const char* name;
  const char* words;   ///< what is on the line, the last one unfinished
  const char* offers;  ///< a part of what is offered
};

class Bash : public Workspace, public ::testing::WithParamInterface<Completion> {};

/// Sources the script and calls its function as bash does when the tab key is pressed.
TEST_P(Bash, OffersWhatFits) {
  if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "no bash here";
  write("fresh.db", "");
  write("complete.sh", warpmeter({"completion", "bash"}).output + "COMP_WORDS=('" +
                           WARPMETER_PROGRAM + "' " + GetParam().words +
                           ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_warpmeter\n"
                           "printf '%s ' \"${COMPREPLY[@]}\" >offers\n");
  ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && bash -eu complete.sh").c_str()), 0);
  EXPECT_THAT(contents("offers"), HasSubstr(GetParam().offers));
}

const Completion completions[] = {
    {"Commands", "''",
     "run profile model report compare query history merge runs list doctor completion"},
    {"Options", "run --ti", "--timing-only --time-budget"},
    {"Choices", "run --backend ''", "auto cupti model"},
    {"Words", "list ''", "kernels metrics devices runs views"},
    {"Variants", "run transpose/t", "transpose/tiled transpose/tiled_padded"},
    {"Metrics", "run -m gld_eff", "gld_efficiency"},
    {"Files", "report --db fr", "fresh.db"},
};

INSTANTIATE_TEST_SUITE_P(Table, Bash, ::testing::ValuesIn(completions),
                         [](const auto& completion) { return std::string(completion.param.name); });

}  // namespace
}  // namespace warpmeter::cli
