// SPDX-License-Identifier: MIT
// Matrix products: every element of a and b is needed many times, and the question is from where.
// cuBLAS, where it is installed, says how fast the machine can do it: the ceiling.
#include <algorithm>
#include <cstdint>

#include "kernels/buffers.h"
#include "kernels/images.h"
#include "kernels/shapes.h"

namespace warpmeter::kernels {

namespace {

enum : std::size_t { buffer_c, buffer_a, buffer_b };

constexpr std::int32_t tile_side = 16;
// 2^24 is the last whole number up to which a float holds all; a product of inputs is at most 8
// × 8.
constexpr std::int64_t largest_exact = (std::int64_t{1} << 24) / (largest_input * largest_input);

std::uint64_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
}

/// Adds rows [row, row + count) of a × b to c. Four rows at a time, so that a row of b is fetched
/// once for all of them; the inner loop runs along rows, and the compiler vectorises it.
template <int count>
void add_rows(float* __restrict c, const float* __restrict a, const float* __restrict b,
              std::int64_t row, std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < k; ++i) {
    const float* __restrict b_row = b + i * n;
    for (std::int64_t j = 0; j < n; ++j) {
      for (int r = 0; r < count; ++r) c[(row + r) * n + j] += a[(row + r) * k + i] * b_row[j];
    }
  }
}

}  // namespace

Problem matmul_problem(std::int32_t m, std::int32_t k, std::int32_t n) {
  Problem problem;
  problem.buffers.push_back(output_buffer<float>("c", product(m, n)));
  problem.buffers.push_back(input_buffer<float>("a", product(m, k), 1));
  problem.buffers.push_back(input_buffer<float>("b", product(k, n), 2));
  problem.arguments = {BufferArgument{buffer_c}, BufferArgument{buffer_a}, BufferArgument{buffer_b},
                       ScalarArgument::of(m),    ScalarArgument::of(k),    ScalarArgument::of(n)};
  return problem;
}

Geometry matmul_geometry(std::int32_t m, std::int32_t n) {
  return {.grid = {blocks_for(n, tile_side), blocks_for(m, tile_side)},
          .block = {tile_side, tile_side}};
}

std::vector<Expected> matmul_expected(const Problem& problem, std::int32_t m, std::int32_t k,
                                      std::int32_t n) {
  Expected result{buffer_c, std::vector<std::byte>(product(m, n) * sizeof(float))};
  const float* a = elements<float>(problem.buffers[buffer_a].initial);
  const float* b = elements<float>(problem.buffers[buffer_b].initial);
  float* c = elements<float>(result.values);
  std::int32_t row = 0;
  for (; row + 4 <= m; row += 4) add_rows<4>(c, a, b, row, k, n);
  for (; row < m; ++row) add_rows<1>(c, a, b, row, k, n);
  return {std::move(result)};
}

namespace {

Problem prepare(std::int64_t n) {
  const auto side = static_cast<std::int32_t>(n);
  return matmul_problem(side, side, side);
}

Geometry geometry(std::int64_t n) {
  return matmul_geometry(static_cast<std::int32_t>(n), static_cast<std::int32_t>(n));
}

/// Blocks of `threads` that make a tile of c each.
template <int rows, int cols, std::uint32_t threads>
Geometry tile_geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, cols), blocks_for(n, rows)}, .block = {threads}};
}

std::vector<Expected> expected(std::int64_t n, const Problem& problem) {
  const auto side = static_cast<std::int32_t>(n);
  return matmul_expected(problem, side, side, side);
}

std::uint64_t footprint(std::int64_t n) { return 3 * sizeof(float) * product(n, n); }

Work work(std::int64_t n) {
  return {.bytes_read = 2 * sizeof(float) * product(n, n),
          .bytes_written = sizeof(float) * product(n, n),
          .flops = 2 * product(n, n) * static_cast<std::uint64_t>(n)};
}

const std::vector<std::int64_t> default_sizes = {256, 1024};

/// The cost of a variant with squares of c in registers; `store` with its reason differs.
std::vector<Expectation> squares_cost(double store, const char* store_reason, const char* loads) {
  return {{"gld_efficiency", Relation::equal, 100, loads, default_sizes},
          {"gst_efficiency", Relation::equal, 100,
           "a warp writes 128 bytes of each of four rows: four whole sectors each", default_sizes},
          {"shared_store_transactions_per_request", Relation::equal, store, store_reason,
           default_sizes},
          {"shared_load_transactions_per_request", Relation::equal, 2,
           "half a warp reads 128 different bytes of b, or 32 of a: a transaction for each half",
           default_sizes}};
}

Geometry of_library(std::int64_t) { return unknown_geometry; }

Expectation result_coalesced() {
  return {"gst_efficiency", Relation::equal, 100,
          "a warp writes two rows of 16 floats: two whole sectors each", default_sizes};
}

}  // namespace

extern const Family matmul = {
    .name = "matmul",
    .summary = "product of two n × n float matrices",
    .size_meaning = "side of the matrices",
    .image = &images::matmul,
    .sizes = default_sizes,
    .largest_size = largest_exact,
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceilings = {"cublas"},
    .variants =
        {
            {"naive",
             "matmul_naive",
             geometry,
             expected,
             {{"gld_efficiency", Relation::equal, 56.25,
               "of a, a warp uses 8 bytes of two sectors; of b, all 64: 72 bytes of 128",
               default_sizes},
              result_coalesced()}},
            {"tiled_16",
             "matmul_tiled_16",
             geometry,
             expected,
             {{"gld_efficiency", Relation::equal, 100,
               "a warp fills two rows of 16 floats of each tile: two whole sectors each",
               default_sizes},
              result_coalesced(),
              {"shared_store_transactions_per_request", Relation::equal, 1,
               "two rows of 16 words follow each other: 32 words in 32 banks", default_sizes},
              {"shared_load_transactions_per_request", Relation::equal, 1.2,
               "ptxas merges every four loads along a row of a into one of 128 bits, which costs "
               "two; the 16 loads of b cost one each: 24 transactions in 20 requests",
               default_sizes}}},
            {"registers_64x64", "matmul_registers_64x64", tile_geometry<64, 64, 256>, expected,
             squares_cost(2.4,
                          "four requests for a of two transactions (two words in each of "
                          "16 banks) and one of four for b: 12 in 5",
                          "a warp reads 64 bytes of each of eight rows of a, 256 of each of two "
                          "rows of b: whole sectors")},
            {"registers_64x128", "matmul_registers_64x128", tile_geometry<64, 128, 128>, expected,
             squares_cost(8.0 / 3,
                          "eight requests for a of two transactions (two words in each of "
                          "16 banks) and four of four for b: 32 in 12",
                          "a warp reads 64 bytes of each of eight rows of a, 512 of a row of b: "
                          "whole sectors")},
            {"registers_128x128", "matmul_registers_128x128", tile_geometry<128, 128, 256>,
             expected,
             squares_cost(1.6,
                          "four requests for a of one transaction (32 words in 32 banks) and one "
                          "of four for b: 8 in 5",
                          "a warp reads 32 bytes of each of 16 rows of a, 512 of a row of b: whole "
                          "sectors")},
            {.name = "cublas",
             .entry = "cublasSgemm_v2",
             .geometry = of_library,
             .expected = expected,
             .library = "cuBLAS"},
        },
};

}  // namespace warpmeter::kernels
