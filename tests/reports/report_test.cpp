// SPDX-License-Identifier: MIT
// Whole reports against the files in golden/. Values that differ from run to run (times of day,
// UUIDs) are made equal here, not in the product.
#include "reports/render/report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "reports/page.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/golden_file.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// True if `text` begins with the form, in which 'd' stands for a digit, 'x' for a hexadecimal one.
bool has_form(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool fits = form[i] == 'd'   ? std::isdigit(c) != 0
                      : form[i] == 'x' ? std::isxdigit(c) != 0
                                       : text[i] == form[i];
    if (!fits) return false;
  }
  return true;
}

/// Digits of UUIDs and times become 0, so that tables stay as wide as they were.
std::string comparable(std::string text) {
  constexpr std::string_view forms[] = {"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
                                        "dddd-dd-ddTdd:dd:dd.dddZ",
                                        "dddd-dd-dd dd:dd:dd to dd:dd:dd UTC"};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const std::string_view form : forms) {
      if (!has_form(std::string_view(text).substr(i), form)) continue;
      for (std::size_t k = 0; k < form.size(); ++k) {
        if (form[k] == 'd' || form[k] == 'x') text[i + k] = '0';
      }
    }
  }
  return text;
}

using AddRun = std::int64_t (*)(schema::Store&);

std::string report_of(AddRun add_run, Format format, std::size_t width = 0) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = add_run(store);
  const schema::Reader reader(database.path());
  return comparable(render_report(reader, run, format, width));
}

std::string html_of(AddRun add_run) { return page_contents(report_of(add_run, Format::html)); }

bool has_html() { return !html_page().empty(); }

TEST(Report, OfAHardwareRunInEveryFormat) {
  expect_golden("hardware.md", report_of(add_hardware_run, Format::markdown));
  expect_golden("hardware.txt", report_of(add_hardware_run, Format::table, 120));
  expect_golden("hardware.csv", report_of(add_hardware_run, Format::csv));
  expect_golden("hardware.json", report_of(add_hardware_run, Format::json));
  if (has_html()) expect_golden("hardware.html", html_of(add_hardware_run));
}

TEST(Report, OfAModelRunMarksGradesAndLeavesTimesOut) {
  expect_golden("model.md", report_of(add_model_run, Format::markdown));
  expect_golden("model.txt", report_of(add_model_run, Format::table, 100));
}

TEST(Report, OfRepeatedLaunchesShowsMediansAndSpread) {
  expect_golden("repeated.md", report_of(add_repeated_run, Format::markdown));
}

TEST(Report, OfARunWithoutCountersShowsTimes) {
  expect_golden("timing.md", report_of(add_timing_run, Format::markdown));
}

TEST(Report, OfSeveralDevicesHasATableForEach) {
  expect_golden("two_devices.md", report_of(add_two_device_run, Format::markdown));
}

/// In Markdown.
std::string section_of(const TemporaryDatabase& database, std::int64_t run, const char* name) {
  ReportOptions options;
  options.sections = {{name, ""}};
  std::string text;
  write_report(schema::Reader(database.path()), run, options, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

TEST(Report, NamesTheKernelsThatSpillAndNoOther) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = store.begin_run({});
  schema::Device device;
  device.backend = "model";
  device.name = "sm_90";
  const std::int64_t device_id = store.add_device(run, device);
  for (const auto& [variant, loads, stores] :
       {std::tuple{"few", 4, 8}, {"none", 0, 0}, {"many", 320, 160}, {"many", 320, 160}}) {
    schema::Launch launch;
    launch.family = "stencil";
    launch.variant = variant;
    launch.kernel = "_Z7stencilPf";
    launch.registers = 255;
    launch.local_bytes = 64;
    launch.code = {1280, loads, stores, ""};
    store.add_launch(run, device_id, launch);
  }
  store.end_run(run, schema::RunOutcome::done, "");
  const std::string text = section_of(database, run, "spills");
  const auto row = [](const char* cells) { return testing::ContainsRegex(cells); };
  EXPECT_THAT(text, row("stencil/many \\| stencil \\| +320 \\| +160 \\| +64 \\| +255"));
  EXPECT_THAT(text, row("stencil/few +\\| stencil \\| +4 \\| +8 \\| +64 \\| +255"));
  EXPECT_LT(text.find("stencil/many"), text.find("stencil/few"));
  EXPECT_EQ(text.find("stencil/many"), text.rfind("stencil/many"));
  EXPECT_THAT(text, Not(HasSubstr("none")));
}

/// 128 registers of a thread are 4,096 of a warp: a multiprocessor's 65,536 hold 16 warps of
/// its 64. Those are two blocks of 8 warps (25 %), or one of 12 (18.75 %).
TEST(Report, NamesAKernelOfTwoOccupanciesOnceWithTheLeast) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = store.begin_run({});
  schema::Device device;
  device.backend = "model";
  device.name = "sm_90";
  device.compute_capability = 90;
  const std::int64_t device_id = store.add_device(run, device);
  for (const int threads : {256, 384, 256}) {
    schema::Launch launch;
    launch.family = "stencil";
    launch.variant = "many";
    launch.kernel = "_Z7stencilPf";
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = threads;
    launch.block[1] = launch.block[2] = 1;
    launch.registers = 128;
    launch.static_shared_bytes = launch.dynamic_shared_bytes = 0;
    launch.code = {1280, 320, 160, ""};
    store.add_launch(run, device_id, launch);
  }
  store.end_run(run, schema::RunOutcome::done, "");
  const std::string text = section_of(database, run, "spills");
  EXPECT_THAT(text, testing::ContainsRegex("stencil/many .*128 \\| +18.8 \\| registers"));
  EXPECT_EQ(text.find("stencil/many"), text.rfind("stencil/many")) << text;
}

