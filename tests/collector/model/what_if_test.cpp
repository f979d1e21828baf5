// Layouts are counted by a few accesses that stand for those alike: the same comes out as when
// every access is moved and counted.
#include "collector/model/explain/what_if.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "collector/model/explain/subject.h"
#include "collector/model/machine/access_counts.h"
#include "kernels/family.h"
#include "tests/collector/model/prepared_launch.h"

namespace warpmeter::model::explain {
namespace {

/// Every access moved and counted by itself.
std::uint64_t wavefronts_of_each(const Subject& subject, const SharedArray& array,
                                 const WhatIf& what_if, const Layout& layout) {
  std::uint64_t sum = 0;
  for (const Placed& access : array.accesses) {
    for (const WarpAccess& request : what_if.requests(layout, access)) {
      sum += wavefronts_of(subject.site(access.site), request).transactions * access.times;
    }
  }
  return sum;
}

/// How many layouts were compared.
std::size_t compare_all(const Subject& subject, const SharedArray& array, const std::string& name) {
  const WhatIf what_if(subject, array);
  std::size_t compared = 0;
  std::vector<Layout> layouts = {{Layout::Kind::as_is, array.bytes, 0}};
  for (const std::uint32_t row : {8u, 16u, 32u, 36u, 64u, 128u, 132u, 256u, 512u}) {
    for (const Layout& layout : what_if.layouts(row)) layouts.push_back(layout);
  }
  for (const Layout& layout : layouts) {
    const auto cost = what_if.cost(layout);
    if (!cost) continue;
    ++compared;
    EXPECT_EQ(cost->wavefronts(), wavefronts_of_each(subject, array, what_if, layout))
        << name << ", " << layout.name() << " of rows of " << layout.row;
  }
  return compared;
}

/// A warp in rows, columns, diagonals or in no order, anywhere in the array.
LanePattern random_pattern(std::mt19937& random, std::uint32_t bytes, unsigned width,
                           std::uint32_t& place) {
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  LanePattern pattern;
  pattern.space = AddressSpace::shared;
  const std::uint32_t few = 1u << below(32) | 1u << below(32), kind = below(4);
  pattern.mask = kind == 0 ? static_cast<std::uint32_t>(random()) | few : kind == 1 ? few : ~0u;
  const std::uint32_t elements = bytes / width, begin = below(elements), way = below(4);
  const std::uint32_t steps[] = {1, 32, 33, 16, 31, 64, 8, 0};
  const std::uint32_t step = steps[below(8)];
  std::uint32_t first = ~0u;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    const std::uint32_t element = way == 0 ? below(elements) : (begin + lane * step) % elements;
    if (first == ~0u) first = element * width;
    pattern.delta[lane] = element * width - first;
  });
  place = first;
  return pattern;
}

struct Chosen {
  const char* family;
  const char* variant;
};
class WhatIfOf : public testing::TestWithParam<Chosen> {};

TEST_P(WhatIfOf, CountsAccessesThatAreAlikeOnceAndGetsTheSame) {
  const Chosen chosen = GetParam();
  for (const kernels::Family* family : kernels::registry()) {
    if (family->name != chosen.family) continue;
    const std::int64_t size = family->has_sizes() ? family->sizes.front() : 0;
    const kernels::Problem problem = family->prepare(size);
    for (const kernels::Variant& variant : family->variants) {
      if (variant.name != chosen.variant) continue;
      auto prepared = prepare_launch(*family->image, variant.entry, problem);
      const Geometry geometry = variant.geometry(size);
      LaunchOptions options;
      options.records = true;
      const LaunchOutcome outcome =
          launch(prepared->program, geometry, prepared->parameters, prepared->memory, options);
      const Options explaining;
      const Subject subject(prepared->program, geometry, outcome, explaining);
      std::vector<SharedArray> arrays = shared_arrays(subject);
      ASSERT_FALSE(arrays.empty());
      std::size_t compared = 0;
      std::mt19937 random(7);
      for (SharedArray& array : arrays) {
        complete(subject, array);
        compared += compare_all(subject, array, "as recorded");
        // Other warps at the same instructions.
        array.bytes = 4096, array.is_whole = true;
        for (int round = 0; round < 20; ++round) {
          std::vector<LanePattern> patterns(6);
          array.accesses.clear();
          for (LanePattern& pattern : patterns) {
            Placed placed;
            placed.site = array.sites[random() % array.sites.size()];
            pattern =
                random_pattern(random, array.bytes, subject.site(placed.site).width, placed.place);
            placed.pattern = &pattern;
            placed.times = 1 + random() % 5;
            array.accesses.push_back(placed);
          }
          compared += compare_all(subject, array, "round " + std::to_string(round));
        }
      }
      EXPECT_GT(compared, 500U);
      return;
    }
  }
  FAIL() << "there is no such variant";
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, WhatIfOf,
    testing::Values(Chosen{"smem_square", "set_row_read_col"},
                    Chosen{"smem_rectangle", "set_row_read_col_dyn"},
                    Chosen{"transpose", "tiled_padded"}, Chosen{"transpose", "tiled_float4"},
                    Chosen{"reduction", "shuffle_double2"}, Chosen{"matmul", "registers_64x64"}),
    [](const auto& info) { return std::string(info.param.family) + "_" + info.param.variant; });

}  // namespace
}  // namespace warpmeter::model::explain
