// SPDX-License-Identifier: MIT
// Sweeps of parameters in reports: what is drawn over how many parameters, who is best, and what
// stands where a combination has no figure.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "reports/best.h"
#include "reports/page.h"
#include "reports/plot/heat.h"
#include "reports/render/report.h"
#include "reports/sections/sections.h"
#include "reports/sweep.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"
#include "tests/reports/sweep_runs.h"

namespace warpmeter::reports {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The section of a run with these combinations, as a document with plots or in a format.
class SweptRun {
 public:
  explicit SweptRun(const std::vector<Combination>& all)
      : SweptRun(std::vector<std::vector<Combination>>{all}) {}
  explicit SweptRun(const std::vector<std::vector<Combination>>& devices)
      : store_(database_.path()), id_(add_combinations(store_, devices)) {}
  explicit SweptRun(std::int64_t (*add)(schema::Store&))
      : store_(database_.path()), id_(add(store_)) {}

  RunRecord record() const { return read_run(schema::Reader(database_.path()), id_); }

  std::vector<Plot> plots() const {
    Document document;
    const schema::Reader reader(database_.path());
    const RunRecord run = record();
    sections::add_sweeps(document, sections::Source(reader, run, true));
    std::vector<Plot> plots;
    for (const auto& block : document.blocks) {
      if (const auto* plot = std::get_if<Plot>(&block)) plots.push_back(*plot);
    }
    return plots;
  }

  Table best(const std::vector<std::string>& metrics) const {
    return best_table(schema::Reader(database_.path()), id_, metrics);
  }

  std::string text(Format format, std::size_t width = 0, const std::string& folder = "",
                   std::vector<PlotFile>* files = nullptr) const {
    ReportOptions options;
    options.format = format;
    options.width = width;
    options.plot_folder = folder;
    options.sections = {{"sweeps", ""}};
    std::string all;
    auto plots =
        write_report(schema::Reader(database_.path()), id_, options, [&](std::string_view piece) {
          all += piece;
          return true;
        });
    if (files != nullptr) *files = std::move(plots);
    return all;
  }

 private:
  const TemporaryDatabase database_;
  schema::Store store_;
  const std::int64_t id_;
};

/// A row of a plot as it reads: "16 | 5.00 ★ | failed".
std::string row_text(const Plot& plot, std::size_t row) {
  std::string text;
  for (std::size_t i = 0; i < plot.data.columns.size(); ++i) {
    const CellText cell = cell_text(plot.data.columns[i], plot.data.rows[row][i]);
    text += (i > 0 ? " | " : "") + cell.body + cell.tail;
  }
  return text;
}

TEST(Sweeps, InEveryFormat) {
  const SweptRun run(add_sweep_run);
  expect_golden("sweeps.txt", run.text(Format::table, 100));
  expect_golden("sweeps.md", run.text(Format::markdown));
  expect_golden("sweeps.csv", run.text(Format::csv));
  expect_golden("sweeps.json", run.text(Format::json));
  if (!html_page().empty()) expect_golden("sweeps.html", page_contents(run.text(Format::html)));
  std::vector<PlotFile> files;
  expect_golden("sweeps_plots.md", run.text(Format::markdown, 0, "report_files", &files));
  ASSERT_EQ(files.size(), 6u);
  expect_golden("sweeps_heat.svg", files[0].svg);
}

TEST(Sweeps, OverOneParameterIsALine) {
  const SweptRun run({{"rows[BLOCK=256]", 1024, 4000.0},
                      {"rows[BLOCK=64]", 1024, 9000.0},
                      {"rows[BLOCK=1024]", 1024, 5000.0}});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].form, Plot::Form::lines);
  EXPECT_EQ(plots[0].title, "Time (µs) of transpose/rows, size 1,024, over BLOCK");
  EXPECT_EQ(plots[0].x.label, "BLOCK");
  EXPECT_TRUE(plots[0].x.logarithmic) << "64 to 1,024 doubles";
  EXPECT_EQ(row_text(plots[0], 0), "64 | 9.00");
  EXPECT_EQ(row_text(plots[0], 1), "256 | 4.00 ★");
  EXPECT_EQ(row_text(plots[0], 2), "1024 | 5.00");
}

