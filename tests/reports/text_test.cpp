// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/utf8.h"
#include "reports/document.h"
#include "reports/table/table.h"

namespace warpmeter::reports {
namespace {

TEST(TextTable, StacksHeadingsAndAlignsNumbers) {
  Table table;
  Cell marked(1.2);
  marked.mark = "ᵖ";
  table.columns = {Column::text("variant"), Column::number("t", "time", "µs", Kind::reading),
                   Column::number("r", "shared stores / request", "", Kind::quotient)};
  table.rows = {{"naive", 9.216, Missing{}}, {"日本", 12.5, marked}, {"pad", 5.0, 32.0}};
  EXPECT_EQ(render_text(table),
            "                 shared\n"
            "         time  stores /\n"
            "variant  (µs)   request\n"
            "───────  ────  ────────\n"
            "naive    9.22       –\n"
            "日本     12.5     1.2 ᵖ\n"
            "pad      5.00      32\n");
}

TEST(TextTable, OverflowsATerminalThatIsTooNarrowForItsNumbers) {
  Table table;
  table.columns = {Column::text("a_view_with_a_long_heading"),
                   Column::number("n", "", "", Kind::count),
                   Column::number("m", "", "", Kind::count)};
  table.rows = {{"short", std::int64_t{123456789}, std::int64_t{123456789}}};
  for (std::size_t width = 1; width < 60; ++width) {
    const std::string text = render_text(table, width);
    EXPECT_NE(text.find("123,456,789"), std::string::npos) << width;
    EXPECT_NE(text.find("short"), std::string::npos) << width;
  }
}

TEST(TextTable, BreaksNoNameWhileASentenceCanGive) {
  Table table;
  table.columns = {Column::text("metric"), Column::text("what")};
  table.rows = {{"shared_load_transactions_per_request", "wavefronts of a load of shared memory"}};
  EXPECT_THAT(render_text(table, 54),
              testing::HasSubstr("shared_load_transactions_per_request  wavefronts of a\n"));
}

/// One row of a value in each column, but for those that are empty.
Table wide_table(int columns, int empty) {
  Table table;
  table.rows.emplace_back();
  for (int i = 0; i < columns; ++i) {
    table.columns.push_back(Column::text("column_" + std::to_string(i)));
    table.rows[0].push_back(i < empty ? Cell(Missing{}) : Cell("name_" + std::to_string(i)));
  }
  return table;
}

TEST(TextTable, LeavesOutEmptyColumnsWhereTheTerminalIsTooNarrow) {
  EXPECT_EQ(render_to_fit(wide_table(3, 1), 40), render_text(wide_table(3, 1), 40));
  EXPECT_EQ(render_to_fit(wide_table(4, 2), 20),
            "column_2  column_3\n"
            "────────  ────────\n"
            "name_2    name_3\n"
            "\n"
            "No value in any row:\n"
            "column_0, column_1.\n");
  EXPECT_EQ(render_to_fit(wide_table(4, 2), 0), render_text(wide_table(4, 2)));
}

TEST(TextTable, BecomesAListWhereTheTerminalIsStillTooNarrow) {
  EXPECT_EQ(render_to_fit(wide_table(4, 1), 26),
            "── row 1\n"
            "column_1  name_1\n"
            "column_2  name_2\n"
            "column_3  name_3\n");
}

TEST(TextTable, WrapsTextToTheTerminalAndLosesNothing) {
  Table table;
  table.columns = {Column::text("metric"), Column::number("n", "", "", Kind::count),
                   Column::text("why")};
  table.rows = {{"gld_efficiency", std::int64_t{32}, "the kernel executes no global load at all"},
                {"duration", std::int64_t{1000}, "short"}};
  const std::string text = render_text(table, 40);
  EXPECT_EQ(text,
            "metric              n  why\n"
            "──────────────  ─────  ─────────────────\n"
            "gld_efficiency     32  the kernel\n"
            "                       executes no\n"
            "                       global load at\n"
            "                       all\n"
            "duration        1,000  short\n");
}

/// The table of `model --lines`, more or less.
Table costly_lines() {
  Table table;
  table.columns = {Column::text("line"),
                   Column::text("source", "", Kind::code),
                   Column::text("access"),
                   Column::number("requests", "", "", Kind::count),
                   Column::number("transactions", "", "", Kind::count),
                   Column::number("efficiency", "", "%", Kind::quotient)};
  table.rows = {{"transpose.cu:8",
                 "if (ox < height && oy < width) out[oy * height + ox] = tile[threadIdx.x];",
                 "shared load", std::int64_t{32768}, std::int64_t{262144}, 12.5},
                {"transpose.cu:5", "tile[y][x] = in[y * width + x];", "global load",
                 std::int64_t{32768}, std::int64_t{131072}, Missing{}}};
  return table;
}

TEST(TextTable, KeepsFortyColumnsOfSourceInItsRow) {
  EXPECT_EQ(
      render_text(costly_lines(), 105),
      "                                                                                       "
      "        efficiency\n"
      "line            source                                    access       requests  "
      "transactions         (%)\n"
      "──────────────  ────────────────────────────────────────  ───────────  ────────  "
      "────────────  ──────────\n"
      "transpose.cu:8  if (ox < height && oy < width) out[oy *   shared load    32,768  "
      "     262,144        12.5\n"
      "                height + ox] = tile[threadIdx.x];\n"
      "transpose.cu:5  tile[y][x] = in[y * width + x];           global load    32,768  "
      "     131,072           –\n");
}

TEST(TextTable, PutsSourceBelowItsRowWhereThereIsNoRoomForFortyColumns) {
  EXPECT_EQ(render_text(costly_lines(), 80),
            "                                                     efficiency\n"
            "line            access       requests  transactions         (%)\n"
            "──────────────  ───────────  ────────  ────────────  ──────────\n"
            "transpose.cu:8  shared load    32,768       262,144        12.5\n"
            "    if (ox < height && oy < width) out[oy * height + ox] = tile[threadIdx.x];\n"
            "transpose.cu:5  global load    32,768       131,072           –\n"
            "    tile[y][x] = in[y * width + x];\n");
}

TEST(TextTable, PutsColumnsBelowTheRowWhereEvenTheRestIsTooWide) {
  EXPECT_EQ(render_text(costly_lines(), 44),
            "line            access       requests\n"
            "──────────────  ───────────  ────────\n"
            "transpose.cu:8  shared load    32,768\n"
            "    transactions 262,144, efficiency (%)\n"
            "    12.5\n"
            "    if (ox < height && oy < width) out[oy *\n"
            "    height + ox] = tile[threadIdx.x];\n"
            "transpose.cu:5  global load    32,768\n"
            "    transactions 131,072, efficiency (%) –\n"
            "    tile[y][x] = in[y * width + x];\n");
}

TEST(TextTable, NeverOverflowsATerminalOfSixtyColumnsWithSource) {
  for (std::size_t width = 60; width <= 140; ++width) {
    const std::string text = render_text(costly_lines(), width);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), width) << text;
      at = end + 1;
    }
  }
}

