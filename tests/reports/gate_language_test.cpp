// SPDX-License-Identifier: MIT
// The text of gates and selectors, and where a mistake in one is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "reports/gates/check.h"
#include "reports/gates/config.h"
#include "tests/reports/compare_runs.h"
#include "tests/reports/runs.h"

namespace warpmeter::reports {
namespace {

using schema::Launch;
using testing::HasSubstr;

struct BadGate {
  const char* text;
  const char* message;
};

TEST(Gate, SaysTheColumnWhereItCannotBeRead) {
  const BadGate bad[] = {
      {"", "at column 1 a metric or a number"},
      {"gst_efficiency",
       "at column 15 a relation (<=, <, >=, >, == or !=) was expected and it ends"},
      {"gst_efficiency => 90", "at column 16 a relation"},
      {"gst_efficiency >= ", "at column 19 a metric or a number was expected and it ends"},
      {"gst_efficiency >= 90 91",
       "at column 22 the end of the gate was expected and '91' is there"},
      {"transpose/*: gst_efficiency >= ninety", "'ninety', at column 32"},
      {"transpose/*: gst_eficiency >= 90", "at column 14; did you mean gst_efficiency"},
      {"(gst_efficiency >= 90", "at column 17 ')'"},
      {": gst_efficiency >= 90", "at column 1 a selector before the colon"},
      {" transpose@1k: gst_efficiency >= 90", "at column 13 ',', '@' or the end of the selector"},
      {"transpose@grid=a: gst_efficiency >= 90", "at column 16 a number, as in 64x64"},
      {"µµ: duration <= 3parsecs", "at column 18 a unit"},
      {"1 <= 2", "names no metric"},
      {"gst_efficiency <= 2us", "has a number in us at column 20, but gst_efficiency is in %"},
      {"duration <= 3%", "has a number in % at column 14, but duration is in ns"},
      {"gld_transactions / 2 <= 5 ms", "in ms at column 27, but gld_transactions is in transac"},
      {"gst_efficiency >= 1e999", "a number that can be held"},
  };
  for (const BadGate& gate : bad) {
    try {
      parse_gate(gate.text);
      ADD_FAILURE() << gate.text << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(gate.message), HasSubstr("column"))) << gate.text;
    }
  }
}

TEST(Gate, DeepParenthesesAreRefusedAndDoNotOverflow) {
  EXPECT_THROW(parse_gate(std::string(100000, '(') + "ipc"), Error);
  EXPECT_THROW(parse_gate(std::string(100000, '-') + "ipc > 1"), Error);
}

TEST(Gate, ASelectorMayHoldDoubleColons) {
  const Gate gate = parse_gate("app/ns::kernel*: gld_efficiency >= 50%");
  EXPECT_EQ(gate.selector.text(), "app/ns::kernel*");
  EXPECT_EQ(gate.relation, ">=");
}

// ---- selectors

TEST(Gate, TranslatesNvprofsNames) {
  EXPECT_THAT(parse_gate("warps_launched <= 64").metrics,
              testing::ElementsAre("unique_warps_launched"));
}

TEST(SelectorTest, NamesMatchAsThoseOfRun) {
  const auto selects = [](const char* selector, const char* family, const char* variant) {
    return parse_selector(selector).selects({family, variant, {}, "1x1x1", "1x1x1"});
  };
  EXPECT_TRUE(Selector().selects({"transpose", "naive", {}, "", ""}));
  EXPECT_TRUE(selects("transpose", "transpose", "naive"));
  EXPECT_TRUE(selects("transpose/n*", "transpose", "naive"));
  EXPECT_TRUE(selects("smem_*", "smem_square", "a"));
  EXPECT_FALSE(selects("transpose/tiled", "transpose", "tiled_padded"));
  EXPECT_TRUE(
      selects("app/f<[4]>", "app", "f<[4]>"));  // the name itself, whatever a glob makes of it
}

TEST(SelectorTest, MayAskForSizesAndGeometries) {
  const LaunchName launch{"transpose", "tiled", 1024, "64x64x1", "16x16x1"};
  const std::pair<const char*, bool> known[] = {
      {"transpose@1024", true},
      {"transpose/tiled@1024", true},
      {"*@4096,1024", true},
      {"*/*@4096", false},
      {"*@102", false},
      {"*@grid=64x64", true},
      {"*@grid=64x64x1", true},
      {"*@grid=64", false},
      {"*@grid=64x64x2", false},
      {"*@block=256,16x16", true},
      {"transpose/t*@1024@grid=64x64@block=16x16x1", true},
      {"transpose/t*@1024@grid=64x64@block=256", false},
      {"*@1024@4096", false},
  };
  for (const auto& [selector, selected] : known) {
    EXPECT_EQ(parse_selector(selector).selects(launch), selected) << selector;
  }
  const LaunchName on_second = {"transpose", "a", 64, "1x1x1", "32x1x1", "NVIDIA H200 #1", true};
  for (const auto& [selector, selected] :
       std::initializer_list<std::pair<const char*, bool>>{{"*@device=NVIDIA H200 #1", true},
                                                           {"*@device=NVIDIA H200", true},
                                                           {"*@device=*H200*@64", true},
                                                           {"*@device=NVIDIA H200 #0", false},
                                                           {"*@device=NVIDIA H2", false}}) {
    EXPECT_EQ(parse_selector(selector).selects(on_second), selected) << selector;
  }
  EXPECT_EQ(on_second.text(), "transpose/a at 64 on NVIDIA H200 #1");
  EXPECT_FALSE(parse_selector("*@1024").selects({"smem_square", "a", {}, "1x1x1", "32x1x1"}));
  EXPECT_TRUE(parse_selector("*@block=32").selects({"smem_square", "a", {}, "1x1x1", "32x1x1"}));
}

TEST(SelectorTest, SaysTheColumnOfAMistake) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "at column 1 the name of a family"},
      {"@1024", "at column 1 the name of a family"},
      {"transpose@", "at column 11 a size, grid=…, block=… or device=… was expected and it ends"},
      {"transpose@big",
       "at column 11 a size, grid=…, block=… or device=… was expected and 'big' is there"},
      {"transpose@1024x", "at column 15 ',', '@' or the end"},
      {"transpose@1024,", "at column 16 a size"},
      {"transpose@gird=64", "at column 11 a size"},
      {"transpose@device=", "at column 18 the name of a device was expected"},
      {"transpose@grid=", "at column 16 a number, as in 64x64, was expected"},
      {"transpose@grid=64x", "at column 19 a number"},
      {"transpose@grid=1x1x1x1", "at column 21 ',', '@' or the end"},
      {"µ@99999999999999999999", "at column 3 a size"},
  };
  for (const auto& [selector, message] : bad) {
    try {
      parse_selector(selector);
      ADD_FAILURE() << selector << " was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(message)) << selector;
    }
  }
}

}  // namespace
}  // namespace warpmeter::reports
