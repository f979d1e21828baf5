// SPDX-License-Identifier: MIT
// Inputs, geometry, references and useful work, against what a person works out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "kernels/buffers.h"
#include "kernels/family.h"
#include "kernels/shapes.h"

namespace warpmeter::kernels {
namespace {

using testing::ElementsAre;

template <class T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  return {elements<T>(bytes), elements<T>(bytes) + bytes.size() / sizeof(T)};
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
  return *find_family(family)->find(name);
}

/// Sizes around a block's edges; 0 for families with one fixed size.
std::vector<std::int64_t> sizes_to_try(const Family& family) {
  if (!family.has_sizes()) return {0};
  return {1, 2, 15, 16, 17, 31, 33, 100, 129};
}

TEST(Inputs, AreWholeNumbersFromMinusEightToEight) {
  std::map<int, int> count;
  for (std::uint64_t i = 0; i < 17'000; ++i) ++count[input_value(i, 1)];
  EXPECT_EQ(count.begin()->first, -8);
  EXPECT_EQ(count.rbegin()->first, 8);
  EXPECT_EQ(count.size(), 17U);
  for (const auto& [value, times] : count) {
    EXPECT_GT(times, 800) << value;
    EXPECT_LT(times, 1200) << value;
  }
}

TEST(Inputs, DifferFromBufferToBufferAndRowToRow) {
  // Two streams agree in one place of 17 by chance; a shifted copy of the other would agree
  // everywhere.
  for (std::uint64_t shift = 0; shift < 64; ++shift) {
    int same = 0;
    for (std::uint64_t i = 0; i < 1700; ++i) same += input_value(i, 1) == input_value(i + shift, 2);
    EXPECT_LT(same, 200) << shift;
  }
  int same = 0;
  for (std::uint64_t i = 0; i < 1700; ++i) same += input_value(i, 1) == input_value(i + 1024, 1);
  EXPECT_LT(same, 200);
}

TEST(Inputs, DoNotRepeatPastFourBillionElements) {
  int same = 0;
  for (std::uint64_t i = 0; i < 1700; ++i) {
    same += input_value(i, 1) == input_value(i + (std::uint64_t{1} << 32), 1);
  }
  EXPECT_LT(same, 1700);
}

TEST(Outputs, StartAsValuesThatNoKernelWrites) {
  EXPECT_THAT(values<std::int32_t>(output_buffer<std::int32_t>("out", 2).initial),
              ElementsAre(-1, -1));
  const float value = values<float>(output_buffer<float>("out", 1).initial)[0];
  EXPECT_TRUE(value != value);
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
    const Work work = family.work(n);
    EXPECT_GT(work.bytes_written, 0U);
    EXPECT_LE(work.bytes_read, family.footprint(n));
    EXPECT_LE(work.bytes_written, family.footprint(n));
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryProblem,
                         testing::ValuesIn(registry().begin(), registry().end()),
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

TEST(Geometry, PutsColumnsOnXAndRowsOnY) {
  EXPECT_EQ(transpose_geometry(33, 16).grid, (Dim3{3, 1, 1}));
  EXPECT_EQ(transpose_geometry(16, 33).grid, (Dim3{1, 3, 1}));
  EXPECT_EQ(transpose_geometry(1, 1).block, (Dim3{16, 16, 1}));
  EXPECT_EQ(matmul_geometry(/*m=*/17, /*n=*/64).grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(matmul_geometry(1, 1).block, (Dim3{16, 16, 1}));
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
  Problem problem = find_family("vector_add")->prepare(3);
  fill<float>(problem.buffers[1], {1, 2, 3});
  fill<float>(problem.buffers[2], {10, -20, 30});
  const auto expected = variant("vector_add", "block_128").expected(3, problem);
  EXPECT_THAT(values<float>(expected.at(0).values), ElementsAre(11, -18, 33));
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(3)), 3);
}

TEST(VectorAdd, ReadsTwoVectorsAndWritesOne) {
  const Work work = find_family("vector_add")->work(1000);
  EXPECT_EQ(work.bytes_read, 8000U);
  EXPECT_EQ(work.bytes_written, 4000U);
  EXPECT_EQ(work.flops, 1000U);
}

TEST(SmemSquare, GivesRowsBackInPlaceAndColumnsTransposed) {
  const Problem problem = find_family("smem_square")->prepare(0);
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
  const Problem problem = find_family("smem_rectangle")->prepare(0);
  const auto columns = values<std::int32_t>(
      variant("smem_rectangle", "set_row_read_col").expected(0, problem)[0].values);
  ASSERT_EQ(columns.size(), 512U);
  EXPECT_EQ(columns[0], 0);
  EXPECT_EQ(columns[1], 32);
  EXPECT_EQ(columns[15], 480);
  EXPECT_EQ(columns[16], 1);
  EXPECT_EQ(columns[511], 511);
  EXPECT_EQ(find_family("smem_rectangle")->work(0).bytes_written, 2048U);
  EXPECT_EQ(find_family("smem_square")->work(0).bytes_written, 4096U);
}

TEST(Transpose, TurnsRowsIntoColumns) {
  Problem problem = transpose_problem(/*width=*/3, /*height=*/2);
  fill<float>(problem.buffers[1], {1, 2, 3,  //
                                   4, 5, 6});
  EXPECT_THAT(values<float>(transpose_expected(problem, 3, 2).at(0).values),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(values<float>(transpose_copy_expected(problem).at(0).values),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(2)), 3);
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(3)), 2);
}

