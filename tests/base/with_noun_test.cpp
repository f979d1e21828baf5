// SPDX-License-Identifier: MIT
#include "base/with_noun.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace warpmeter {
namespace {

TEST(WithNoun, IsSingularForOneAlone) {
  EXPECT_EQ(with_noun(0, "launch", "launches"), "0 launches");
  EXPECT_EQ(with_noun(1, "launch", "launches"), "1 launch");
  EXPECT_EQ(with_noun(std::uint64_t{2}, "launch", "launches"), "2 launches");
  EXPECT_EQ(with_noun(11, "byte"), "11 bytes");
}

TEST(WithNoun, TakesANumberAsItIsShown) {
  EXPECT_EQ(with_noun("1", "wavefront"), "1 wavefront");
  EXPECT_EQ(with_noun("one", "bank"), "one bank");
  EXPECT_EQ(with_noun("1,024", "wavefront"), "1,024 wavefronts");
  EXPECT_EQ(with_noun("0.5", "sector"), "0.5 sectors");
}

}  // namespace
}  // namespace warpmeter