TEST(Sweeps, OverOneParameterMarkTheBestPointAndWhereThereIsNone) {
  const SweptRun run({{"rows[BLOCK=256]", 1024, 4000.0},
                      {"rows[BLOCK=64]", 1024, 9000.0},
                      {"rows[BLOCK=2048]", 1024, {}, 0, {}, "too many threads"}});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(render_svg(plots[0]),
              AllOf(HasSubstr("class=\"v\">★</text>"), HasSubstr("class=\"v\">failed</text>")));
}

TEST(Sweeps, InJsonSayWhyAValueIsNull) {
  const SweptRun run({{"p[TILE=16,PAD=0]", 64, 4000.0},
                      {"p[TILE=16,PAD=1]", 64, 2000.0},
                      {"p[TILE=32,PAD=1]", 64, {}, 0, {}, "too many threads"}});
  const auto json = nlohmann::json::parse(run.text(Format::json));
  const auto& table = json["sections"][0]["tables"][1];
  EXPECT_TRUE(table["rows"][1]["PAD=0"].is_null());
  EXPECT_TRUE(table["rows"][1]["PAD=1"].is_null());
  EXPECT_EQ(table["missing"], nlohmann::json::parse(
                                  R"([{"row": 1, "column": "PAD=0", "reason": "not in this run"},
                    {"row": 1, "column": "PAD=1", "reason": "failed: too many threads"}])"));
}

TEST(Sweeps, InMarkdownSayBelowThePictureWhatToSeeInIt) {
  const SweptRun run({{"v[T=float]", 1024, 4000.0}, {"v[T=int4]", 1024, 2000.0}});
  std::vector<PlotFile> files;
  EXPECT_THAT(run.text(Format::markdown, 0, "report_files", &files),
              HasSubstr(".svg)\n\nLower is better.\n"));
}

TEST(Sweeps, OverNamesAreBars) {
  const SweptRun run({{"v[T=float]", 1024, 4000.0}, {"v[T=int4]", 1024, 2000.0}});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].form, Plot::Form::bars);
  EXPECT_EQ(plots[0].x.label, "time (µs)");
  EXPECT_EQ(row_text(plots[0], 0), "float | 4.00");
  EXPECT_EQ(row_text(plots[0], 1), "int4 | 2.00 ★");
}

TEST(Sweeps, OverTwoParametersAreAHeatMapThatSaysWhyACellIsEmpty) {
  const SweptRun run({{"p[TILE=16,PAD=0]", 64, 4000.0},
                      {"p[TILE=16,PAD=1]", 64, 2000.0},
                      {"p[TILE=32,PAD=1]", 64, {}, 0, {}, "too many threads"}});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  const Plot& plot = plots[0];
  EXPECT_EQ(plot.form, Plot::Form::heat);
  EXPECT_EQ(heading_of(plot.data.columns[0]), "TILE\u00a0↓ PAD\u00a0→");
  EXPECT_EQ(row_text(plot, 0), "16 | 4.00 | 2.00 ★");
  EXPECT_EQ(row_text(plot, 1), "32 | · | failed");
  EXPECT_EQ(std::get<Missing>(plot.data.rows[1][1].value).reason, "not in this run");
  EXPECT_EQ(std::get<Missing>(plot.data.rows[1][2].value).reason, "failed: too many threads");
  EXPECT_THAT(plot.description,
              AllOf(HasSubstr("Lower is better."), HasSubstr("1 combination failed"),
                    HasSubstr("· is not in this run")));
  const HeatScale scale = heat_scale(plot);
  EXPECT_EQ(scale.step(plot.data.rows[0][1]), 0);
  EXPECT_EQ(scale.step(plot.data.rows[0][2]), strongest);
  EXPECT_EQ(scale.step(plot.data.rows[1][2]), std::nullopt);
  const std::string svg = render_svg(plot);
  EXPECT_THAT(svg, AllOf(HasSubstr("TILE=32, PAD=1: failed: too many threads"),
                         HasSubstr("TILE=16, PAD=1: time (µs), 2.00 ★"), HasSubstr(">4.00<")));
}