TEST(Transpose, IsRightAcrossTheReferencesOwnSquares) {
  const Problem problem = transpose_problem(70, 33);
  const float* in = elements<float>(problem.buffers[1].initial);
  const std::vector<Expected> expected = transpose_expected(problem, 70, 33);
  const float* out = elements<float>(expected[0].values);
  for (int y = 0; y < 33; ++y) {
    for (int x = 0; x < 70; ++x) ASSERT_EQ(out[x * 33 + y], in[y * 70 + x]) << x << ", " << y;
  }
}

TEST(Transpose, MovesTheMatrixOnceEachWay) {
  const Work work = find_family("transpose")->work(100);
  EXPECT_EQ(work.bytes_read, 40'000U);
  EXPECT_EQ(work.bytes_written, 40'000U);
  EXPECT_EQ(work.flops, 0U);
}

TEST(Matmul, MultipliesRowsByColumns) {
  Problem problem = matmul_problem(/*m=*/2, /*k=*/3, /*n=*/1);
  fill<float>(problem.buffers[1], {1, 2, 3,  //
                                   4, 5, 6});
  fill<float>(problem.buffers[2], {7, 8, 9});
  EXPECT_THAT(values<float>(matmul_expected(problem, 2, 3, 1).at(0).values), ElementsAre(50, 122));
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(3)), 2);
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(4)), 3);
  EXPECT_EQ(scalar<std::int32_t>(problem.arguments.at(5)), 1);
}

TEST(Matmul, IsRightInItsGroupsOfRowsAndInTheRest) {
  constexpr int m = 7, k = 5, n = 6;
  const Problem problem = matmul_problem(m, k, n);
  const float* a = elements<float>(problem.buffers[1].initial);
  const float* b = elements<float>(problem.buffers[2].initial);
  const std::vector<Expected> expected = matmul_expected(problem, m, k, n);
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += double{a[row * k + i]} * double{b[i * n + col]};
      ASSERT_EQ(elements<float>(expected[0].values)[row * n + col], sum) << row << ", " << col;
    }
  }
}

TEST(Matmul, CountsTwoFlopsAProduct) {
  const Work work = find_family("matmul")->work(10);
  EXPECT_EQ(work.bytes_read, 800U);
  EXPECT_EQ(work.bytes_written, 400U);
  EXPECT_EQ(work.flops, 2000U);
}

TEST(Matmul, StaysWithinWhatAFloatHoldsExactly) {
  EXPECT_EQ(find_family("matmul")->largest_size * 8 * 8, std::int64_t{1} << 24);
}

TEST(Reduction, SumsEachBlockIntoItsFirstElementAndLeavesTheRest) {
  Problem problem = find_family("reduction")->prepare(1026);
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
  const Work work = find_family("reduction")->work(1026);
  EXPECT_EQ(work.bytes_read, 8208U);
  EXPECT_EQ(work.bytes_written, 16U);
  EXPECT_EQ(work.flops, 1024U);
}

TEST(Reduction, CopiesTheFirstHalfOverTheSecondAsItsCeiling) {
  Problem problem = find_family("reduction")->prepare(5);
  fill<double>(problem.buffers[0], {1, 2, 3, 4, 5});
  const Variant& copy = variant("reduction", "copy");
  EXPECT_THAT(values<double>(copy.expected(5, problem).at(0).values), ElementsAre(1, 2, 1, 2, 5));
  EXPECT_EQ(copy.work(5).bytes_read, 16U);
  EXPECT_EQ(copy.work(5).bytes_written, 16U);
  EXPECT_EQ(copy.work(5).flops, 0U);
}

}  // namespace
}  // namespace warpmeter::kernels
