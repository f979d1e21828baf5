// SPDX-License-Identifier: MIT
// The cost of one request with each padding, by formula where its words make runs, equals the count
// of its banks.
#include "collector/model/explain/request_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace warpmeter::model::explain {
namespace {

/// The most words that one bank holds of those that the lanes go to, each once.
unsigned counted(const Placed& access, std::uint32_t row_bytes, unsigned padding) {
  std::set<std::uint32_t> words;
  for_each_lane(access.pattern->mask, [&](unsigned lane) {
    const auto at = static_cast<std::uint32_t>(access.place + access.pattern->delta[lane]);
    words.insert(at / word + at / row_bytes * padding);
  });
  std::array<unsigned, banks> in_bank{};
  for (const std::uint32_t place : words) ++in_bank[place % banks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

TEST(RequestWords, PaddedAsCounted) {
  std::mt19937 random(1);
  const auto below = [&](unsigned number) { return static_cast<unsigned>(random() % number); };
  unsigned runs = 0;
  for (unsigned round = 0; round < 6'000; ++round) {
    // One run, two with any distance between them, or lanes that lie anyhow.
    const unsigned kind = round % 3, step = 1 + below(70), first_run = 1 + below(warp_lanes - 1);
    const unsigned gap = below(200), columns = 1 + below(80);
    LanePattern pattern;
    pattern.mask = below(4) == 0 ? static_cast<std::uint32_t>(random()) | 1u : ~0u;
    std::uint64_t at = 0;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      pattern.delta[lane] = kind == 2 ? (lane == 0 ? 0 : below(4000)) * word : at;
      at += (kind == 1 && lane + 1 == first_run ? gap : step) * word;
    }
    const Placed access{0, &pattern, below(64) * word, 1};
    const auto padded = RequestWords(access, Divisor(columns * word)).padded();
    for (unsigned padding = 0; padding <= most_padding; ++padding) {
      ASSERT_EQ(padded[padding], counted(access, columns * word, padding))
          << "round " << round << ", padding " << padding;
    }
    runs += kind < 2 ? 1 : 0;
  }
  EXPECT_EQ(runs, 4'000u);
}

// Columns of a tile, which the formula is for: two runs of half a warp in rows of a power of two.
TEST(RequestWords, ColumnsOfTilesAsCounted) {
  for (const unsigned columns : {8u, 16u, 24u, 32u, 64u}) {
    for (unsigned height = 1; height <= warp_lanes; ++height) {
      for (unsigned place = 0; place < columns; ++place) {
        LanePattern pattern;
        pattern.mask = ~0u;
        for (unsigned lane = 0; lane < warp_lanes; ++lane) {
          pattern.delta[lane] = std::uint64_t{lane % height * columns + lane / height} * word;
        }
        const Placed access{0, &pattern, place * word, 1};
        const auto padded = RequestWords(access, Divisor(columns * word)).padded();
        for (unsigned padding = 0; padding <= most_padding; ++padding) {
          ASSERT_EQ(padded[padding], counted(access, columns * word, padding))
              << columns << " columns, " << height << " high, padding " << padding;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpmeter::model::explain
