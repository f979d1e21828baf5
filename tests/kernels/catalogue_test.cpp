// SPDX-License-Identifier: MIT
// The catalogue, and what every family in it promises to its users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "collector/family/catalogue.h"

namespace warpmeter::kernels {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> names_of(const Family& family) {
  std::vector<std::string_view> names;
  for (const Variant& variant : family.variants) names.push_back(variant.name);
  return names;
}

TEST(Catalogue, HoldsEveryFamilySortedByName) {
  std::vector<std::string_view> names;
  for (const Family* family : family::catalogue()) names.push_back(family->name);
  EXPECT_THAT(names, ElementsAre("matmul", "reduction", "smem_rectangle", "smem_square",
                                 "transpose", "vector_add"));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(Catalogue, FindsAFamilyByItsWholeName) {
  ASSERT_NE(family::find_in_catalogue("transpose"), nullptr);
  EXPECT_EQ(family::find_in_catalogue("transpose")->name, "transpose");
  EXPECT_EQ(family::find_in_catalogue("transp"), nullptr);
  EXPECT_EQ(family::find_in_catalogue(""), nullptr);
}

TEST(Catalogue, NamesTheVariantsThatPeopleKnow) {
  EXPECT_THAT(names_of(*family::find_in_catalogue("vector_add")),
              ElementsAre("block_128", "block_256"));
  EXPECT_THAT(
      names_of(*family::find_in_catalogue("smem_square")),
      ElementsAre("set_row_read_row", "set_col_read_col", "set_row_read_col",
                  "set_row_read_col_dyn", "set_row_read_col_pad", "set_row_read_col_dyn_pad"));
  EXPECT_THAT(names_of(*family::find_in_catalogue("smem_rectangle")),
              ElementsAre("set_row_read_row", "set_row_read_row2", "set_col_read_col",
                          "set_col_read_col2", "set_row_read_col", "set_row_read_col_dyn",
                          "set_row_read_col_pad1", "set_row_read_col_pad2",
                          "set_row_read_col_dyn_pad1", "set_row_read_col_dyn_pad2"));
  EXPECT_THAT(names_of(*family::find_in_catalogue("transpose")),
              ElementsAre("copy", "naive", "tiled", "tiled_padded", "tiled_rows", "tiled_float4",
                          "copy_float4"));
  EXPECT_THAT(names_of(*family::find_in_catalogue("matmul")),
              ElementsAre("naive", "tiled_16", "registers_64x64", "registers_64x128",
                          "registers_128x128", "cublas"));
  EXPECT_THAT(names_of(*family::find_in_catalogue("reduction")),
              ElementsAre("neighbored_divergent", "neighbored_strided", "interleaved", "first_add",
                          "shuffle", "shuffle_double2", "copy"));
}

TEST(Catalogue, MeasuresTheseSizesByDefault) {
  EXPECT_THAT(family::find_in_catalogue("vector_add")->sizes, ElementsAre(1'048'576));
  EXPECT_THAT(family::find_in_catalogue("transpose")->sizes, ElementsAre(1024, 4096));
  EXPECT_THAT(family::find_in_catalogue("matmul")->sizes, ElementsAre(256, 1024));
  EXPECT_THAT(family::find_in_catalogue("reduction")->sizes, ElementsAre(65'536, 4'194'304));
  EXPECT_FALSE(family::find_in_catalogue("smem_square")->has_sizes());
  EXPECT_FALSE(family::find_in_catalogue("smem_rectangle")->has_sizes());
}

TEST(Family, FindsAVariantByItsName) {
  const Family& transpose = *family::find_in_catalogue("transpose");
  ASSERT_NE(transpose.find("naive"), nullptr);
  EXPECT_EQ(transpose.find("naive")->entry, "transpose_naive");
  EXPECT_EQ(transpose.find("naiv"), nullptr);
}

TEST(Family, ComparesTransposesAndSumsWithCopiesAndProductsWithALibrary) {
  EXPECT_THAT(family::find_in_catalogue("transpose")->ceilings, ElementsAre("copy_float4"));
  EXPECT_THAT(family::find_in_catalogue("reduction")->ceilings, ElementsAre("copy"));
  EXPECT_THAT(family::find_in_catalogue("matmul")->ceilings, ElementsAre("cublas"));
  for (const Family* family : family::catalogue()) {
    for (const std::string& ceiling : family->ceilings) {
      EXPECT_NE(family->find(ceiling), nullptr) << family->name;
      EXPECT_TRUE(family->is_ceiling(ceiling)) << family->name;
    }
  }
}

TEST(Element, KnowsItsSize) {
  EXPECT_EQ(bytes_of(Element::i32), 4U);
  EXPECT_EQ(bytes_of(Element::f32), 4U);
  EXPECT_EQ(bytes_of(Element::f64), 8U);
}

TEST(Relation, HasASymbol) {
  EXPECT_EQ(symbol(Relation::equal), "==");
  EXPECT_EQ(symbol(Relation::less_equal), "<=");
  EXPECT_EQ(symbol(Relation::greater_equal), ">=");
}

class EveryFamily : public testing::TestWithParam<const Family*> {};

TEST_P(EveryFamily, IsComplete) {
  const Family& family = *GetParam();
  EXPECT_FALSE(family.summary.empty());
  EXPECT_NE(family.footprint, nullptr);
  EXPECT_NE(family.prepare, nullptr);
  EXPECT_EQ(family.has_sizes(), !family.sizes.empty());
  for (const std::int64_t size : family.sizes) EXPECT_LE(size, family.largest_size);
  for (const Variant& variant : family.variants) {
    EXPECT_NE(variant.geometry, nullptr) << variant.name;
    EXPECT_EQ(variant.image == nullptr, !variant.library.empty()) << variant.name;
    EXPECT_NE(variant.expected, nullptr) << variant.name;
    EXPECT_EQ(variant.expected_from, "the CPU reference") << variant.name;
    EXPECT_NE(variant.work, nullptr) << variant.name;
    // The cost of a library's kernels is the library's affair.
    EXPECT_EQ(variant.expectations.empty(), !variant.library.empty()) << variant.name;
  }
}

TEST_P(EveryFamily, NamesEachVariantOnce) {
  std::set<std::string_view> names;
  for (const Variant& variant : GetParam()->variants) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
  }
}

TEST_P(EveryFamily, FitsAGridAtItsLargestSize) {
  const Family& family = *GetParam();
  for (const Variant& variant : family.variants) {
    const Geometry geometry = variant.geometry(family.largest_size);
    EXPECT_LE(geometry.grid.x, 2'147'483'647U) << variant.name;
    EXPECT_LE(geometry.grid.y, 65'535U) << variant.name;
    EXPECT_LE(geometry.block.count(), 1024U) << variant.name;
    EXPECT_LE(geometry.dynamic_shared_bytes, 48U * 1024) << variant.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryFamily,
                         testing::ValuesIn(family::catalogue().begin(), family::catalogue().end()),
                         [](const auto& instance) { return std::string(instance.param->name); });

}  // namespace
}  // namespace warpmeter::kernels
