// SPDX-License-Identifier: MIT
// Inputs, geometry, references and useful work, against what a person works out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/small_values.h"
#include "collector/family/catalogue.h"
#include "kernels/references.h"

namespace warpmeter::kernels {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  std::vector<T> all(bytes.size() / sizeof(T));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

/// The result of a reference, from floats.
std::vector<float> computed(std::string_view name, const std::vector<std::vector<float>>& buffers,
                            const std::vector<std::int64_t>& numbers, std::size_t count) {
  ReferenceArguments arguments{Element::f32, {}, numbers, count};
  for (const std::vector<float>& buffer : buffers) {
    arguments.buffers.push_back(reinterpret_cast<const std::byte*>(buffer.data()));
  }
  const Reference& reference = *find_reference(name);
  const std::vector<std::uint64_t> sizes = reference.sizes(arguments);
  EXPECT_EQ(sizes.at(0), count);
  for (std::size_t i = 0; i < buffers.size(); ++i) EXPECT_EQ(sizes.at(i + 1), buffers[i].size());
  std::vector<std::byte> result(count * sizeof(float));
  reference.compute(arguments, result.data());
  return values<float>(result);
}

std::vector<float> small_floats(std::uint64_t count, std::uint32_t seed) {
  std::vector<float> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(static_cast<float>(small_value(i, seed)));
  return all;
}

template <class T>
void fill(Buffer& buffer, const std::vector<T>& with) {
  ASSERT_EQ(buffer.initial.size(), with.size() * sizeof(T));
  std::memcpy(buffer.initial.data(), with.data(), buffer.initial.size());
}

template <class T>
T scalar(const Argument& argument) {
  const auto& given = std::get<ScalarArgument>(argument);
  EXPECT_EQ(given.bytes.size(), sizeof(T));
  T value;
  std::memcpy(&value, given.bytes.data(), sizeof(T));
  return value;
}

bool operator==(const Problem& a, const Problem& b) {
  return std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), b.buffers.end(),
                    [](const Buffer& x, const Buffer& y) {
                      return x.name == y.name && x.type == y.type && x.initial == y.initial;
                    });
}

const Variant& variant(std::string_view family, std::string_view name) {
  return *family::find_in_catalogue(family)->find(name);
}

/// Sizes around a block's edges; 0 for families with one fixed size.
std::vector<std::int64_t> sizes_to_try(const Family& family) {
  if (!family.has_sizes()) return {0};
  return {1, 2, 15, 16, 17, 31, 33, 100, 129};
}