TEST(Sweeps, OverThreeParametersShowTheTwoThatMatterMost) {
  std::vector<Combination> all;
  for (const int tile : {8, 16}) {
    for (const int unroll : {1, 2, 4}) {
      for (const int pad : {0, 1}) {
        all.push_back({fmt::format("p[TILE={},UNROLL={},PAD={}]", tile, unroll, pad), 64,
                       1000.0 * tile * (pad == 0 ? 10 : 1) - unroll});
      }
    }
  }
  const std::vector<Plot> plots = SweptRun(all).plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].title, "Time (µs) of transpose/p, size 64, over TILE and PAD");
  EXPECT_THAT(plots[0].description, HasSubstr("Each value is the best over UNROLL."));
  EXPECT_EQ(row_text(plots[0], 0), "8 | 80.0 | 8.00 ★");  // 7,996 ns: UNROLL=4
  EXPECT_DOUBLE_EQ(std::get<double>(plots[0].data.rows[0][2].value), 7.996);
}

TEST(Sweeps, OfEachSizeAreDrawnForTheLargest) {
  std::vector<Combination> all;
  for (std::int64_t size = 1; size <= 8; ++size) {
    for (const int pad : {0, 1}) {
      all.push_back({fmt::format("p[PAD={}]", pad), size, 1000.0 + pad});
    }
  }
  const SweptRun run(all);
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 6u);
  EXPECT_THAT(plots.front().title, HasSubstr("size 3"));
  EXPECT_THAT(plots.back().title, HasSubstr("size 8"));
  const std::string text = run.text(Format::table);
  EXPECT_THAT(text, HasSubstr("The 6 largest of 8 sizes."));
  const std::string csv = run.text(Format::csv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9) << "the table has them all";
}

TEST(Sweeps, WithoutTimesAndAllTransactionsAreOfTheFigureThatChangesMost) {
  std::vector<Combination> all;
  for (const int pad : {0, 1, 2}) {
    Combination one{fmt::format("p[PAD={}]", pad)};
    one.counters = shared_loads(pad == 0 ? 32 : pad);
    one.counters.push_back({"global_load_sectors", 4096.0 + pad, schema::Grade::exact, ""});
    one.counters.push_back({"global_load_bytes", 4096.0 * 32, schema::Grade::exact, ""});
    all.push_back(one);
  }
  const SweptRun run(all);
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].title, "Shared loads / request of transpose/p, size 1,024, over PAD");
  EXPECT_EQ(row_text(plots[0], 1), "1 | 1 ★");
  EXPECT_THAT(run.text(Format::csv), HasSubstr("p,1024,p[PAD=1],1,2,0,3,0\n"));
}

TEST(Sweeps, WithoutTimesAreOfAllTransactionsAsTheHeadlineIs) {
  // Padding spares shared wavefronts and costs more in global sectors: the sum decides.
  std::vector<Combination> all;
  for (const int pad : {0, 1}) {
    Combination one{fmt::format("p[PAD={}]", pad)};
    one.counters = shared_loads(pad == 0 ? 2 : 1);
    for (const char* counter :
         {"shared_store_wavefronts", "shared_atomic_wavefronts", "global_store_sectors",
          "global_atomic_sectors", "global_reduction_sectors"}) {
      one.counters.push_back({counter, 0, schema::Grade::exact, ""});
    }
    one.counters.push_back({"global_load_sectors", 4096.0 * (1 + pad), schema::Grade::exact, ""});
    all.push_back(one);
  }
  const SweptRun run(all);
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].title, "Shared and global transactions of transpose/p, size 1,024, over PAD");
  EXPECT_EQ(row_text(plots[0], 0), "0 | 6,144 ★");
  EXPECT_EQ(row_text(plots[0], 1), "1 | 9,216");
}

TEST(Sweeps, OfAFamilyWithSeveralSizesHaveABestAtEach) {
  std::vector<Combination> all;
  for (const int m : {64, 512}) {
    for (const int pad : {0, 1}) {
      all.push_back({fmt::format("p[PAD={}](m={})", pad, m), 1024, m * (2000.0 - 1000 * pad)});
    }
    all.push_back({fmt::format("ref(m={})", m), 1024, m * 9000.0});
  }
  const SweptRun run(all);
  EXPECT_EQ(run.text(Format::csv),
            "sweep,size,at,best,duration,median_of_all,as_good,tried,failed\n"
            "p,1024,m=64,p[PAD=1](m=64),64,96,0,2,0\n"
            "p,1024,m=512,p[PAD=1](m=512),512,768,0,2,0\n");
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[1].title, "Time (µs) of transpose/p, size 1,024, m=512, over PAD");
  const RunRecord record = run.record();
  ASSERT_EQ(record.groups.size(), 2u);
  EXPECT_EQ(record.groups[0].title(), "transpose, size 1,024, m=64");
  EXPECT_EQ(record.groups[0].subjects.size(), 3u);
}