/// A run on cards of one name of which each takes so many ns for each of three launches.
std::string devices_section(const std::vector<double>& medians, int disturbed = -1) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = store.begin_run({});
  int ordinal = 0;
  for (const double median : medians) {
    schema::Device device;
    device.backend = "cupti";
    device.name = "NVIDIA H200";
    device.ordinal = ordinal++;
    device.uuid = fmt::format("GPU-{:08}", ordinal);
    const std::int64_t device_id = store.add_device(run, device);
    if (device.ordinal == disturbed) {
      schema::DeviceState state;
      state.phase = "before";
      state.disturbances = {{"process", true, "python3 computed", 490, "python3", 774, 88, ""}};
      store.add_state(run, device_id, state);
    }
    for (const char* variant : {"copy", "naive", "tiled"}) {
      schema::Launch launch;
      launch.family = "transpose";
      launch.variant = variant;
      launch.timing = schema::Timing{{median, median}, schema::CacheState::cold, 0, "samples"};
      store.add_launch(run, device_id, launch);
    }
  }
  store.end_run(run, schema::RunOutcome::done, "");
  return section_of(database, run, "devices");
}

TEST(Report, MarksTheCardThatIsOff) {
  const auto row = [](const char* title, const char* verdict) {
    return testing::ContainsRegex(fmt::format("{}[^\n]*{}", title, verdict));
  };
  const std::string five = devices_section({1000, 1002, 998, 1001, 1060});
  EXPECT_THAT(five, row("NVIDIA H200 #0", "like the others"));
  EXPECT_THAT(five, row("NVIDIA H200 #4", "off: 5.9 % slower"));
  EXPECT_THAT(devices_section({1000, 1060}), row("NVIDIA H200 #1", "two cannot say which is off"));
  EXPECT_THAT(devices_section({1000, 1010}), row("NVIDIA H200 #1", "like the other"));
  // Cards that scatter by themselves: none is off.
  EXPECT_THAT(devices_section({1000, 1030, 1060, 970, 940}), Not(HasSubstr("off:")));
  EXPECT_THROW(devices_section({1000}), Error);  // one card has no others to be held against
  EXPECT_THAT(five, Not(HasSubstr("disturbed")));
  EXPECT_THAT(devices_section({1000, 1060}, 1), row("NVIDIA H200 #1", "python3 computed, before"));
}

TEST(Report, TakesTheCopyThatMovedMostBytesAsTheCeilingOfTheMemory) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t with = add_ceilings_run(store, true), without = add_ceilings_run(store, false);
  const schema::Reader reader(database.path());
  // Neither the copy of the largest size nor the product, which is no copy.
  EXPECT_THAT(render_report(reader, with, Format::markdown),
              HasSubstr("The ceiling is 3,835 GB/s: what transpose/copy_float4 at 4,096 moved in "
                        "this run."));
  EXPECT_THAT(render_report(reader, without, Format::markdown),
              HasSubstr("The ceiling is 3,835 GB/s: what transpose/copy_float4 at 4,096 moved in "
                        "run 1."));
}

TEST(Report, ShowsEachFamilysShareOfItsOwnCeiling) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = add_ceilings_run(store, true);
  const schema::Reader reader(database.path());
  const std::string text = render_report(reader, run, Format::markdown);
  EXPECT_THAT(text, AllOf(HasSubstr("of copy_float4 (%)"), HasSubstr("of copy (%)"),
                          HasSubstr("of cublas (%)")));
  EXPECT_THAT(text, HasSubstr("1.00 |             21.5 |            80 |"));  // 25 ms against 20
}

