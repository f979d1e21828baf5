// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/table/json.h"

namespace warpmeter::reports {
namespace {

using ::testing::ElementsAre;
using namespace std::string_literals;

TEST(Printable, KeepsOrdinaryText) {
  EXPECT_EQ(printable("set_row_read_col"), "set_row_read_col");
  EXPECT_EQ(printable("µs ± 3 × ᵖ 日本 🚀"), "µs ± 3 × ᵖ 日本 🚀");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, TurnsLineEndsAndTabsIntoOneSpaceEach) {
  EXPECT_EQ(printable("a\nb\r\nc\td\re"), "a b c d e");
}

TEST(Printable, SpellsOutWhatWouldActOnATerminal) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("bell\a\x7f"), "bell\\x07\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\u009b");  // one-byte CSI
  EXPECT_EQ(printable("a\xE2\x80\xAE"
                      "b"),
            "a\\u202eb");  // right-to-left override
  EXPECT_EQ(printable("a\xE2\x80\xA8"
                      "b"),
            "a\\u2028b");  // line separator
}

TEST(Printable, SpellsOutBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xFF"), "\\xff");
  EXPECT_EQ(printable("caf\xE9"), "caf\\xe9");     // Latin-1
  EXPECT_EQ(printable("\xC0\xAF"), "\\xc0\\xaf");  // overlong
  EXPECT_EQ(printable("\xE0\x80\xAF"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xE2\x82"), "\\xe2\\x82");  // cut
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);  // e and a combining acute
  EXPECT_EQ(display_width("🚀"), 2u);
  EXPECT_EQ(display_width("1 ᵖ"), 3u);
}

TEST(Wrapped, BreaksAtSpacesAndCutsLongWords) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 100), ElementsAre("one two three"));
  EXPECT_THAT(wrapped("abcdefgh ij", 3), ElementsAre("abc", "def", "gh", "ij"));
  EXPECT_THAT(wrapped("日本語", 4), ElementsAre("日本", "語"));
  EXPECT_THAT(wrapped("", 5), ElementsAre(""));
  EXPECT_THAT(wrapped("  indented", 20), ElementsAre("  indented"));
}

TEST(Printable, SpellsOutInJsonWhatWouldActOnATerminal) {
  // U+009B begins an escape sequence on many terminals, U+202E turns the reading direction.
  EXPECT_EQ(printable_json("[\"a\u009b31m\u202e\u2028\x7f\u00e9\u00d7\"]"),
            "[\"a\\u009b31m\\u202e\\u2028\\u007f\u00e9\u00d7\"]");
  EXPECT_EQ(printable_json("{\"a\": 1}\n"), "{\"a\": 1}\n");
  EXPECT_EQ(json_text(nlohmann::ordered_json("\u009b")), "\"\\u009b\"");
  EXPECT_EQ(nlohmann::json::parse(json_text("\u202e\x7f")), "\u202e\x7f");
}

}  // namespace
}  // namespace warpmeter::reports
