// SPDX-License-Identifier: MIT
// Variables of the environment that change what a program without a GPU finds.
#include <map>

#include "tests/collector/cli/workspace.h"
#include "tests/paths.h"

namespace warpmeter::cli {
namespace {

/// The program `visible`, of three devices, where these variables are set.
class Variables : public Workspace {
 protected:
  std::string seen(std::map<std::string, std::string> variables) const {
    variables["LD_LIBRARY_PATH"] = "";
    return run_program({{"profile", "-b", "model", "--model-devices", "3",
                         binary_dir() + "/tests/runtime/visible"},
                        folder_,
                        variables})
        .output;
  }
};

TEST_F(Variables, SayWhichDevicesAProgramHas) {
  const std::string end = "launch: cudaSuccess\nwait: cudaErrorIllegalAddress\n";
  const std::string none =
      "cudaErrorNoDevice, 0 devices\ncudaErrorNoDevice\ncudaErrorNoDevice\ncudaErrorNoDevice\n";
  EXPECT_EQ(seen({}),
            "cudaSuccess, 3 devices\ncudaSuccess\n"
            "0: 0000:00:00.0, 0, GPU-7700…, found as 0\n"
            "1: 0000:00:01.0, 1, GPU-7701…, found as 1\n"
            "2: 0000:00:02.0, 2, GPU-7702…, found as 2\n" +
                end);
  EXPECT_EQ(seen({{"CUDA_VISIBLE_DEVICES", "2,0,9,1"}}),
            "cudaSuccess, 2 devices\ncudaSuccess\n"
            "0: 0000:00:02.0, 2, GPU-7702…, found as 0\n"
            "1: 0000:00:00.0, 0, GPU-7700…, found as 1\n" +
                end);
  EXPECT_EQ(seen({{"CUDA_VISIBLE_DEVICES", "GPU-7701"}}),
            "cudaSuccess, 1 devices\ncudaSuccess\n"
            "0: 0000:00:01.0, 1, GPU-7701…, found as 0\n" +
                end);
  EXPECT_EQ(seen({{"CUDA_VISIBLE_DEVICES", ""}}), none);
  EXPECT_EQ(seen({{"CUDA_VISIBLE_DEVICES", "-1"}}), none);
}

TEST_F(Variables, MakeLaunchesWait) {
  EXPECT_THAT(
      seen({{"CUDA_LAUNCH_BLOCKING", "1"}}),
      testing::EndsWith("launch: cudaErrorIllegalAddress\nwait: cudaErrorIllegalAddress\n"));
  EXPECT_THAT(seen({{"CUDA_LAUNCH_BLOCKING", "0"}}),
              testing::EndsWith("launch: cudaSuccess\nwait: cudaErrorIllegalAddress\n"));
}

}  // namespace
}  // namespace warpmeter::cli
