// SPDX-License-Identifier: MIT
// Transposes of a matrix: one side of the copy is against the grain of memory, unless shared memory
// turns the tiles round. The two copies move as much without a transpose: `copy` an element a
// thread, like the variants after it, `copy_float4` four of them, which is the ceiling.
#include <algorithm>
#include <cstdint>

#include "kernels/buffers.h"
#include "kernels/images.h"
#include "kernels/shapes.h"

namespace warpmeter::kernels {

namespace {

enum : std::size_t { buffer_out, buffer_in };

constexpr std::int32_t tile_side = 16;
constexpr std::int64_t largest_grid_y = 65'535;

}  // namespace

Problem transpose_problem(std::int32_t width, std::int32_t height) {
  const std::uint64_t count =
      static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  Problem problem;
  problem.buffers.push_back(output_buffer<float>("out", count));
  problem.buffers.push_back(input_buffer<float>("in", count, 1));
  problem.arguments = {BufferArgument{buffer_out}, BufferArgument{buffer_in},
                       ScalarArgument::of(width), ScalarArgument::of(height)};
  return problem;
}

Geometry transpose_geometry(std::int32_t width, std::int32_t height) {
  return {.grid = {blocks_for(width, tile_side), blocks_for(height, tile_side)},
          .block = {tile_side, tile_side}};
}

std::vector<Expected> transpose_expected(const Problem& problem, std::int32_t width,
                                         std::int32_t height) {
  Expected out{buffer_out, std::vector<std::byte>(problem.buffers[buffer_out].initial.size())};
  const float* from = elements<float>(problem.buffers[buffer_in].initial);
  float* to = elements<float>(out.values);
  // In squares that a cache holds: column by column, a large matrix would miss at every element.
  constexpr std::int64_t square = 32;
  const std::int64_t w = width, h = height;
  for (std::int64_t top = 0; top < h; top += square) {
    for (std::int64_t left = 0; left < w; left += square) {
      for (std::int64_t x = left; x < std::min(left + square, w); ++x) {
        for (std::int64_t y = top; y < std::min(top + square, h); ++y) {
          to[x * h + y] = from[y * w + x];
        }
      }
    }
  }
  return {std::move(out)};
}

std::vector<Expected> transpose_copy_expected(const Problem& problem) {
  return {{buffer_out, problem.buffers[buffer_in].initial}};
}

namespace {

Problem prepare(std::int64_t n) {
  return transpose_problem(static_cast<std::int32_t>(n), static_cast<std::int32_t>(n));
}

Geometry geometry(std::int64_t n) {
  return transpose_geometry(static_cast<std::int32_t>(n), static_cast<std::int32_t>(n));
}

Geometry rows_geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, 32), blocks_for(n, 32)}, .block = {32, 8}};
}

Geometry squares_geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, 64), blocks_for(n, 64)}, .block = {256}};
}

Geometry copy_float4_geometry(std::int64_t n) {
  return {.grid = {blocks_for(n * n, 4 * 256)}, .block = {256}};
}

std::vector<Expected> transposed(std::int64_t n, const Problem& problem) {
  return transpose_expected(problem, static_cast<std::int32_t>(n), static_cast<std::int32_t>(n));
}

std::vector<Expected> copied(std::int64_t, const Problem& problem) {
  return transpose_copy_expected(problem);
}

std::uint64_t footprint(std::int64_t n) {
  return 2 * sizeof(float) * static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(n);
}

Work work(std::int64_t n) {
  return {.bytes_read = footprint(n) / 2, .bytes_written = footprint(n) / 2};
}

const std::vector<std::int64_t> default_sizes = {1024, 4096};

constexpr const char* rows_of_tile = "a warp touches two rows of 16 floats: two whole sectors each";
constexpr const char* row_of_tile = "a warp touches one row of 32 floats: four whole sectors";
constexpr const char* quarters_of_rows =
    "a warp touches 64 floats of each of two rows: eight whole sectors each";
constexpr const char* four_a_thread =
    "a warp touches 128 floats that follow each other: 16 whole sectors";

Expectation loads_coalesced(const char* reason = rows_of_tile) {
  return {"gld_efficiency", Relation::equal, 100, reason, default_sizes};
}

Expectation stores_coalesced(const char* reason = rows_of_tile) {
  return {"gst_efficiency", Relation::equal, 100, reason, default_sizes};
}

std::vector<Expectation> tile_costs(double store, const char* store_reason, double load,
                                    const char* load_reason, const char* coalesced = rows_of_tile) {
  return {
      loads_coalesced(coalesced),
      stores_coalesced(coalesced),
      {"shared_store_transactions_per_request", Relation::equal, store, store_reason,
       default_sizes},
      {"shared_load_transactions_per_request", Relation::equal, load, load_reason, default_sizes}};
}

}  // namespace

extern const Family transpose = {
    .name = "transpose",
    .summary = "out-of-place transpose of an n × n float matrix",
    .size_meaning = "side of the matrix",
    .image = &images::transpose,
    .sizes = default_sizes,
    .largest_size = largest_grid_y * tile_side,
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceilings = {"copy_float4"},
    .variants =
        {
            {"copy", "transpose_copy", geometry, copied, {loads_coalesced(), stores_coalesced()}},
            {"naive",
             "transpose_naive",
             geometry,
             transposed,
             {loads_coalesced(),
              {"gst_efficiency", Relation::equal, 25,
               "a warp writes two neighbouring floats in each of 16 rows: 8 bytes of each 32-byte "
               "sector",
               default_sizes}}},
            {"tiled", "transpose_tiled", geometry, transposed,
             tile_costs(1, "two rows of 16 words follow each other: 32 words in 32 banks", 8,
                        "of a column in rows of 16 words, every second word is in the same bank: 8 "
                        "words in each of four banks")},
            {"tiled_padded", "transpose_tiled_padded", geometry, transposed,
             tile_costs(2,
                        "in rows of 17 words, the first word of a warp's first row and the last of "
                        "its second share a bank",
                        2,
                        "in rows of 17 words, a warp's two columns lie in 16 banks each and share "
                        "one")},
            {"tiled_rows", "transpose_tiled_rows", rows_geometry, transposed,
             tile_costs(1, "a warp writes one row of 32 words: 32 words in 32 banks", 1,
                        "a column in rows of 33 words: every word is one bank further",
                        row_of_tile)},
            {"tiled_float4", "transpose_tiled_float4", squares_geometry, transposed,
             tile_costs(4,
                        "512 bytes a warp, and 128 in a transaction: the rows that eight lanes "
                        "write lie in different banks, since their places are exchanged",
                        4, "512 bytes a warp, and 128 in a transaction: two whole rows of the tile",
                        quarters_of_rows)},
            {"copy_float4",
             "transpose_copy_float4",
             copy_float4_geometry,
             copied,
             {loads_coalesced(four_a_thread), stores_coalesced(four_a_thread)}},
        },
};

}  // namespace warpmeter::kernels
