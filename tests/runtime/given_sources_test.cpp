// SPDX-License-Identifier: MIT
#include "collector/runtime/image/given_sources.h"

#include <gmock/gmock.h>

namespace warpmeter::runtime {
namespace {

const std::string some_ptx = ".version 9.0\n.file 1 \"/tmp/x/kernel.cu\"\n";

TEST(GivenSources, AreKeptBehindThePtxThatTheyBecame) {
  const std::string kept = with_source(some_ptx, "/tmp/x/first.cu", "line 1\n\n  line 3\n");
  EXPECT_THAT(kept, testing::StartsWith(some_ptx));
  EXPECT_EQ(given_source("/tmp/x/first.cu"), std::nullopt);
  EXPECT_EQ(without_source(kept), some_ptx + "\n");
  EXPECT_EQ(given_source("/tmp/x/first.cu"), "line 1\n\n  line 3\n");
}

TEST(GivenSources, LeavePtxWithoutOneAsItIs) {
  EXPECT_EQ(without_source(some_ptx), some_ptx);
  EXPECT_EQ(with_source("", "a.cu", "text"), "");
  EXPECT_EQ(with_source(some_ptx, "", "text"), some_ptx);
}

TEST(GivenSources, MayHoldWhatLooksLikeTheirEnd) {
  const std::string text = "//| a comment\n// no warpmeter: the source";
  EXPECT_EQ(without_source(with_source(some_ptx, "second.cu", text)), some_ptx + "\n");
  EXPECT_EQ(given_source("second.cu"), text);
}

}  // namespace
}  // namespace warpmeter::runtime
