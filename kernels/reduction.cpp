// Summing blocks of 1,024 doubles in shared memory: the same additions, handed to different
// threads.
//
// What a block costs, in warp instructions (requests) and transactions. A full warp of doubles
// takes two transactions, one for each of its halves, when no banks collide.
//
//                          loads: requests  transactions  stores: requests  transactions
//   neighbored_divergent             383           639              223           383
//   neighbored_strided                73           639               68           383
//   interleaved                       73           135               68           131
//
// All three fill the tile with 32 stores and end with one load. Of the ten steps, each with two
// loads and a store a warp, the divergent one issues 191 warps (32 in each of the first five steps,
// then 16, 8, 4, 2, 1), the others 36 (16, 8, 4, 2, 1, 1, 1, 1, 1, 1). The strided one touches the
// same words of the tile as the divergent one, packed into fewer warps: what it saves in requests
// it pays for in bank conflicts.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/buffers.h"
#include "kernels/images.h"

namespace warpmeter::kernels {
namespace {

constexpr std::int64_t block = 1024;

Problem prepare(std::int64_t n) {
  Problem problem;
  problem.buffers.push_back(input_buffer<double>("data", static_cast<std::uint64_t>(n), 1));
  problem.arguments = {BufferArgument{0}, ScalarArgument::of(static_cast<std::int32_t>(n))};
  return problem;
}

std::vector<Expected> expected(std::int64_t n, const Problem& problem) {
  Expected data{0, problem.buffers[0].initial};
  double* values = elements<double>(data.values);
  for (std::int64_t first = 0; first < n; first += block) {
    double sum = 0;
    for (std::int64_t i = first; i < std::min(first + block, n); ++i) sum += values[i];
    values[first] = sum;
  }
  return {std::move(data)};
}

Geometry geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, block)}, .block = {static_cast<std::uint32_t>(block)}};
}

std::uint64_t footprint(std::int64_t n) { return sizeof(double) * static_cast<std::uint64_t>(n); }

Work work(std::int64_t n) {
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t blocks = blocks_for(n, block);
  return {.bytes_read = sizeof(double) * count,
          .bytes_written = sizeof(double) * blocks,
          .flops = count - blocks};
}

const std::vector<std::int64_t> default_sizes = {65'536, 4'194'304};

/// `ratio` of transactions to requests, with the sizes that fill every block.
Expectation shared_cost(std::string_view metric, double ratio, std::string_view reason) {
  return {std::string(metric), Relation::equal, ratio, std::string(reason), default_sizes};
}

std::vector<Expectation> costs(const Expectation& loads, const Expectation& stores) {
  return {loads, stores,
          Expectation{"gld_efficiency", Relation::equal, 100,
                      "a warp reads 32 neighbouring doubles: eight whole sectors", default_sizes},
          Expectation{"gst_efficiency", Relation::equal, 25,
                      "a block writes one double: 8 bytes of a 32-byte sector", default_sizes}};
}

}  // namespace

extern const Family reduction = {
    .name = "reduction",
    .summary = "sums of blocks of 1,024 doubles, in place",
    .size_meaning = "length of the vector",
    .image = &images::reduction,
    .sizes = default_sizes,
    .largest_size = std::numeric_limits<std::int32_t>::max(),
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceiling = {},
    .variants =
        {
            {"neighbored_divergent", "reduction_neighbored_divergent", geometry, expected,
             costs(shared_cost("shared_load_transactions_per_request", 639.0 / 383,
                               "639 transactions in 383 requests a block: in the first five steps "
                               "all 32 warps load, with ever fewer lanes"),
                   shared_cost("shared_store_transactions_per_request", 383.0 / 223,
                               "383 transactions in 223 requests a block: all 32 warps store in "
                               "the first five steps, with ever fewer lanes"))},
            {"neighbored_strided", "reduction_neighbored_strided", geometry, expected,
             costs(shared_cost("shared_load_transactions_per_request", 639.0 / 73,
                               "639 transactions in 73 requests a block: few warps load, but their "
                               "lanes are 2, 4, 8, … doubles apart and meet in the same banks"),
                   shared_cost("shared_store_transactions_per_request", 383.0 / 68,
                               "383 transactions in 68 requests a block: few warps store, but "
                               "their lanes are 2, 4, 8, … doubles apart and meet in the same "
                               "banks"))},
            {"interleaved", "reduction_interleaved", geometry, expected,
             costs(shared_cost("shared_load_transactions_per_request", 135.0 / 73,
                               "135 transactions in 73 requests a block: neighbouring doubles, two "
                               "transactions a full warp and one when half of it or less works"),
                   shared_cost("shared_store_transactions_per_request", 131.0 / 68,
                               "131 transactions in 68 requests a block: neighbouring doubles, two "
                               "transactions a full warp and one when half of it or less works"))},
        },
};

}  // namespace warpmeter::kernels