TEST(Inputs, AreWholeNumbersFromMinusEightToEight) {
  std::map<int, int> count;
  for (std::uint64_t i = 0; i < 17'000; ++i) ++count[small_value(i, 1)];
  EXPECT_EQ(count.begin()->first, -8);
  EXPECT_EQ(count.rbegin()->first, 8);
  EXPECT_EQ(count.size(), 17U);
  for (const auto& [value, times] : count) {
    EXPECT_GT(times, 800) << value;
    EXPECT_LT(times, 1200) << value;
  }
}

TEST(Inputs, AreTheseOnEveryMachine) {
  const Problem floats = family::find_in_catalogue("vector_add")->prepare(8);
  EXPECT_THAT(values<float>(floats.buffers[1].initial), ElementsAre(6, 6, -3, 2, 7, -5, -5, 2));
  EXPECT_THAT(values<float>(floats.buffers[2].initial), ElementsAre(-7, 2, -5, 4, -1, -4, 0, 7));
  const Problem doubles = family::find_in_catalogue("reduction")->prepare(8);
  EXPECT_THAT(values<double>(doubles.buffers[0].initial), ElementsAre(6, 6, -3, 2, 7, -5, -5, 2));
}

TEST(Inputs, DifferFromBufferToBufferAndRowToRow) {
  // Two streams agree in one place of 17 by chance; a shifted copy of the other would agree
  // everywhere.
  for (std::uint64_t shift = 0; shift < 64; ++shift) {
    int same = 0;
    for (std::uint64_t i = 0; i < 1700; ++i) same += small_value(i, 1) == small_value(i + shift, 2);
    EXPECT_LT(same, 200) << shift;
  }
  int same = 0;
  for (std::uint64_t i = 0; i < 1700; ++i) same += small_value(i, 1) == small_value(i + 1024, 1);
  EXPECT_LT(same, 200);
}

TEST(Inputs, DoNotRepeatPastFourBillionElements) {
  int same = 0;
  for (std::uint64_t i = 0; i < 1700; ++i) {
    same += small_value(i, 1) == small_value(i + (std::uint64_t{1} << 32), 1);
  }
  EXPECT_LT(same, 1700);
}

TEST(Outputs, StartAsValuesThatNoKernelWrites) {
  const Problem ints = family::find_in_catalogue("smem_square")->prepare(0);
  EXPECT_THAT(values<std::int32_t>(ints.buffers[0].initial), testing::Each(-1));
  const Problem floats = family::find_in_catalogue("vector_add")->prepare(2);
  for (const float value : values<float>(floats.buffers[0].initial)) EXPECT_TRUE(value != value);
}

class EveryProblem : public testing::TestWithParam<const Family*> {};

TEST_P(EveryProblem, IsTheSameEachTime) {
  const Family& family = *GetParam();
  for (const std::int64_t n : sizes_to_try(family)) {
    EXPECT_TRUE(family.prepare(n) == family.prepare(n)) << n;
  }
}

TEST_P(EveryProblem, TakesAsManyBytesAsItSays) {
  const Family& family = *GetParam();
  for (const std::int64_t n : sizes_to_try(family)) {
    std::uint64_t bytes = 0;
    for (const Buffer& buffer : family.prepare(n).buffers) bytes += buffer.initial.size();
    EXPECT_EQ(family.footprint(n), bytes) << n;
  }
}

TEST_P(EveryProblem, SaysItsFootprintWithoutOverflowUpToTheLargestSize) {
  const Family& family = *GetParam();
  if (!family.has_sizes()) return;
  EXPECT_GT(family.footprint(family.largest_size), family.footprint(family.largest_size - 1));
  EXPECT_GT(family.footprint(family.largest_size), static_cast<std::uint64_t>(family.largest_size));
}

TEST_P(EveryProblem, PassesEachBufferOnce) {
  const Family& family = *GetParam();
  const Problem problem = family.prepare(family.has_sizes() ? 33 : 0);
  std::multiset<std::size_t> passed;
  for (const Argument& argument : problem.arguments) {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument)) passed.insert(buffer->index);
  }
  std::multiset<std::size_t> all;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) all.insert(i);
  EXPECT_EQ(passed, all);
}

TEST_P(EveryProblem, ExpectsWholeBuffers) {
  const Family& family = *GetParam();
  for (const std::int64_t n : sizes_to_try(family)) {
    const Problem problem = family.prepare(n);
    for (const Variant& each : family.variants) {
      const std::vector<Expected> expected = each.expected(n, problem);
      ASSERT_FALSE(expected.empty());
      for (const Expected& buffer : expected) {
        ASSERT_LT(buffer.buffer, problem.buffers.size());
        EXPECT_EQ(buffer.values.size(), problem.buffers[buffer.buffer].initial.size())
            << each.name << " " << n;
      }
    }
  }
}

