// SPDX-License-Identifier: MIT
// The facts of an image that are known before its instructions.
#include "collector/runtime/image/ptx_image.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace warpmeter::runtime {
namespace {

/// 0: it is taken.
int of_header(const std::string& version, const std::string& target, int arch) {
  const auto mistake =
      header_mistake(fmt::format("// a {{ b\n.version {}\n.target {}\n", version, target), arch);
  return mistake ? mistake->result : 0;
}

TEST(PtxImage, BeginsWithItsVersion) {
  EXPECT_FALSE(kind_mistake(" \n// a\n/* b */.version 8.0"));
  for (const char* text : {"", "\n", "// .version 8.0", ".versio 8.0", "a .version 8.0", "8"}) {
    const auto mistake = kind_mistake(text);
    ASSERT_TRUE(mistake) << text;
    EXPECT_EQ(mistake->result, CUDA_ERROR_INVALID_IMAGE);
  }
}

TEST(PtxImage, IsMachineCodeForAGpuWhereItsHeaderSaysSo) {
  std::string image("\177ELF", 4);
  image.resize(64);
  EXPECT_FALSE(is_machine_code(image.data()));
  image[18] = static_cast<char>(190);
  EXPECT_TRUE(is_machine_code(image.data()));
  EXPECT_FALSE(is_machine_code(".version 8.0"));
}

TEST(PtxImage, MayNotBeNewerThanTheDriver) {
  EXPECT_EQ(of_header("9.0", "sm_90", 90), 0);
  EXPECT_EQ(of_header("99.0", "sm_90", 90), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
}

TEST(PtxImage, HasATargetThatTheDeviceTakes) {
  EXPECT_EQ(of_header("8.0", "sm_75, debug", 90), 0);
  EXPECT_EQ(of_header("8.0", "sm_90a", 90), 0);
  EXPECT_EQ(of_header("8.7", "sm_90a", 100), CUDA_ERROR_INVALID_PTX);  // for that one alone
  EXPECT_EQ(of_header("8.7", "sm_100", 90), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(of_header("8.0", "sm_77", 90), CUDA_ERROR_INVALID_PTX);  // there is none
  EXPECT_TRUE(header_mistake(".version 8.0\n", 90));
}

TEST(PtxImage, DefinesWhatItUses) {
  const std::string begin = ".version 8.0\n.target sm_75\n.extern .func nothing;\n";
  EXPECT_EQ(undefined_in(begin + ".visible .entry k() { call nothing; ret; }\n"), "nothing");
  EXPECT_EQ(undefined_in(begin + ".visible .entry k() { ret; }\n"), "");
  EXPECT_EQ(undefined_in(begin + ".func nothing { ret; }\n.entry k() { call nothing; }\n"), "");
}

}  // namespace
}  // namespace warpmeter::runtime
