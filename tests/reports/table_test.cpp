// SPDX-License-Identifier: MIT
#include "reports/table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/table/stream.h"

namespace warpmeter::reports {
namespace {

using schema::Rows;
using schema::Value;

Table measured() {
  Table table;
  table.columns = {Column::text("variant"),
                   Column::number("duration_ns", "time", "µs", Kind::reading),
                   Column::number("ratio", "shared loads / request", "", Kind::quotient),
                   Column::number("sectors", "gld transactions", "", Kind::count)};
  Cell from_ptx(1.2);
  from_ptx.mark = "ᵖ";
  Cell repeated(9.2);
  repeated.range = Range{9.1, 9.4};
  table.rows = {{"naive", 9.216, Missing{"no requests"}, std::int64_t{131072}},
                {"tiled_padded", repeated, from_ptx, std::int64_t{131072}},
                {"copy", 12.5, 16.0, Missing{}}};
  return table;
}

TEST(Markdown, LinesUpAsTextAndMarksValues) {
  EXPECT_EQ(render_markdown(measured()),
            "| variant      |        time (µs) | shared loads / request | gld transactions |\n"
            "| ------------ | ---------------: | ---------------------: | ---------------: |\n"
            "| naive        | 9.22             |                    –   |          131,072 |\n"
            "| tiled_padded | 9.20 (9.10–9.40) |                  1.2 ᵖ |          131,072 |\n"
            "| copy         | 12.5             |                   16   |                – |\n");
}

TEST(Csv, IsExactAndQuotedAsRfc4180Says) {
  EXPECT_EQ(render_csv(measured()),
            "variant,duration_ns,ratio,sectors\n"
            "naive,9.216,,131072\n"
            "tiled_padded,9.2,1.2,131072\n"
            "copy,12.5,16,\n");
  const Rows rows{
      {"a,b", "say \"x\""},
      {{Value("line\nend"), Value("cr\r")}, {Value(""), Value()}, {Value("plain"), Value(",\"")}}};
  EXPECT_EQ(render_csv(table_from(rows)),
            "\"a,b\",\"say \"\"x\"\"\"\n"
            "\"line\nend\",\"cr\r\"\n"
            "\"\",\n"
            "plain,\",\"\"\"\n");
}

TEST(Csv, TextThatASpreadsheetWouldRunHasAnApostrophe) {
  const std::pair<const char*, const char*> texts[] = {
      {"=1+1", "\"'=1+1\""},
      {"=HYPERLINK(\"http://x\")", "\"'=HYPERLINK(\"\"http://x\"\")\""},
      {"+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""},
      {"-1+1", "\"'-1+1\""},
      {"@SUM(1)", "\"'@SUM(1)\""},
      {"\t=1", "\"'\t=1\""},
      {"\r=1", "\"'\r=1\""},
      {"＝1+1", "\"'＝1+1\""},
      {"-", "\"'-\""},
      {"-1e", "\"'-1e\""},
      // Numbers that somebody wrote as text are numbers to a spreadsheet too.
      {"-65", "-65"},
      {"+300 %", "+300 %"},
      {"+3,100", "\"+3,100\""},
      {"-1.5e-07", "-1.5e-07"},
      // So is a list of our sets of metrics, which other programs read.
      {"@default", "@default"},
      {"@shared, @global, caches.", "\"@shared, @global, caches.\""},
      {"a=1", "a=1"},
      {"kernel<-1>", "kernel<-1>"},
  };
  for (const auto& [text, field] : texts) {
    EXPECT_EQ(render_csv(table_from({{"=n"}, {{Value(text)}}})),
              std::string("\"'=n\"\n") + field + "\n");
  }
}

TEST(Csv, NumbersStayAsTheyAre) {
  EXPECT_EQ(render_csv(table_from({{"n"}, {{Value(std::int64_t{-65})}, {Value(-0.5)}}})),
            "n\n-65\n-0.5\n");
}

TEST(Json, IsExactAndKeepsTheOrderOfColumns) {
  EXPECT_EQ(
      render_json(measured()),
      "[\n"
      "  {\"variant\":\"naive\",\"duration_ns\":9.216,\"ratio\":null,\"sectors\":131072},\n"
      "  {\"variant\":\"tiled_padded\",\"duration_ns\":9.2,\"ratio\":1.2,\"sectors\":131072},\n"
      "  {\"variant\":\"copy\",\"duration_ns\":12.5,\"ratio\":16,\"sectors\":null}\n"
      "]\n");
}

TEST(Json, StaysValidForAnyTextAndNumber) {
  const Rows rows{{"text", "number"},
                  {{Value("caf\xE9 \"q\" \\ \n"), Value(std::numeric_limits<double>::infinity())},
                   {Value("日本"), Value(1e300)},
                   {Value(), Value(std::numeric_limits<std::int64_t>::max())}}};
  const auto parsed = nlohmann::json::parse(render_json(table_from(rows)));
  EXPECT_EQ(parsed[0]["text"], "caf\uFFFD \"q\" \\ \n");
  EXPECT_TRUE(parsed[0]["number"].is_null());
  EXPECT_EQ(parsed[1]["text"], "日本");
  EXPECT_EQ(parsed[1]["number"], 1e300);
  EXPECT_EQ(parsed[2]["number"], std::numeric_limits<std::int64_t>::max());
}

TEST(TableFrom, KeepsEveryDigitInEveryFormat) {
  const Rows rows{{"run_id", "value"},
                  {{Value(std::int64_t{123456}), Value(56.25)}, {Value(std::int64_t{7}), Value()}}};
  const Table table = table_from(rows);
  EXPECT_EQ(render_text(table),
            "run_id  value\n"
            "──────  ─────\n"
            "123456  56.25\n"
            "     7      –\n");
  EXPECT_EQ(render_csv(table), "run_id,value\n123456,56.25\n7,\n");
}

TEST(TableFrom, AlignsAColumnRightOnlyWhenItHoldsNumbersAlone) {
  const Rows rows{{"numbers", "mixed", "empty"},
                  {{Value(1.5), Value("x"), Value()}, {Value(), Value(2.5), Value()}}};
  const Table table = table_from(rows);
  EXPECT_EQ(table.columns[0].align, Align::right);
  EXPECT_EQ(table.columns[1].align, Align::left);
  EXPECT_EQ(table.columns[2].align, Align::left);
}

TEST(TableFrom, NumbersEqualColumnNamesSoThatJsonLosesNone) {
  const Rows rows{{"n", "n", "n"},
                  {{Value(std::int64_t{1}), Value(std::int64_t{2}), Value(std::int64_t{3})}}};
  EXPECT_EQ(render_json(table_from(rows)), "[\n  {\"n\":1,\"n_2\":2,\"n_3\":3}\n]\n");
  const Rows clash{{"n", "n_2", "n"},
                   {{Value(std::int64_t{1}), Value(std::int64_t{2}), Value(std::int64_t{3})}}};
  EXPECT_EQ(render_json(table_from(clash)), "[\n  {\"n\":1,\"n_2\":2,\"n_3\":3}\n]\n");
}

TEST(EmptyTable, HasItsHeadingsInEveryFormat) {
  const Table table = table_from(Rows{{"a", "b"}, {}});
  EXPECT_EQ(render(table, Format::markdown), "| a   | b   |\n| --- | --- |\n");
  EXPECT_EQ(render(table, Format::table), "a  b\n─  ─\n");
  EXPECT_EQ(render(table, Format::csv), "a,b\n");
  EXPECT_EQ(render(table, Format::json), "[]\n");
}

struct Hostile {
  const char* name;
  const char* markdown;
};

TEST(Markdown, ShowsHostileNamesAsTheyAre) {
  const Hostile names[] = {
      {"a|b", "a\\|b"},
      {"a\\|b", "a\\\\\\|b"},
      {"two\nlines", "two lines"},
      {"`code`", "\\`code\\`"},
      {"<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"},
      {"void f<int, 4>(float*, _T&)", "void f&lt;int, 4>(float\\*, \\_T&amp;)"},
      {"[x](http://e.org)", "\\[x\\](http\\://e.org)"},
      {"std::sort, www.e.org, a.b", "std::sort, www\\.e.org, a.b"},
      {"_both_", "\\_both\\_"},
      {"__init__", "\\_\\_init\\_\\_"},
      {"set_row__read_col", "set_row__read_col"},
      {"~~gone~~ $math$", "\\~\\~gone\\~\\~ \\$math\\$"},
      {"&lt;", "&amp;lt;"},
      {"\x1b[2J", "\\\\x1b\\[2J"},
  };
  for (const Hostile& hostile : names) {
    Table table;
    table.columns = {Column::text("name")};
    table.rows = {{hostile.name}};
    const std::string markdown = render_markdown(table);
    const std::string row = markdown.substr(markdown.rfind("\n| ") + 3);
    EXPECT_EQ(row.substr(0, row.find_last_not_of(" |\n") + 1), hostile.markdown) << hostile.name;
    EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), 3) << hostile.name;
  }
}

TEST(Markdown, PutsSourceIntoCodeSpansWhereTheyCanHoldIt) {
  Table table;
  table.columns = {Column::text("source", "", Kind::code)};
  table.rows = {{"tile[a] = b | c;"}, {"x = '`';"}, {"a \\| b"}, {""}, {Missing{}}};
  EXPECT_EQ(render_markdown(table),
            "| source              |\n"
            "| ------------------- |\n"
            "| `tile[a] = b \\| c;` |\n"
            "| x = '\\`';           |\n"
            "| a \\\\\\| b            |\n"
            "|                     |\n"
            "| –                   |\n");
}

TEST(Markdown, DoesNotPadEveryRowToOneLongCell) {
  Table table;
  table.columns = {Column::text("why"), Column::text("n")};
  table.rows = {{std::string(200, 'x'), "1"}, {"short", "2"}};
  const std::string markdown = render_markdown(table);
  EXPECT_NE(markdown.find("| short" + std::string(55, ' ') + " | 2   |\n"), std::string::npos)
      << markdown;
}

TEST(Formats, AreFoundByName) {
  EXPECT_EQ(parse_format("markdown"), Format::markdown);
  EXPECT_EQ(parse_format("table"), Format::table);
  EXPECT_EQ(parse_format("csv"), Format::csv);
  EXPECT_EQ(parse_format("json"), Format::json);
  EXPECT_EQ(parse_format("html"), Format::html);
  EXPECT_EQ(parse_format("htm"), std::nullopt);
  EXPECT_EQ(parse_format(""), std::nullopt);
  for (std::size_t i = 0; i < format_names().size(); ++i) {
    EXPECT_EQ(parse_format(format_names()[i]), static_cast<Format>(i));
  }
}

std::string streamed(const Rows& rows, Format format) {
  std::string text;
  RowStream stream(format, 0, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  stream.columns(rows.columns);
  for (const auto& row : rows.rows) EXPECT_TRUE(stream.row(row));
  stream.finish();
  return text;
}

TEST(Stream, IsTheTextOfTheWholeTable) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Rows rows{{"n", "n", "say \"x\"", "ü"}, {}};
  for (const Format format : {Format::csv, Format::json}) {
    EXPECT_EQ(streamed(rows, format), render(table_from(rows), format));
  }
  const Value values[] = {Value(),          Value(std::int64_t{-7}),
                          Value(0.1),       Value(-0.0),
                          Value(1e300),     Value(1e-7),
                          Value(12.0),      Value(infinity),
                          Value(-infinity), Value(std::nan("")),
                          Value(""),        Value("=1+1"),
                          Value("a,b"),     Value("\x1b[2J\n\t"),
                          Value("µ\xff"),   Value("\"\\")};
  for (const Value& value : values) rows.rows.push_back({value, Value("x"), value, Value(1.5)});
  for (const Format format : {Format::csv, Format::json}) {
    EXPECT_EQ(streamed(rows, format), render(table_from(rows), format));
  }
  for (int i = 0; i < 5000; ++i) rows.rows.push_back(rows.rows[static_cast<std::size_t>(i % 16)]);
  for (const Format format : {Format::csv, Format::json}) {
    EXPECT_EQ(streamed(rows, format), render(table_from(rows), format));
  }
}

/// The text that a reader has when the rows break off after so many.
std::string broken_off(Format format, int rows) {
  std::string text;
  RowStream stream(format, 0, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  stream.columns({"a", "b"});
  for (int i = 0; i < rows; ++i) stream.row({Value("some text of a row"), Value(1.5)});
  stream.break_off();
  return text;
}

TEST(Stream, ThatBreaksOffDoesNotLookComplete) {
  constexpr int many = 50'000;
  EXPECT_THAT(broken_off(Format::csv, many),
              ::testing::EndsWith("some text of a row,1.5\n\"stopped here: not all rows"));
  const std::string json = broken_off(Format::json, many);
  EXPECT_THAT(json, ::testing::EndsWith("\"b\":1.5}"));
  EXPECT_FALSE(nlohmann::json::accept(json));
  EXPECT_THAT(broken_off(Format::table, many),
              ::testing::EndsWith("\n(stopped here: not all rows)\n"));
}

TEST(Stream, ThatBreaksOffBeforeAnythingWasReadIsNothing) {
  for (const Format format : {Format::csv, Format::json, Format::table, Format::html}) {
    EXPECT_EQ(broken_off(format, 10), "");
  }
}

TEST(Stream, EndsWhenNobodyWantsMore) {
  for (const Format format : {Format::csv, Format::json, Format::table}) {
    int pieces = 0, rows = 0;
    RowStream stream(format, 0, [&](std::string_view) { return ++pieces < 2; });
    stream.columns({"a"});
    while (rows < 1'000'000 && stream.row({Value("some text of a row")})) ++rows;
    stream.finish();
    EXPECT_EQ(pieces, 2);
    EXPECT_LT(rows, 30'000);
  }
}

}  // namespace
}  // namespace warpmeter::reports
