// SPDX-License-Identifier: MIT
// cp.async whose source has fewer bytes than it stores, held to what an H200 (driver 580.159,
// 2026-11-28) counted of one warp: tests/golden/h200_short_copies.csv. A lane whose source has
// bytes accesses the whole width, a lane whose source has none accesses nothing; the instruction
// counts as executed even so.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "collector/model/counts/grades.h"
#include "tests/collector/model/run_ptx.h"
#include "tests/csv.h"
#include "tests/paths.h"

namespace warpmeter::model {
namespace {

using Ints = std::vector<int>;

struct Copy {
  int width;
  const char* instruction;
};

const std::map<std::string, Copy>& copies() {
  static const std::map<std::string, Copy> all = {
      {"cg.16", {16, "cp.async.cg.shared.global [%to], [%from], 16, %size;"}},
      {"ca.4", {4, "cp.async.ca.shared.global [%to], [%from], 4, %size;"}},
      {"ca.8", {8, "cp.async.ca.shared.global [%to], [%from], 8, %size;"}},
      {"ca.16", {16, "cp.async.ca.shared.global [%to], [%from], 16, %size;"}},
      {"cg.16.ignored", {16, "cp.async.cg.shared.global [%to], [%from], 16, %none;"}}};
  return all;
}

/// The bytes that each lane's source has, and where it is.
struct Case {
  std::function<int(int lane, int width)> size;
  bool is_apart = false;  ///< the lanes 256 bytes apart; else side by side
};

const std::vector<Case>& cases() {
  const auto all = [](int, int width) { return width; };
  const auto none = [](int, int) { return 0; };
  const auto half = [](int, int width) { return width / 2; };
  static const std::vector<Case> table = {
      {all},
      {none},
      {[](int lane, int width) { return lane < 16 ? width : 0; }},
      {[](int lane, int width) { return lane % 2 != 0 ? width : 0; }},
      {half},
      {[](int, int) { return 1; }},
      {all, true},
      {none, true},
      {[](int lane, int width) { return lane < 5 ? width : 0; }, true},
      {half, true},
      {[](int lane, int width) { return lane == 0 ? width : 0; }, true},
      {[](int lane, int width) { return lane % (width + 1); }, true}};
  return table;
}

TestRun run(const Copy& copy, const Case& of) {
  const std::string body = fmt::format(R"(
 .reg .u32 %t, %to, %size; .reg .u64 %p<5>, %from; .reg .pred %none;
 .shared .align 16 .b8 s[512];
 mov.u32 %t, %tid.x;
 ld.param.u64 %p1, [in]; ld.param.u64 %p2, [sizes]; ld.param.u64 %p3, [places];
 mul.wide.u32 %p4, %t, 4; add.u64 %p2, %p2, %p4; add.u64 %p3, %p3, %p4;
 ld.global.u32 %size, [%p2]; ld.global.u32 %to, [%p3];
 cvt.u64.u32 %from, %to; add.u64 %from, %from, %p1;
 setp.eq.u32 %none, %size, 0;
 mov.u32 %to, s; mad.lo.u32 %to, %t, {}, %to;
 {}
 cp.async.wait_all;
 ret;)",
                                       copy.width, copy.instruction);
  Ints sizes, places;
  for (int lane = 0; lane < 32; ++lane) {
    sizes.push_back(of.size(lane, copy.width));
    places.push_back(lane * (of.is_apart ? 256 : copy.width));
  }
  return run_ptx(module_with(".param .u64 in, .param .u64 sizes, .param .u64 places", body), "k",
                 geometry(1, 32),
                 {TestArgument::buffer(Ints(2048, 1)), TestArgument::buffer(sizes),
                  TestArgument::buffer(places)});
}

TEST(ShortCopies, CountWhatAnH200Counts) {
  std::ifstream file(source_dir() + "/tests/golden/h200_short_copies.csv");
  int rows = 0;
  for (const auto& row : csv_rows(file)) {
    ++rows;
    SCOPED_TRACE("case " + row.at("case") + ", " + row.at("copy"));
    const Copy& copy = copies().at(row.at("copy"));
    TestRun done = run(copy, cases().at(std::stoul(row.at("case"))));
    ASSERT_EQ(done.refusal + done.trap(), "");
    done.program.why_unaudited = done.program.why_not_exact = "";
    for (SiteInfo& site : done.program.sites) site.doubt = "";
    const auto own = [&](const char* name) {
      // The sizes and the places are a load of 4 sectors each.
      const double others = std::string(name).ends_with("bytes")     ? 256
                            : std::string(name).ends_with("sectors") ? 8
                                                                     : 2;
      return *counter(name, done.program, done.outcome).value - others;
    };
    EXPECT_EQ(counter("global_load_sectors", done.program, done.outcome).grade,
              schema::Grade::exact);
    EXPECT_EQ(*counter("async_copy_requests", done.program, done.outcome).value,
              std::stoi(row.at("executed")));
    // L1 gets no request without a byte (h200_empty_copies.csv).
    const int sectors = std::stoi(row.at("sectors"));
    EXPECT_EQ(own("global_load_requests"), sectors > 0 ? std::stoi(row.at("executed")) : 0);
    EXPECT_EQ(own("global_load_sectors"), sectors);
    EXPECT_EQ(own("global_load_bytes"), std::stoi(row.at("bytes")));
  }
  EXPECT_EQ(rows, 60);
}

/// The kernel of tests/device/facts/empty_copies.cu, with its loops unrolled.
TestRun run_pipeline(const std::map<std::string, std::string>& row) {
  const auto number = [&](const char* column) { return std::stoi(row.at(column)); };
  const int threads = 32 * number("warps"), row_bytes = number("row_bytes");
  const int lanes = row_bytes / 16, rows = threads / lanes, copies = number("copies");
  std::string body =
      fmt::format(R"(
 .reg .u32 %t, %u, %to, %all, %none; .reg .u64 %in, %from;
 .shared .align 128 .b8 s[{}];
 mov.u32 %t, %tid.x; mov.u32 %all, 16; mov.u32 %none, 0;
 and.b32 %u, %t, {}; shl.b32 %u, %u, 1; shl.b32 %to, %t, 4; xor.b32 %u, %u, %to;
 mov.u32 %to, s; add.u32 %to, %to, %u;
 mov.u32 %u, %ctaid.x; mul.lo.u32 %u, %u, {}; div.u32 %t, %t, {}; add.u32 %u, %u, %t;
 mul.wide.u32 %from, %u, 512; mov.u32 %t, %tid.x; rem.u32 %t, %t, {}; mul.wide.u32 %in, %t, 16;
 add.u64 %from, %from, %in; ld.param.u64 %in, [in]; add.u64 %from, %from, %in;
)",
                  copies * threads * 16, number("swizzle"), rows * copies, lanes, lanes);
  const int steps = 8, more = number("has_empty") * number("ahead");
  for (int step = 0; step < steps + more; ++step) {
    for (int c = 0; c < copies; ++c) {
      body += fmt::format("cp.async.cg.shared.global [%to+{}], [%from+{}], 16, {};\n",
                          c * threads * 16, step % (512 / row_bytes) * row_bytes + c * rows * 512,
                          step < steps ? "%all" : "%none");
    }
  }
  body += "cp.async.wait_all; ret;";
  return run_ptx(module_with(".param .u64 in", body), "k",
                 geometry(8, static_cast<std::uint32_t>(threads)),
                 {TestArgument::buffer(std::vector<char>(4 << 20))});
}