TEST(TextTable, StaysReadableWhereTheTerminalIsTooNarrow) {
  Table table;
  table.columns = {Column::text("name"), Column::number("n", "", "", Kind::count)};
  table.rows = {{"a_name_that_is_longer_than_that", std::int64_t{1000000}}};
  EXPECT_EQ(render_text(table, 5),
            "name                  n\n"
            "────────────  ─────────\n"
            "a_name_that_  1,000,000\n"
            "is_longer_th\n"
            "an_that\n");
}

/// A rule whose length is counted for each of its marks would take minutes.
TEST(DocumentText, UnderlinesAHeadingOfAnyLengthInNoTime) {
  constexpr std::size_t length = 1'000'000;
  Document document;
  document.heading(2, std::string(length, 'k'));
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = document_text(document, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(characters(text), 2 * length + 2);  // two line ends
}

TEST(DocumentText, UnderlinesHeadingsAndWrapsParagraphs) {
  Document document;
  document.heading(1, "Run 3");
  document.facts(Facts{{{"Host", "lab3"}, {"Command", "warpmeter run"}}});
  document.heading(2, "Variants");
  document.heading(3, "transpose, size 1,024");
  document.paragraph("one two three four five six");
  EXPECT_EQ(document_text(document, 20),
            "Run 3\n"
            "═════\n"
            "\n"
            "Host     lab3\n"
            "Command  warpmeter run\n"
            "\n"
            "Variants\n"
            "────────\n"
            "\n"
            "transpose, size 1,024\n"
            "\n"
            "one two three four\n"
            "five six\n");
}

TEST(DocumentMarkdown, EscapesWhatWouldEndAHeadingOrTable) {
  Document document;
  document.heading(1, "a *b*\n# c #");
  document.facts(Facts{{{"Run", "3 | x"}, {"Host", "<b>"}}});
  document.paragraph("p_1 & <i>");
  EXPECT_EQ(document_markdown(document),
            "# a \\*b\\* # c \\#\n"
            "\n"
            "| Run  | 3 \\| x |\n"
            "| ---- | ------ |\n"
            "| Host | &lt;b> |\n"
            "\n"
            "p_1 &amp; &lt;i>\n");
}

}  // namespace
}  // namespace warpmeter::reports
