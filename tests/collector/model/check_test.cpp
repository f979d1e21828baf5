// SPDX-License-Identifier: MIT
// The checker finds nothing in kernels whose answers are known to be right: the catalogue's, and
// those that hold the model to the hardware.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "collector/family/catalogue.h"
#include "collector/model/check/checker.h"
#include "collector/model/counts/estimate.h"
#include "tests/collector/model/prepared_launch.h"
#include "tests/device/model/cases.h"

namespace warpmeter::model {
namespace {

/// The mistakes that the checker finds in the grid's corners, a line each; in the whole grid where
/// blocks wait for others. Remarks are left out.
std::string check(const kernels::Image& image, std::string_view entry, const Geometry& geometry,
                  const kernels::Problem& problem) {
  const auto prepared = prepare_launch(image, entry, problem);
  if (!prepared->refusal.empty()) return prepared->refusal;
  const Program& program = prepared->program;
  check::WrittenMemory written;
  check::Checker checker(program, geometry, prepared->memory, written, check::Wanted::findings);
  LaunchOptions options;
  options.observer = &checker;
  const BlockSelection corners =
      select_blocks(geometry.grid, std::min<std::uint64_t>(4, geometry.grid.count()));
  Estimate estimate(program, geometry.grid, corners);
  const bool waits = std::any_of(program.sites.begin(), program.sites.end(),
                                 [](const SiteInfo& site) { return site.waits; });
  if (!waits) options.sample = &estimate;
  const LaunchOutcome outcome =
      launch(program, geometry, prepared->parameters, prepared->memory, options);
  std::string text = outcome.trap ? outcome.trap->message + "\n" : "";
  for (const check::Finding& finding : checker.findings()) {
    if (finding.is_remark()) continue;
    text += fmt::format("{}, line {}: {}\n", to_string(finding.defect), finding.place.line,
                        finding.message);
  }
  return text;
}

TEST(Check, FindsNothingInTheCatalogue) {
  for (const kernels::Family* family : family::catalogue()) {
    const std::int64_t n = !family->has_sizes()               ? 0
                           : family->largest_size > 1'000'000 ? 10'000
                                                              : 80;
    const kernels::Problem problem = family->prepare(n);
    for (const kernels::Variant& variant : family->variants) {
      if (!variant.library.empty()) continue;
      EXPECT_EQ(check(*variant.image, variant.entry, variant.geometry(n), problem), "")
          << family->name << "/" << variant.name;
    }
  }
}

/// Kernels that measure how accesses are counted, and whose lanes write over each other for that.
bool writes_over_itself(std::string_view entry) { return entry.starts_with("global_patterns_"); }

TEST(Check, FindsInTheKernelsThatHoldTheModelToTheHardwareWhatIsThere) {
  for (const agreement::Case& which : agreement::cases()) {
    const std::string found = check(*which.image, which.entry, which.geometry, which.problem());
    if (writes_over_itself(which.entry)) {
      EXPECT_TRUE(found.starts_with("global-memory race")) << which.entry << ": " << found;
      EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
    } else {
      EXPECT_EQ(found, "") << which.entry;
    }
  }
}

}  // namespace
}  // namespace warpmeter::model