// L1's own counters and ours are the same in all of them; the counter of cp.async's sectors is not,
// so that ours is not called exact there.
TEST(ShortCopies, AreNotExactWhereHardwareCountsAnotherNumberEachTime) {
  std::ifstream file(source_dir() + "/tests/golden/h200_empty_copies.csv");
  int rows = 0, varying = 0;
  for (const auto& row : csv_rows(file)) {
    ++rows;
    SCOPED_TRACE("row " + std::to_string(rows));
    TestRun done = run_pipeline(row);
    ASSERT_EQ(done.refusal + done.trap(), "");
    done.program.why_unaudited = done.program.why_not_exact = "";
    for (SiteInfo& site : done.program.sites) site.doubt = "";
    const auto count = [&](const char* name) { return counter(name, done.program, done.outcome); };
    EXPECT_EQ(count("async_copy_requests").value, std::stod(row.at("requests")));
    EXPECT_EQ(count("async_copy_requests").grade, schema::Grade::exact);
    EXPECT_EQ(count("global_load_requests").value, std::stod(row.at("l1_requests")));
    EXPECT_EQ(count("global_load_requests").grade, schema::Grade::exact);
    EXPECT_EQ(count("async_copy_sectors").value, std::stod(row.at("l1_sectors")));
    const bool varies = row.at("least_sectors") != row.at("most_sectors");
    varying += varies ? 1 : 0;
    for (const char* name : {"async_copy_sectors", "global_load_sectors"}) {
      EXPECT_EQ(count(name).grade, varies ? schema::Grade::modelled : schema::Grade::exact) << name;
    }
    if (!varies) EXPECT_EQ(row.at("least_sectors"), row.at("l1_sectors"));
  }
  EXPECT_EQ(rows, 14);
  EXPECT_EQ(varying, 3);
}

}  // namespace
}  // namespace warpmeter::model
