#include <gtest/gtest.h>

#include <string>

#include "reports/document.h"
#include "reports/table.h"
#include "reports/utf8.h"

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
