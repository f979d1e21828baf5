// SPDX-License-Identifier: MIT
// The findings of the checker in a kernel that is given as PTX, for tests.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "collector/model/check/checker.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {

/// A kernel k(out, in) of one block of one dimension, both of 4,096 bytes that are zero.
inline constexpr std::string_view parameters = ".param .u64 out, .param .u64 in";
inline constexpr std::string_view start = R"(
  .reg .pred %p<10>;
  .reg .b16 %h<10>;
  .reg .b32 %r<40>;
  .reg .f32 %f<10>;
  .reg .b64 %d<20>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  setp.lt.u32 %p1, %r1, 10;
  @%p1 ld.global.u32 %r2, [%d2];
)";  // %r2 is set in lanes 0 to 9, where %p1 holds

inline std::vector<std::string> findings_of(const std::string& text, std::uint32_t block = 32,
                                            check::Defect defect = check::Defect::uninitialised) {
  auto module = ptx::parse(text);
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&module)) return {wrong->message};
  auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(module), "k");
  if (const auto* wrong = std::get_if<ptx::Diagnostic>(&decoded)) return {wrong->message};
  const Program& program = std::get<Program>(decoded);
  const auto run = [&](std::uint64_t native_after) {
    DeviceMemory memory;
    std::vector<std::vector<std::byte>> values;
    for (const char* name : {"out", "in"}) {
      const std::vector<std::byte> zeros(4096);
      values.push_back(TestArgument::scalar(memory.allocate(zeros, name)).bytes);
    }
    check::WrittenMemory written;
    check::Checker checker(program, geometry(1, block), memory, written, check::Wanted::findings);
    LaunchOptions options;
    options.observer = &checker;
    options.native_after = native_after;
    const LaunchOutcome outcome =
        launch(program, geometry(1, block), *pack_parameters(program, values), memory, options);
    std::vector<std::string> found;
    if (outcome.trap) found.push_back(outcome.trap->message);
    for (const check::Finding& finding : checker.findings()) {
      if (to_string(finding.defect) == to_string(defect)) found.push_back(finding.message);
    }
    return found;
  };
  const std::vector<std::string> interpreted = run(default_native_after);
  EXPECT_EQ(run(0), interpreted) << "as machine code";
  return interpreted;
}

/// The body comes after `start`.
inline std::vector<std::string> found(std::string_view body, std::string_view before = "",
                                      std::uint32_t block = 32) {
  return findings_of(
      module_with(parameters, std::string(start) + std::string(body) + "\nret;", before), block);
}

inline std::string uses(unsigned thread, std::string_view name, std::string_view how) {
  return fmt::format(
      "thread ({},0,0) of block (0,0,0) uses {}, which was not written on this path, {}", thread,
      name, how);
}
inline const std::string writes = "as the value that it writes";
inline const std::string decides = "to decide what to do next";

}  // namespace warpmeter::model