TEST(Sweeps, ThatChangeNoStandardMetricAreOfAnother) {
  std::vector<Combination> all;
  for (const int length : {1, 100}) {
    Combination one{fmt::format("p[L={}]", length)};
    one.counters = shared_loads(1);
    one.counters.push_back({"inst_executed", 600.0 + length, schema::Grade::exact, ""});
    all.push_back(one);
  }
  const std::vector<Plot> plots = SweptRun(all).plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(row_text(plots[0], 0), "1 | 601 ★");
  EXPECT_EQ(row_text(plots[0], 1), "100 | 700");
}

TEST(Sweeps, BySeveralMetricsNameThem) {
  std::vector<Combination> all;
  for (const int pad : {0, 1}) {
    all.push_back({fmt::format("p[PAD={}]", pad), 64, {}, 0, shared_loads(2 - pad)});
    all.push_back({fmt::format("q[PAD={}]", pad), 64, 2000.0 + 2000 * pad});
  }
  EXPECT_EQ(SweptRun(all).text(Format::csv),
            "sweep,size,best,by,figure,median_of_all,unit,as_good,tried,failed\n"
            "p,64,p[PAD=1],shared_load_transactions_per_request,1,1.5,\"\",0,2,0\n"
            "q,64,q[PAD=0],duration,2,3,µs,0,2,0\n");
}

TEST(Sweeps, OfAnEfficiencyTakeTheHighest) {
  std::vector<Combination> all;
  for (const int tile : {1, 2}) {
    for (const int pad : {0, 1}) {
      Combination one{fmt::format("p[TILE={},PAD={}]", tile, pad)};
      one.counters = {{"global_load_sectors", 100, schema::Grade::exact, ""},
                      {"global_load_bytes", 800.0 * tile * (pad + 1), schema::Grade::exact, ""}};
      all.push_back(one);
    }
  }
  const std::vector<Plot> plots = SweptRun(all).plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_THAT(plots[0].title, HasSubstr("Gld efficiency"));
  EXPECT_THAT(plots[0].description, HasSubstr("Higher is better."));
  EXPECT_EQ(row_text(plots[0], 1), "2 | 50 | 100 ★");
  EXPECT_EQ(heat_scale(plots[0]).step(plots[0].data.rows[1][2]), strongest);
}

TEST(Sweeps, ThatChangeNothingAreATableAlone) {
  const SweptRun run(
      {{"p[PAD=0]", 64, {}, 0, shared_loads(2)}, {"p[PAD=1]", 64, {}, 0, shared_loads(2)}});
  EXPECT_TRUE(run.plots().empty());
  EXPECT_THAT(run.text(Format::table), HasSubstr("all alike"));
  if (!html_page().empty()) EXPECT_THAT(run.text(Format::html), HasSubstr(">all alike</t"));
}

TEST(Sweeps, OfWhichAllFailedSaySo) {
  const SweptRun run({{"p[PAD=0]", 64, {}, 0, {}, "no"}, {"p[PAD=1]", 64, {}, 0, {}, "no"}});
  EXPECT_TRUE(run.plots().empty());
  EXPECT_EQ(run.text(Format::csv).substr(run.text(Format::csv).find('\n') + 1), "p,64,,,,,,,2,2\n");
}

TEST(Sweeps, OfOneCombinationAreNone) {
  const SweptRun run({{"p[PAD=0]", 64, 1000.0}, {"naive", 64, 1000.0}});
  EXPECT_THROW(run.text(Format::table), Error);  // there is nothing to say
}

TEST(Sweeps, MarkWhatIsNotKnownToBeWorse) {
  const SweptRun run({{"p[PAD=0]", 64, 1000.0, 0.01},
                      {"p[PAD=1]", 64, 1015.0, 0.01},
                      {"p[PAD=2]", 64, 1100.0, 0.01}});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(row_text(plots[0], 0), "0 | 1.00 ★");
  EXPECT_EQ(row_text(plots[0], 1), "1 | 1.02 ≈");
  EXPECT_EQ(row_text(plots[0], 2), "2 | 1.10");
  EXPECT_THAT(run.text(Format::csv), HasSubstr("p,64,p[PAD=0],1,1.015,"));
}

