// SPDX-License-Identifier: MIT
// c = a + b: what coalesced access costs, and how much the block's size matters to it.
#include <cstdint>
#include <limits>

#include "kernels/buffers.h"
#include "kernels/images.h"

namespace warpmeter::kernels {
namespace {

enum : std::size_t { buffer_c, buffer_a, buffer_b };

constexpr std::int64_t default_size = 1'048'576;

Problem prepare(std::int64_t n) {
  const auto count = static_cast<std::uint64_t>(n);
  Problem problem;
  problem.buffers.push_back(output_buffer<float>("c", count));
  problem.buffers.push_back(input_buffer<float>("a", count, 1));
  problem.buffers.push_back(input_buffer<float>("b", count, 2));
  problem.arguments = {BufferArgument{buffer_c}, BufferArgument{buffer_a}, BufferArgument{buffer_b},
                       ScalarArgument::of(static_cast<std::int32_t>(n))};
  return problem;
}

std::vector<Expected> expected(std::int64_t n, const Problem& problem) {
  Expected c{buffer_c, std::vector<std::byte>(problem.buffers[buffer_c].initial.size())};
  const float* a = elements<float>(problem.buffers[buffer_a].initial);
  const float* b = elements<float>(problem.buffers[buffer_b].initial);
  float* sum = elements<float>(c.values);
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
  return {std::move(c)};
}

template <std::uint32_t block>
Geometry geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, block)}, .block = {block}};
}

std::uint64_t footprint(std::int64_t n) {
  return 3 * sizeof(float) * static_cast<std::uint64_t>(n);
}

Work work(std::int64_t n) {
  const auto count = static_cast<std::uint64_t>(n);
  return {.bytes_read = 2 * sizeof(float) * count,
          .bytes_written = sizeof(float) * count,
          .flops = count};
}

std::vector<Expectation> coalesced() {
  return {{"gld_efficiency",
           Relation::equal,
           100,
           "a warp reads 32 neighbouring floats: four whole sectors",
           {default_size}},
          {"gst_efficiency",
           Relation::equal,
           100,
           "a warp writes 32 neighbouring floats: four whole sectors",
           {default_size}}};
}

}  // namespace

extern const Family vector_add = {
    .name = "vector_add",
    .summary = "sum of two float vectors, one thread an element",
    .size_meaning = "length of the vectors",
    .image = &images::vector_add,
    .sizes = {default_size},
    .largest_size = std::numeric_limits<std::int32_t>::max(),
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceilings = {},
    .variants =
        {
            {"block_128", "vector_add", geometry<128>, expected, coalesced()},
            {"block_256", "vector_add", geometry<256>, expected, coalesced()},
        },
};

}  // namespace warpmeter::kernels