TEST_P(EveryProblem, MovesNoMoreThanItsBuffersHold) {
  const Family& family = *GetParam();
  for (const std::int64_t n : sizes_to_try(family)) {
    for (const Variant& each : family.variants) {
      const Work work = each.work(n);
      EXPECT_LE(work.bytes_read, family.footprint(n));
      EXPECT_LE(work.bytes_written, family.footprint(n));
      const bool writes_nothing = each.name == "copy" && n == 1;  // half of one element
      EXPECT_EQ(work.bytes_written == 0, writes_nothing && family.name == "reduction");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryProblem,
                         testing::ValuesIn(family::catalogue().begin(), family::catalogue().end()),
                         [](const auto& instance) { return std::string(instance.param->name); });

TEST(Geometry, CoversEveryElementWithFewestBlocks) {
  for (const char* name : {"block_128", "block_256"}) {
    const std::uint32_t block = name == std::string("block_128") ? 128 : 256;
    for (const std::int64_t n : {1, 127, 128, 129, 256, 257, 1'048'576}) {
      const Geometry geometry = variant("vector_add", name).geometry(n);
      EXPECT_EQ(geometry.block, (Dim3{block, 1, 1}));
      EXPECT_GE(geometry.grid.count() * block, static_cast<std::uint64_t>(n));
      EXPECT_LT((geometry.grid.count() - 1) * block, static_cast<std::uint64_t>(n));
    }
  }
  EXPECT_EQ(variant("reduction", "interleaved").geometry(1).grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(variant("reduction", "interleaved").geometry(1025).grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(variant("reduction", "interleaved").geometry(2'147'483'647).grid,
            (Dim3{1 << 21, 1, 1}));
}

TEST(Geometry, CoversTheMatrixWithTilesOfManySizes) {
  const auto grid = [](std::string_view family, std::string_view name, std::int64_t n) {
    return variant(family, name).geometry(n).grid;
  };
  EXPECT_EQ(grid("transpose", "tiled_rows", 33), (Dim3{2, 2, 1}));
  EXPECT_EQ(grid("transpose", "tiled_float4", 64), (Dim3{1, 1, 1}));
  EXPECT_EQ(grid("transpose", "tiled_float4", 65), (Dim3{2, 2, 1}));
  EXPECT_EQ(grid("transpose", "copy_float4", 33), (Dim3{2, 1, 1}));
  EXPECT_EQ(grid("matmul", "registers_64x64", 65), (Dim3{2, 2, 1}));
  EXPECT_EQ(grid("matmul", "registers_64x128", 129), (Dim3{2, 3, 1}));
  EXPECT_EQ(grid("matmul", "registers_128x128", 129), (Dim3{2, 2, 1}));
  EXPECT_EQ(grid("reduction", "copy", 1), (Dim3{1, 1, 1}));
  EXPECT_EQ(grid("reduction", "copy", 1026), (Dim3{2, 1, 1}));
}

TEST(Geometry, GivesDynamicTilesTheSizeOfTheStaticOnes) {
  const auto dynamic = [](std::string_view family, std::string_view name) {
    return variant(family, name).geometry(0).dynamic_shared_bytes;
  };
  EXPECT_EQ(dynamic("smem_square", "set_row_read_col"), 0U);
  EXPECT_EQ(dynamic("smem_square", "set_row_read_col_dyn"), 4U * 32 * 32);
  EXPECT_EQ(dynamic("smem_square", "set_row_read_col_dyn_pad"), 4U * 32 * 33);
  EXPECT_EQ(dynamic("smem_rectangle", "set_row_read_col_pad2"), 0U);
  EXPECT_EQ(dynamic("smem_rectangle", "set_row_read_col_dyn"), 4U * 16 * 32);
  EXPECT_EQ(dynamic("smem_rectangle", "set_row_read_col_dyn_pad1"), 4U * 16 * 33);
  EXPECT_EQ(dynamic("smem_rectangle", "set_row_read_col_dyn_pad2"), 4U * 16 * 34);
}

TEST(Geometry, RunsATileInOneBlock) {
  EXPECT_EQ(variant("smem_square", "set_row_read_row").geometry(0).grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(variant("smem_square", "set_row_read_row").geometry(0).block, (Dim3{32, 32, 1}));
  EXPECT_EQ(variant("smem_rectangle", "set_row_read_row").geometry(0).grid, (Dim3{1, 1, 1}));
  EXPECT_EQ(variant("smem_rectangle", "set_row_read_row").geometry(0).block, (Dim3{32, 16, 1}));
}

TEST(VectorAdd, AddsElementByElement) {
  Problem problem = family::find_in_catalogue("vector_add")->prepare(3);
  fill<float>(problem.buffers[1], {1, 2, 3});
  fill<float>(problem.buffers[2], {10, -20, 30});
  const auto expected = variant("vector_add", "block_128").expected(3, problem);
  EXPECT_THAT(values<float>(expected.at(0).values), ElementsAre(11, -18, 33));
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(3)), 3);
}

TEST(VectorAdd, ReadsTwoVectorsAndWritesOne) {
  const Work work = variant("vector_add", "block_128").work(1000);
  EXPECT_EQ(work.bytes_read, 8000U);
  EXPECT_EQ(work.bytes_written, 4000U);
  EXPECT_EQ(work.flops, 1000U);
}

TEST(SmemSquare, GivesRowsBackInPlaceAndColumnsTransposed) {
  const Problem problem = family::find_in_catalogue("smem_square")->prepare(0);
  const auto rows = values<std::int32_t>(
      variant("smem_square", "set_row_read_row").expected(0, problem)[0].values);
  EXPECT_EQ(rows[0], 0);
  EXPECT_EQ(rows[33], 33);
  EXPECT_EQ(rows[1023], 1023);
  const auto columns = values<std::int32_t>(
      variant("smem_square", "set_row_read_col").expected(0, problem)[0].values);
  EXPECT_EQ(columns[0], 0);
  EXPECT_EQ(columns[1], 32);
  EXPECT_EQ(columns[32], 1);
  EXPECT_EQ(columns[1022], 30 * 32 + 31);
  EXPECT_EQ(columns[1023], 1023);
}

TEST(SmemRectangle, GivesColumnsOfSixteenOneAfterTheOther) {
  const Problem problem = family::find_in_catalogue("smem_rectangle")->prepare(0);
  const auto columns = values<std::int32_t>(
      variant("smem_rectangle", "set_row_read_col").expected(0, problem)[0].values);
  ASSERT_EQ(columns.size(), 512U);
  EXPECT_EQ(columns[0], 0);
  EXPECT_EQ(columns[1], 32);
  EXPECT_EQ(columns[15], 480);
  EXPECT_EQ(columns[16], 1);
  EXPECT_EQ(columns[511], 511);
  EXPECT_EQ(variant("smem_rectangle", "set_row_read_col").work(0).bytes_written, 2048U);
  EXPECT_EQ(variant("smem_square", "set_row_read_col").work(0).bytes_written, 4096U);
}

TEST(Transpose, TurnsRowsIntoColumns) {
  const std::vector<float> in = {1, 2, 3,  //
                                 4, 5, 6};
  EXPECT_THAT(computed("transpose", {in}, {/*width=*/3, /*height=*/2}, 6),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(computed("copy", {in}, {}, 6), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Transpose, IsRightAcrossTheReferencesOwnSquares) {
  const std::vector<float> in = small_floats(70 * 33, 1);
  const std::vector<float> out = computed("transpose", {in}, {70, 33}, 70 * 33);
  for (std::size_t y = 0; y < 33; ++y) {
    for (std::size_t x = 0; x < 70; ++x)
      ASSERT_EQ(out[x * 33 + y], in[y * 70 + x]) << x << ", " << y;
  }
}

TEST(Transpose, MovesTheMatrixOnceEachWay) {
  const Work work = variant("transpose", "naive").work(100);
  EXPECT_EQ(work.bytes_read, 40'000U);
  EXPECT_EQ(work.bytes_written, 40'000U);
  EXPECT_EQ(work.flops, 0U);
}

TEST(References, TakeOtherTypesThanFloat) {
  const auto result = [](std::string_view name, Element type, const auto& in,
                         std::vector<std::int64_t> numbers) {
    auto out = in;
    ReferenceArguments arguments{type, {}, std::move(numbers), in.size()};
    const Reference& reference = *find_reference(name);
    EXPECT_TRUE(reference.takes(type));
    arguments.buffers.assign(reference.buffers, reinterpret_cast<const std::byte*>(in.data()));
    reference.compute(arguments, reinterpret_cast<std::byte*>(out.data()));
    return out;
  };
  using Bytes = std::vector<std::uint8_t>;
  using Ints = std::vector<std::int32_t>;
  EXPECT_THAT(result("transpose", Element::u8, Bytes{1, 2, 3, 4}, {2, 2}), ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(result("transpose", Element::i64, std::vector<std::int64_t>{1, -2, 3}, {3, 1}),
              ElementsAre(1, -2, 3));
  EXPECT_THAT(result("add", Element::i32, Ints{1 << 30, -5}, {}),
              ElementsAre(std::numeric_limits<std::int32_t>::min(), -10));
  EXPECT_THAT(result("iota", Element::u8, Bytes{9, 9, 9}, {}), ElementsAre(0, 1, 2));
  EXPECT_FALSE(find_reference("add")->takes(Element::f16));
}

TEST(Matmul, MultipliesRowsByColumns) {
  const std::vector<float> a = {1, 2, 3,  //
                                4, 5, 6};
  EXPECT_THAT(computed("matmul", {a, {7, 8, 9}}, {/*m=*/2, /*k=*/3, /*n=*/1}, 2),
              ElementsAre(50, 122));
}

TEST(Matmul, IsRightInItsGroupsOfRowsAndInTheRest) {
  constexpr std::size_t m = 7, k = 5, n = 6;
  const std::vector<float> a = small_floats(m * k, 1), b = small_floats(k * n, 2);
  const std::vector<float> c = computed("matmul", {a, b}, {m, k, n}, m * n);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t col = 0; col < n; ++col) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += double{a[row * k + i]} * double{b[i * n + col]};
      ASSERT_EQ(c[row * n + col], sum) << row << ", " << col;
    }
  }
}

TEST(Matmul, CountsTwoFlopsAProduct) {
  const Work work = variant("matmul", "naive").work(10);
  EXPECT_EQ(work.bytes_read, 800U);
  EXPECT_EQ(work.bytes_written, 400U);
  EXPECT_EQ(work.flops, 2000U);
}

TEST(Matmul, StaysWithinWhatAFloatHoldsExactly) {
  EXPECT_EQ(family::find_in_catalogue("matmul")->largest_size * 8 * 8, std::int64_t{1} << 24);
}

TEST(Reduction, SumsEachBlockIntoItsFirstElementAndLeavesTheRest) {
  Problem problem = family::find_in_catalogue("reduction")->prepare(1026);
  fill<double>(problem.buffers[0], std::vector<double>(1026, 2));
  const auto data =
      values<double>(variant("reduction", "interleaved").expected(1026, problem).at(0).values);
  EXPECT_EQ(data[0], 2048);
  EXPECT_EQ(data[1], 2);
  EXPECT_EQ(data[1023], 2);
  EXPECT_EQ(data[1024], 4);
  EXPECT_EQ(data[1025], 2);
}

TEST(Reduction, WritesOneSumABlock) {
  const Work work = variant("reduction", "interleaved").work(1026);
  EXPECT_EQ(work.bytes_read, 8208U);
  EXPECT_EQ(work.bytes_written, 16U);
  EXPECT_EQ(work.flops, 1024U);
}

TEST(Reduction, CopiesTheFirstHalfOverTheSecondAsItsCeiling) {
  Problem problem = family::find_in_catalogue("reduction")->prepare(5);
  fill<double>(problem.buffers[0], {1, 2, 3, 4, 5});
  const Variant& copy = variant("reduction", "copy");
  EXPECT_THAT(values<double>(copy.expected(5, problem).at(0).values), ElementsAre(1, 2, 1, 2, 5));
  EXPECT_EQ(copy.work(5).bytes_read, 16U);
  EXPECT_EQ(copy.work(5).bytes_written, 16U);
  EXPECT_EQ(copy.work(5).flops, 0U);
}

}  // namespace
}  // namespace warpmeter::kernels
