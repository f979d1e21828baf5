// SPDX-License-Identifier: MIT
// The completion script in the shell that it is for.
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/collector/cli/workspace.h"

namespace warpmeter::cli {
namespace {

using ::testing::HasSubstr;

struct Completion {
  const char* name;
  const char* words;   ///< the words on the line, the last one unfinished
  const char* offers;  ///< a part of what is offered
};

class Bash : public Workspace, public ::testing::WithParamInterface<Completion> {};

/// Sources the script and calls its function as bash does when the tab key is pressed.
TEST_P(Bash, OffersWhatFits) {
  if (std::system("command -v bash >/dev/null") != 0) GTEST_SKIP() << "no bash here";
  write("fresh.db", "");
  for (const char* name : {"own.cu", "own.cubin", "own.o", "own.ptx", "own.yaml"}) write(name, "");
  std::filesystem::create_directory(file("folder"));
  write("complete.sh", warpmeter({"completion", "bash"}).output + "COMP_WORDS=('" +
                           WARPMETER_PROGRAM + "' " + GetParam().words +
                           ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_warpmeter\n"
                           "printf '%s ' \"${COMPREPLY[@]}\" >offers\n");
  ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && bash -eu complete.sh").c_str()), 0);
  EXPECT_THAT(contents("offers"), HasSubstr(GetParam().offers));
}

const Completion completions[] = {
    {"Commands", "''",
     "run profile model nvprof report explain compare check history query merge push pull submit "
     "runs "
     "list doctor mcp completion"},
    {"Options", "run --ti", "--timing-only --time-budget"},
    {"Choices", "run --backend ''", "auto cupti model"},
    {"Words", "list ''", "kernels metrics devices runs views"},
    {"Variants", "run transpose/tiled_",
     "transpose/tiled_padded transpose/tiled_rows transpose/tiled_float4"},
    {"FilesOfKernels", "run own", "own.cu own.cubin own.ptx own.yaml "},
    {"FoldersOfKernels", "run fol", "folder/"},
    {"Metrics", "run -m gld_eff", "gld_efficiency"},
    {"Files", "report --db fr", "fresh.db"},
    {"Programs", "profile fr", "fresh.db"},
};

INSTANTIATE_TEST_SUITE_P(Table, Bash, ::testing::ValuesIn(completions),
                         [](const auto& completion) { return std::string(completion.param.name); });

class OtherShells : public Workspace {
 protected:
  /// The output of the shell when it runs `script`, in which $script is the completion's file and
  /// the program is in PATH; nullopt without that shell.
  std::optional<std::string> printed_by(const std::string& shell, const std::string& script) {
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) return std::nullopt;
    write("_warpmeter", warpmeter({"completion", shell}).output);
    write("script", script);
    const std::string folder = std::filesystem::path(WARPMETER_PROGRAM).parent_path().string();
    const std::string command = "cd '" + folder_.string() + "' && PATH='" + folder +
                                "':$PATH HOME=. " + shell +
                                (shell == "zsh" ? " -f" : " --no-config") + " script >printed 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return contents("printed");
  }
};

TEST_F(OtherShells, ZshLoadsItFromAFolderOfItsFunctions) {
  const auto printed = printed_by("zsh",
                                  "fpath=($PWD $fpath); autoload -Uz compinit && compinit -u -D\n"
                                  "print $_comps[warpmeter]\nautoload +X _warpmeter && print ok\n"
                                  "zsh -n _warpmeter && source ./_warpmeter && print sourced\n");
  if (!printed) GTEST_SKIP() << "no zsh here";
  EXPECT_EQ(*printed, "_warpmeter\nok\nsourced\n");
}

TEST_F(OtherShells, FishOffersWhatFits) {
  const auto printed = printed_by("fish",
                                  "source _warpmeter\ncomplete -C 'warpmeter prof'\n"
                                  "complete -C 'warpmeter profile --replay '\n"
                                  "complete -C 'warpmeter profile scr'\n"
                                  "complete -C 'warpmeter run transpose/ti'\n");
  if (!printed) GTEST_SKIP() << "no fish here";
  for (const char* offer : {"profile\t", "application\t", "script", "transpose/tiled_padded\t"}) {
    EXPECT_THAT(*printed, HasSubstr(offer));
  }
}

}  // namespace
}  // namespace warpmeter::cli
