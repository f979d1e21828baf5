// SPDX-License-Identifier: MIT
#include "collector/run/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "collector/family/catalogue.h"

namespace warpmeter::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const Choice& choice) {
  std::vector<std::string> result;
  for (const Selection& selection : choice.selections) {
    for (const kernels::Variant* variant : selection.variants) {
      result.push_back(std::string(selection.family->name) + "/" + std::string(variant->name));
    }
  }
  return result;
}

Choice choose_by(std::vector<std::string> selectors, std::vector<std::int64_t> sizes = {}) {
  return choose(family::catalogue(), selectors, sizes);
}

TEST(Choose, TakesAFamilyAVariantOrAGlob) {
  EXPECT_THAT(names(choose_by({"vector_add"})),
              ElementsAre("vector_add/block_128", "vector_add/block_256"));
  EXPECT_THAT(names(choose_by({"transpose/naive"})), ElementsAre("transpose/naive"));
  EXPECT_THAT(names(choose_by({"transpose/tiled*"})),
              ElementsAre("transpose/tiled", "transpose/tiled_padded", "transpose/tiled_rows",
                          "transpose/tiled_float4"));
  EXPECT_THAT(names(choose_by({"*/naive"})), ElementsAre("matmul/naive", "transpose/naive"));
}

TEST(Choose, TakesEachVariantOnce) {
  EXPECT_THAT(names(choose_by({"transpose/naive", "transpose/n*"})),
              ElementsAre("transpose/naive"));
}

TEST(Choose, WithoutASelectorTakesEverythingAtItsDefaultSizes) {
  const Choice all = choose_by({});
  EXPECT_EQ(all.selections.size(), family::catalogue().size());
  EXPECT_TRUE(all.notes.empty());
  for (const Selection& selection : all.selections) {
    if (selection.family->has_sizes()) {
      EXPECT_EQ(selection.sizes, selection.family->sizes);
    } else {
      EXPECT_THAT(selection.sizes, ElementsAre(0));
    }
  }
}

TEST(Choose, NamesTheNearestForATypo) {
  try {
    choose_by({"transpos"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("'transpos'"));
    EXPECT_THAT(error.what(), HasSubstr("transpose"));
  }
}

TEST(Choose, SizesReplaceTheDefaultsAndEachCountsOnce) {
  EXPECT_THAT(choose_by({"matmul"}, {64, 32, 64}).selections[0].sizes, ElementsAre(32, 64));
}

TEST(Choose, AFamilyOfOneFixedSizeSaysThatItIgnoresSizes) {
  const Choice choice = choose_by({"smem_square", "matmul"}, {64});
  EXPECT_THAT(choice.notes, ElementsAre(HasSubstr("smem_square has one fixed size")));
}

TEST(Choose, CountsItsLaunches) { EXPECT_EQ(choose_by({"matmul"}, {16, 32, 48}).launches(), 18U); }

}  // namespace
}  // namespace warpmeter::run
