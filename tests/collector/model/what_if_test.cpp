// SPDX-License-Identifier: MIT
// Layouts are counted by a few accesses that stand for those alike: the same comes out as when
// every access is moved and counted.
#include "collector/model/explain/what_if.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "collector/family/catalogue.h"
#include "collector/model/explain/subject.h"
#include "collector/model/machine/access_counts.h"
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

const std::vector<std::uint32_t> usual_rows = {8, 16, 32, 36, 64, 128, 132, 256, 512};

/// How many layouts were compared.
std::size_t compare_all(const Subject& subject, const SharedArray& array, const std::string& name,
                        const std::vector<std::uint32_t>& rows = usual_rows) {
  const WhatIf what_if(subject, array);
  std::size_t compared = 0;
  std::vector<Layout> layouts = {{Layout::Kind::as_is, array.bytes, 0}};
  for (const std::uint32_t row : rows) {
    for (const Layout& layout : what_if.layouts(row)) layouts.push_back(layout);
  }
  for (const Layout& layout : layouts) {
    const LayoutCost* cost = what_if.cost(layout);
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
    pattern.delta[lane] = std::uint64_t{element} * width - first;
  });
  place = first;
  return pattern;
}

/// A load, store or atomic of any width, as the machine may make it.
SiteInfo random_site(std::mt19937& random, unsigned narrowest) {
  SiteInfo site;
  site.space = AddressSpace::shared;
  site.width = static_cast<std::uint8_t>(std::min(16u, narrowest << random() % 3));
  site.alignment = site.width;
  site.kind = random() % 2 == 0 ? AccessKind::load : AccessKind::store;
  Request request;
  request.width = site.width;
  switch (random() % 8) {
    case 0:  // atomics are of four bytes and more
      if (site.width != 4 && site.width != 8) break;
      site.kind = AccessKind::reduction;
      request.is_elected = random() % 2 == 0;
      break;
    case 1:  // a merge with its neighbours
      request.width = static_cast<std::uint8_t>(std::min(16u, 2u * site.width));
      request.is_window = true;
      break;
    case 2:  // the second one of two that the first one's address leads to
      request.offset = static_cast<std::int8_t>(site.width);
      break;
    default:
      break;
  }
  site.requests.push_back(request);
  return site;
}

TEST(WhatIf, CountsSitesOfAnyWidthInRowsOfAnyLengthAsEachByItself) {
  std::mt19937 random(11);
  std::size_t compared = 0;
  for (int round = 0; round < 300; ++round) {
    const unsigned narrowest = 1u << random() % 5;
    Program program;
    for (int i = 0; i < 3; ++i) program.sites.push_back(random_site(random, narrowest));
    program.places.resize(1);
    LaunchOutcome outcome;
    outcome.counts.resize(program.sites.size());
    outcome.recording.emplace(program.sites.size(), 1);
    const Geometry geometry;
    const Options options;
    const Subject subject(program, geometry, outcome, options);
    SharedArray array;
    array.sites = {0, 1, 2};
    array.bytes = array.declared = 16 * (20 + random() % 300);
    const std::uint32_t elements[] = {0, 0, 8, 12, 16};
    array.element_bytes = elements[random() % 5];
    std::vector<LanePattern> patterns(5);
    for (LanePattern& pattern : patterns) {
      Placed placed;
      placed.site = random() % 3;
      const SiteInfo& site = subject.site(placed.site);
      const auto reach = static_cast<std::uint32_t>(site.requests[0].offset);
      pattern = random_pattern(random, array.bytes - reach, site.width, placed.place);
      placed.pattern = &pattern;
      placed.times = 1 + random() % 5;
      array.accesses.push_back(placed);
      // The same lanes from other places on, as the warps of a block have them.
      std::uint32_t lowest = array.bytes, highest = 0;
      for_each_lane(pattern.mask, [&](unsigned lane) {
        const auto at = static_cast<std::uint32_t>(placed.place + pattern.delta[lane]);
        lowest = std::min(lowest, at);
        highest = std::max(highest, at + site.width + reach);
      });
      const std::uint32_t room = lowest + (array.bytes - highest);
      for (int other = 0; other < 3; ++other) {
        Placed moved = placed;
        moved.place +=
            room > 0 ? static_cast<std::uint32_t>(random() % room) / site.width * site.width : 0;
        moved.place -= lowest / site.width * site.width;
        array.accesses.push_back(moved);
      }
    }
    std::stable_sort(array.accesses.begin(), array.accesses.end(),
                     [](const Placed& a, const Placed& b) { return a.site < b.site; });
    std::vector<std::uint32_t> rows = usual_rows;
    for (int i = 0; i < 4; ++i) {
      rows.push_back(static_cast<std::uint32_t>(1 + random() % 700));
      rows.push_back(static_cast<std::uint32_t>(4 * (1 + random() % 200)));
    }
    compared += compare_all(subject, array, "round " + std::to_string(round), rows);
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 20'000U);
}

struct Chosen {
  const char* family;
  const char* variant;
};
class WhatIfOf : public testing::TestWithParam<Chosen> {};

TEST_P(WhatIfOf, CountsAccessesThatAreAlikeOnceAndGetsTheSame) {
  const Chosen chosen = GetParam();
  for (const kernels::Family* family : family::catalogue()) {
    if (family->name != chosen.family) continue;
    const std::int64_t size = family->has_sizes() ? family->sizes.front() : 0;
    const kernels::Problem problem = family->prepare(size);
    for (const kernels::Variant& variant : family->variants) {
      if (variant.name != chosen.variant) continue;
      auto prepared = prepare_launch(*variant.image, variant.entry, problem);
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
