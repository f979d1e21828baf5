// SPDX-License-Identifier: MIT
// Comments as a compiler finds them.
#include "base/comments.h"

#include <gtest/gtest.h>

namespace warpmeter {
namespace {

TEST(Comments, AreSpaces) {
  EXPECT_EQ(without_comments("a // TILE\nb"), "a  \nb");
  EXPECT_EQ(without_comments("a /* TILE\n TILE */ b"), "a   b");
  EXPECT_EQ(without_comments("a // b \\\n TILE\nc"), "a  \nc");
  EXPECT_EQ(without_comments("a / b * /c"), "a / b * /c");
  EXPECT_EQ(without_comments("a /* open"), "a  ");
  EXPECT_EQ(without_comments("#define N TILE // HALF\n"), "#define N TILE  \n");
}

TEST(Comments, AreNoneWithinStringsAndCharacters) {
  for (const char* text :
       {R"(f("http://x", TILE))", R"(f("\"//", TILE))", R"('"' + TILE // '"')",
        R"x(R"(// " /*)" TILE)x", R"x(R"a()" //)a" TILE)x", "1'000'000 + TILE"}) {
    EXPECT_NE(without_comments(text).find("TILE"), std::string::npos) << text;
  }
  EXPECT_EQ(without_comments("#error 'tis // TILE\nx // y"), "#error 'tis // TILE\nx  ");
}

TEST(Comments, GoWithTheCommandsOfThePreprocessor) {
  EXPECT_EQ(without_commands("  #define A \\\n  B\nint a; // #b\nx #y"), "   \nint a;  \nx #y");
}

// Places stay, for a line's number is counted from them.
TEST(Comments, LiteralsAreBlanksOfTheirLength) {
  EXPECT_EQ(with_blank_literals("a \"b\" c"), "a     c");
  EXPECT_EQ(with_blank_literals("a '\"' b"), "a     b") << "a quote as a character opens nothing";
  EXPECT_EQ(with_blank_literals("x R\"(\")\" y"), "x        y");
  EXPECT_EQ(with_blank_literals("a /* b\nc */ d"), "a     \n     d");
  EXPECT_EQ(with_blank_literals("1'000 // k"), "1'000     ");
}

}  // namespace
}  // namespace warpmeter
