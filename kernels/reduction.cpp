// SPDX-License-Identifier: MIT
// Sums of blocks of 1,024 doubles: the same additions, handed to different threads, in shared
// memory or by shuffles. `copy` moves as many bytes without a sum: the ceiling.
//
// The cost of a block in shared memory, in warp instructions (requests) and transactions. A full
// warp of doubles takes two transactions, one for each of its halves, when no banks collide.
//
//                          loads: requests  transactions  stores: requests  transactions
//   neighbored_divergent             383           639              223           383
//   neighbored_strided                73           639               68           383
//   interleaved                       73           135               68           131
//   shuffle                            1             2               32            32
//   shuffle_double2                    4             4                8             8
//
// The first three fill the tile with 32 stores and end with one load. In the ten steps, each with
// two loads and a store a warp, the divergent one issues 191 warps (32 in each of the first five
// steps, then 16, 8, 4, 2, 1), the others 36 (16, 8, 4, 2, 1, 1, 1, 1, 1, 1). The strided one
// touches the same words of the tile as the divergent one, packed into fewer warps: what it saves
// in requests it pays for in bank conflicts.
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

Geometry quarter_geometry(std::int64_t n) {
  return {.grid = {blocks_for(n, block)}, .block = {static_cast<std::uint32_t>(block / 4)}};
}

std::vector<Expected> copied(std::int64_t n, const Problem& problem) {
  Expected data{0, problem.buffers[0].initial};
  double* values = elements<double>(data.values);
  std::copy(values, values + n / 2, values + n / 2);
  return {std::move(data)};
}

Geometry copy_geometry(std::int64_t n) {
  return {.grid = {std::max(1U, blocks_for(n / 2, 2 * 256))}, .block = {256}};
}

std::uint64_t footprint(std::int64_t n) { return sizeof(double) * static_cast<std::uint64_t>(n); }

Work work(std::int64_t n) {
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t blocks = blocks_for(n, block);
  return {.bytes_read = sizeof(double) * count,
          .bytes_written = sizeof(double) * blocks,
          .flops = count - blocks};
}

Work copy_work(std::int64_t n) {
  const std::uint64_t half = sizeof(double) * (static_cast<std::uint64_t>(n) / 2);
  return {.bytes_read = half, .bytes_written = half};
}

const std::vector<std::int64_t> default_sizes = {65'536, 4'194'304};

/// `ratio` of transactions to requests, with the sizes that fill every block.
Expectation shared_cost(std::string_view metric, double ratio, std::string_view reason) {
  return {std::string(metric), Relation::equal, ratio, std::string(reason), default_sizes};
}

constexpr const char* loads_of_a_double =
    "a warp reads 32 neighbouring doubles: eight whole sectors";
constexpr const char* two_a_thread =
    "a warp touches 64 doubles that follow each other: 16 whole sectors";

std::vector<Expectation> costs(const Expectation& loads, const Expectation& stores,
                               const char* global_loads = loads_of_a_double) {
  return {loads, stores,
          Expectation{"gld_efficiency", Relation::equal, 100, global_loads, default_sizes},
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
    .ceilings = {"copy"},
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
            {"shuffle", "reduction_shuffle", geometry, expected,
             costs(shared_cost("shared_load_transactions_per_request", 2,
                               "one request a block: a full warp of doubles, a transaction for "
                               "each of its halves"),
                   shared_cost("shared_store_transactions_per_request", 1,
                               "32 requests a block, the sum of a warp each: one double"))},
            {"shuffle_double2", "reduction_shuffle_double2", quarter_geometry, expected,
             costs(shared_cost("shared_load_transactions_per_request", 1,
                               "one thread reads the sums of eight warps: one or two doubles a "
                               "request"),
                   shared_cost("shared_store_transactions_per_request", 1,
                               "eight requests a block, the sum of a warp each: one double"),
                   two_a_thread)},
            {"copy",
             "reduction_copy",
             copy_geometry,
             copied,
             {{"gld_efficiency", Relation::equal, 100, two_a_thread, default_sizes},
              {"gst_efficiency", Relation::equal, 100, two_a_thread, default_sizes}},
             copy_work},
        },
};

}  // namespace warpmeter::kernels
