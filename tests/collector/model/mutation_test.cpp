// SPDX-License-Identifier: MIT
// Whatever a PTX text says, decoding and running it ends in order: refused, trapped or done. Our
// own kernels with a few characters exchanged are run under the sanitizers.
#include <gtest/gtest.h>

#include <random>

#include "collector/family/catalogue.h"
#include "tests/collector/model/run_ptx.h"

namespace warpmeter::model {
namespace {

/// The entry's body with one digit changed (another register, type or number) or a few of its
/// characters put somewhere else.
std::string mutated(std::string text, std::string_view entry, std::mt19937& random) {
  const std::size_t body = text.find('{', text.find(fmt::format(".entry {}(", entry)));
  const std::size_t size = text.find("\n}", body) - body;
  if (random() % 4 != 0) {
    const std::size_t digit = text.find_first_of("0123456789", body + random() % size);
    text[digit] = static_cast<char>('0' + random() % 10);
  } else {
    const std::size_t at = random() % size, from = random() % size;
    const std::size_t length = std::min<std::size_t>(1 + random() % 4, size - std::max(at, from));
    text.replace(body + at, length, text.substr(body + from, length));
  }
  return text;
}

TEST(Machine, SurvivesKernelsWithCharactersExchanged) {
  std::mt19937 random(2026);
  std::size_t done = 0, refused = 0, trapped = 0;
  for (const kernels::Family* family : family::catalogue()) {
    const std::string text(family->variants.front().image->codes.back().ptx);
    const kernels::Problem problem = family->prepare(family->has_sizes() ? 33 : 0);
    std::vector<TestArgument> arguments;
    for (const kernels::Argument& argument : problem.arguments) {
      if (const auto* buffer = std::get_if<kernels::BufferArgument>(&argument)) {
        arguments.push_back({problem.buffers[buffer->index].initial, true});
      } else {
        const auto& scalar = std::get<kernels::ScalarArgument>(argument);
        arguments.push_back({{scalar.bytes.begin(), scalar.bytes.end()}, false});
      }
    }
    LaunchOptions options;
    options.threads = 1;
    options.instruction_budget = 5000;
    for (int i = 0; i < 500; ++i) {
      const kernels::Variant& variant = family->variants[random() % family->variants.size()];
      if (!variant.library.empty()) continue;
      Geometry shape = variant.geometry(family->has_sizes() ? 33 : 0);
      shape.grid = {1, 1, 1};
      const TestRun run =
          run_ptx(mutated(text, variant.entry, random), variant.entry, shape, arguments, options);
      if (!run.refusal.empty()) {
        ++refused;
      } else if (run.outcome.trap) {
        ++trapped;
      } else {
        ++done;
      }
    }
  }
  // All three ends were met often, so the texts were neither broken at once nor unharmed.
  EXPECT_GT(done, 100u);
  EXPECT_GT(refused, 100u);
  EXPECT_GT(trapped, 100u);
}

}  // namespace
}  // namespace warpmeter::model
