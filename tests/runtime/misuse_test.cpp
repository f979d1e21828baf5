// SPDX-License-Identifier: MIT
// Programs that call the runtime and the driver wrongly, or for very little, are told what an H200
// has told them: what they printed there lies in expected/.
#include <fstream>
#include <iterator>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

class Misuse : public Workspace, public testing::WithParamInterface<const char*> {};

TEST_P(Misuse, IsAnsweredAsByAGpu) {
  const std::string name = GetParam();
  const Outcome outcome =
      run_program({{"profile", "-b", "model", binary_dir() + "/tests/runtime/" + name},
                   folder_,
                   {{"LD_LIBRARY_PATH", ""}}});
  std::ifstream stream(source_dir() + "/tests/runtime/expected/" + name + ".txt");
  const std::string expected{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(outcome.output, expected);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

INSTANTIATE_TEST_SUITE_P(Programs, Misuse,
                         testing::Values("bulk_misuse", "copy_misuse", "driver_misuse",
                                         "graph_misuse", "memory_misuse", "tensor_misuse",
                                         "texture_misuse", "warpgroup_misuse"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warpmeter::cli