TEST(Sweeps, AgreeWithBest) {
  const SweptRun run(add_sweep_run);
  const Table best = run.best({"duration"});
  const std::string csv = run.text(Format::csv);
  for (const std::string size : {"1024", "4096"}) {
    std::string first;
    for (const auto& row : best.rows) {
      const std::string& variant = std::get<std::string>(row[2].value);
      if (std::to_string(std::get<std::int64_t>(row[1].value)) == size && first.empty()) {
        first = variant;
      }
    }
    EXPECT_THAT(csv, HasSubstr("padded," + size + ",\"" + first + "\","));
  }
}

TEST(Sweeps, OfTwoDevicesAreTwo) {
  const std::vector<Combination> one = {{"p[PAD=0]", 64, 1000.0}, {"p[PAD=1]", 64, 2000.0}};
  const std::vector<Combination> two = {{"p[PAD=0]", 64, 2000.0}, {"p[PAD=1]", 64, 1000.0}};
  const SweptRun run(std::vector<std::vector<Combination>>{one, two});
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_THAT(plots[0].title, HasSubstr("NVIDIA H200 #0"));
  EXPECT_THAT(run.text(Format::csv), AllOf(HasSubstr("NVIDIA H200 #0,p,64,p[PAD=0]"),
                                           HasSubstr("NVIDIA H200 #1,p,64,p[PAD=1]")));
}

TEST(Sweeps, OfManyValuesStayReadable) {
  const SweptRun run(add_large_sweep_run);
  const std::string text = run.text(Format::table, 80);
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    const auto letters =
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    EXPECT_LE(letters, 80) << line;
    begin = end + 1;
  }
  const std::vector<Plot> plots = run.plots();
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].data.rows.size(), 32u);
  EXPECT_EQ(plots[0].data.columns.size(), 33u);
  EXPECT_THAT(render_svg(plots[0]), HasSubstr("width=\"1"));  // more than 760: 44 a column
}

TEST(Sweeps, OfVeryManyValuesShowTheBest) {
  std::vector<Combination> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back({fmt::format("p[PAD={}]", i), 64, 1000.0 + std::abs(i - 80)});
  }
  const std::vector<Plot> plots = SweptRun(all).plots();
  ASSERT_EQ(plots.size(), 1u);
  ASSERT_EQ(plots[0].data.rows.size(), 64u);
  EXPECT_THAT(plots[0].description, HasSubstr("Of the 100 values of PAD the 64 with the best"));
  EXPECT_EQ(row_text(plots[0], 63).substr(0, 4), "99 |");
}

TEST(Sweeps, OfARepeatedRunLeaveOutWhatFailedOnce) {
  const SweptRun run({{"p[PAD=0]", 64, 1000.0},
                      {"p[PAD=1]", 64, 2000.0},
                      {"p[PAD=2]", 64, 3000.0},
                      {"p[PAD=0]", 64, {}, 0, {}, "wrong the second time"}});
  EXPECT_EQ(row_text(run.plots().at(0), 0), "0 | failed");
  EXPECT_THAT(render_csv(run.best({"duration"})), Not(HasSubstr("PAD=0")));
}

TEST(Sweeps, ReadParametersInTheOrderOfTheirNumbers) {
  const SweptRun run({{"p[A=1<<5,B=x]", 64, 1000.0},
                      {"p[A=4,B=y]", 64, 2000.0},
                      {"p[A=16,B=x]", 64, 3000.0},
                      {"q[A=1]", 64, 3000.0}});
  const RunRecord record = run.record();
  const std::vector<Sweep> sweeps = sweeps_of(record);
  ASSERT_EQ(sweeps.size(), 1u);
  EXPECT_THAT(sweeps[0].parameters[0].values, ElementsAre("4", "16", "1<<5"));
  EXPECT_THAT(sweeps[0].parameters[1].values, ElementsAre("x", "y"));
  EXPECT_FALSE(sweeps[0].parameters[1].is_number);
}

}  // namespace
}  // namespace warpmeter::reports