TEST(Report, OfAnInterruptedEmptyRunSaysSo) {
  expect_golden("empty.md", report_of(add_empty_run, Format::markdown));
  const auto json = nlohmann::json::parse(report_of(add_empty_run, Format::json));
  EXPECT_EQ(json["run"]["outcome"], "interrupted");
  EXPECT_TRUE(json["launches"].empty());
  const std::string csv = report_of(add_empty_run, Format::csv);
  EXPECT_EQ(csv,
            "run_id,launch_id,device,backend,family,variant,size,metric,value,unit,grade,reason\n");
}

TEST(Report, ShowsHostileNamesAsText) {
  expect_golden("hostile.md", report_of(add_hostile_run, Format::markdown));
  expect_golden("hostile.txt", report_of(add_hostile_run, Format::table, 80));
  if (has_html()) expect_golden("hostile.html", html_of(add_hostile_run));
  EXPECT_TRUE(nlohmann::json::accept(report_of(add_hostile_run, Format::json)));
}

TEST(Report, OfARunningRunShowsWhatIsThere) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  schema::Run run;
  run.backend = "model";
  run.tool_version = "0.1.0";
  const std::int64_t id = store.begin_run(run);
  const schema::Reader reader(database.path());
  EXPECT_THAT(render_report(reader, id, Format::markdown),
              HasSubstr("still running; no launch finished"));
}

TEST(Report, ReadsOnlyTheRunThatItIsAskedFor) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t model = add_model_run(store);
  add_hardware_run(store);
  const schema::Reader reader(database.path());
  EXPECT_THAT(render_report(reader, model, Format::markdown), Not(HasSubstr("H200")));
  EXPECT_THAT(render_report(reader, model, Format::csv), Not(HasSubstr("H200")));
  EXPECT_THAT(render_report(reader, model, Format::json), Not(HasSubstr("H200")));
}

TEST(Report, OfAnUnknownRunIsAUsageError) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  add_empty_run(store);
  const schema::Reader reader(database.path());
  for (const Format format : {Format::markdown, Format::table, Format::csv, Format::json}) {
    try {
      render_report(reader, 99, format);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr("there is no run 99"));
    }
  }
}

TEST(Report, CsvAndJsonCarryTheSameFigures) {
  const auto json = nlohmann::json::parse(report_of(add_hardware_run, Format::json));
  const std::string csv = report_of(add_hardware_run, Format::csv);
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')),
            json["results"].size() + 1);
  EXPECT_EQ(json["launches"].size(), 7u);
  EXPECT_EQ(json["devices"].size(), 1u);
  EXPECT_EQ(json["expectations"].size(), 4u);
  for (const auto& result : json["results"]) {
    if (result["metric"] != "gst_efficiency" || result["variant"] != "naive") continue;
    EXPECT_EQ(result["value"], 25);
    EXPECT_TRUE(result["value"].is_number_integer());
  }
}

TEST(Comparison, HasTheTablesAndFailuresAlone) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  const std::int64_t run = add_hardware_run(store);
  const schema::Reader reader(database.path());
  const std::string text = render_comparison(reader, run, Format::table, 120);
  EXPECT_THAT(text, AllOf(HasSubstr("transpose, size 1,024"), HasSubstr("Failed launches"),
                          Not(HasSubstr("Expectations")), Not(HasSubstr("lab3"))));
  EXPECT_EQ(render_comparison(reader, run, Format::csv), render_report(reader, run, Format::csv));
}

/// As a traced program's. The first kernel takes 1, 2 and 3 µs in turn, the second always 4 µs.
TEST(Report, TakesLessThanThreeSecondsOfProcessorTimeForThirtyThousandLaunches) {
  const TemporaryDatabase database;
  schema::Store store(database.path());
  std::vector<schema::Launch> launches;
  for (int i = 0; i < 15'000; ++i) {
    launches.push_back(launch("first", {1000.0 * (1 + i % 3)}, "app"));
    launches.push_back(launch("second", {4000}, "app"));
  }
  const std::int64_t run = add_run(store, launches);
  const schema::Reader reader(database.path());
  const std::clock_t begin = std::clock();  // this process alone: others run beside it
  const std::string text = render_report(reader, run, Format::table, 120);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_THAT(text, AllOf(HasSubstr("30,000 launches"), HasSubstr("15,000"),
                          HasSubstr("2.00 (1.00–3.00)"), HasSubstr("4.00")));
  EXPECT_LT(seconds, 3.0);
}

}  // namespace
}  // namespace warpmeter::reports
