// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace warpmeter {
namespace {

using testing::ElementsAre;

TEST(Wrapped, BreaksAtSpacesAndWordsThatAreTooWide) {
  EXPECT_THAT(wrapped("a bc def", 8), ElementsAre("a bc def"));
  EXPECT_THAT(wrapped("a bc def", 5), ElementsAre("a bc", "def"));
  EXPECT_THAT(wrapped("ab cdefghij k", 4), ElementsAre("ab", "cdef", "ghij", "k"));
  EXPECT_THAT(wrapped("漢字漢字", 5), ElementsAre("漢字", "漢字"));
}

/// Each line measured all that was left of the word: minutes for a word of 2 MB.
TEST(Wrapped, TakesALongWordOnce) {
  const std::string word(2'000'000, 'x');
  const auto lines = wrapped(word, 80);
  EXPECT_EQ(lines.size(), 25'000u);
  EXPECT_EQ(std::accumulate(lines.begin(), lines.end(), std::string()), word);
}

}  // namespace
}  // namespace warpmeter
