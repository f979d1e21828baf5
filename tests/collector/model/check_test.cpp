// The checker finds nothing in kernels whose answers are known to be right: the catalogue's, and
// those that hold the model to the hardware.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "collector/model/check/checker.h"
#include "collector/model/decode/decode.h"
#include "collector/model/estimate.h"
#include "collector/model/launch.h"
#include "collector/model/ptx/module.h"
#include "tests/device/model/cases.h"

namespace warpmeter::model {
namespace {

/// The checker's findings in the grid's corners, a line each; in the whole grid where blocks wait
/// for others.
std::string check(const kernels::Image& image, std::string_view entry,
                  const kernels::Geometry& geometry, const kernels::Problem& problem) {
  const auto code = std::find_if(image.codes.begin(), image.codes.end(),
                                 [](const kernels::Code& c) { return c.arch == 90; });
  if (code == image.codes.end()) return "no PTX for sm_90";
  auto parsed = ptx::parse(std::string(code->ptx));
  auto decoded = decode(*std::get<std::unique_ptr<ptx::Module>>(parsed), entry);
  if (const auto* refused = std::get_if<ptx::Diagnostic>(&decoded)) return refused->message;
  const Program& program = std::get<Program>(decoded);
  DeviceMemory memory;
  std::vector<std::uint64_t> addresses;
  for (const kernels::Buffer& buffer : problem.buffers) {
    addresses.push_back(memory.allocate(buffer.initial, buffer.name));
  }
  std::vector<std::vector<std::byte>> values;
  for (const kernels::Argument& argument : problem.arguments) {
    if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&addresses[buffer->index]);
      values.emplace_back(bytes, bytes + sizeof(std::uint64_t));
    } else {
      const auto& scalar = std::get<kernels::ScalarArgument>(argument);
      values.emplace_back(scalar.bytes.begin(), scalar.bytes.begin() + scalar.size);
    }
  }
  check::WrittenMemory written;
  check::Checker checker(program, geometry, memory, written);
  LaunchOptions options;
  options.checker = &checker;
  const BlockSelection corners =
      select_blocks(geometry.grid, std::min<std::uint64_t>(4, geometry.grid.count()));
  Estimate estimate(program, geometry.grid, corners);
  const bool waits = std::any_of(program.sites.begin(), program.sites.end(),
                                 [](const SiteInfo& site) { return site.waits; });
  if (!waits) options.estimate = &estimate;
  const LaunchOutcome outcome =
      launch(program, geometry, pack_parameters(program, values).value(), memory, options);
  std::string text = outcome.trap ? outcome.trap->message + "\n" : "";
  for (const check::Finding& finding : checker.findings()) {
    text += std::string(to_string(finding.defect)) + ", line " +
            std::to_string(finding.place.line) + ": " + finding.message + "\n";
  }
  return text;
}

TEST(Check, FindsNothingInTheCatalogue) {
  for (const kernels::Family* family : kernels::registry()) {
    const std::int64_t n = !family->has_sizes()               ? 0
                           : family->largest_size > 1'000'000 ? 10'000
                                                              : 80;
    const kernels::Problem problem = family->prepare(n);
    for (const kernels::Variant& variant : family->variants) {
      EXPECT_EQ(check(*family->image, variant.entry, variant.geometry(n), problem), "")
          << family->name << "/" << variant.name;
    }
  }
}

TEST(Check, FindsNothingInTheKernelsThatHoldTheModelToTheHardware) {
  for (const agreement::Case& which : agreement::cases()) {
    // Its blocks need each other at once, and the checker follows one at a time.
    if (which.entry == "own_grid_barrier") continue;
    EXPECT_EQ(check(*which.image, which.entry, which.geometry, which.problem()), "") << which.entry;
  }
}

}  // namespace
}  // namespace warpmeter::model
