// SPDX-License-Identifier: MIT
#include <cstdint>
#include <vector>

#include "tests/device/model/arguments.h"
#include "tests/device/model/cases.h"
#include "tests/device/model/images.h"

namespace warpmeter::agreement {
namespace {

namespace images = kernels::images;
using kernels::Problem;

template <class T, std::uint64_t in_count, std::uint64_t out_count, std::int32_t number>
Problem both() {
  return Arguments().template in<T>(in_count).template out<T>(out_count).value(number);
}
template <std::uint64_t in_count, std::uint64_t out_count, std::int32_t number>
constexpr auto ints = both<std::int32_t, in_count, out_count, number>;
template <std::uint64_t in_count, std::uint64_t out_count, std::int32_t number>
constexpr auto floats = both<float, in_count, out_count, number>;
template <std::uint64_t in_count, std::uint64_t out_count, std::int32_t number>
constexpr auto doubles = both<double, in_count, out_count, number>;

/// Atomics change what they find there.
template <class T, std::uint64_t in_count, std::uint64_t out_words, std::int32_t number>
Problem onto_zeros() {
  return Arguments().template in<T>(in_count).zeros(out_words).value(number);
}

Problem links() {
  return Arguments().ints(shuffled(512)).out<std::int32_t>(512).value<std::int32_t>(40);
}

Problem sorted() {
  std::vector<std::int32_t> values;
  for (std::int32_t i = 0; i < 300; ++i) values.push_back(2 * i + i % 3);
  return Arguments().ints(values).out<std::int32_t>(512).value<std::int32_t>(300);
}

Problem matrices() {
  return Arguments()
      .in<float>(40 * 40)
      .in<float>(40 * 40, 2)
      .out<float>(40 * 40)
      .value<std::int32_t>(40);
}

Problem halves_onto_zeros() { return Arguments().halves(512).zeros(600).value<std::int32_t>(16); }

/// A kernel of agree_patterns, of elements of so many bytes: one warp in each of two blocks.
template <std::uint64_t bytes>
Problem patterns() {
  return Arguments()
      .in<std::int32_t>(512 * bytes / 4)
      .zeros((2 * 32 + 2 * 512) * bytes / 4)
      .value<std::int32_t>(640);
}

constexpr Geometry four_blocks = {{4}, {128}};

}  // namespace

std::span<const Case> forms() {
  static const Case all[] = {
      // agree_paths.cu
      {"rounds_of_launch", &images::agree_paths, four_blocks, ints<900, 512, 13>},
      {"rounds_of_block", &images::agree_paths, four_blocks, ints<512, 512, 5>},
      {"rounds_of_warp", &images::agree_paths, four_blocks, ints<512, 512, 5>},
      {"rounds_of_thread", &images::agree_paths, four_blocks, ints<512, 512, 500>},
      {"rounds_not_unrolled", &images::agree_paths, four_blocks, ints<512, 512, 500>},
      {"store_in_loop", &images::agree_paths, four_blocks, ints<512, 512 * 11, 11>},
      {"store_some", &images::agree_paths, four_blocks, ints<512, 512, 400>},
      {"store_either", &images::agree_paths, four_blocks, ints<512, 1024, 512>},
      {"store_same_place", &images::agree_paths, four_blocks, ints<512, 512, 5>},
      {"load_either", &images::agree_paths, four_blocks, ints<1024, 512, 512>},
      {"load_by_chain", &images::agree_paths, four_blocks, ints<512, 512, 500>},
      {"return_before_barrier", &images::agree_paths, four_blocks, ints<512, 512, 450>},
      {"return_in_loop", &images::agree_paths, four_blocks, ints<512, 512, 30>},
      {"switch_of_data", &images::agree_paths, four_blocks, ints<1024, 1024, 512>},
      {"switch_of_block", &images::agree_paths, {{6}, {128}}, ints<1280, 768, 512>},
      {"load_again", &images::agree_paths, four_blocks, ints<512, 512, 9>},
      {"load_once", &images::agree_paths, four_blocks, ints<513, 512, 9>},
      {"search_sorted", &images::agree_paths, four_blocks, sorted},
      {"follow_links", &images::agree_paths, four_blocks, links},
      {"call_twice", &images::agree_paths, four_blocks, ints<600, 512, 6>},
      {"call_itself", &images::agree_paths, four_blocks, ints<512, 512, 3>},
      {"vote_to_stop", &images::agree_paths, four_blocks, ints<512, 512, 9>},
      {"barrier_rounds", &images::agree_paths, four_blocks, ints<512, 512, 7>},
      {"nest_of_loops", &images::agree_paths, four_blocks, ints<512, 512, 9>},
      {"reverse_in_place", &images::agree_paths, four_blocks, ints<512, 512, 128>},
      {"asserts", &images::agree_paths, four_blocks, ints<512, 512, 50>},
      {"prints", &images::agree_paths, four_blocks, ints<512, 512, 50>},
      {"allocates", &images::agree_paths, four_blocks, ints<512, 512, 8>},
      // agree_diverge.cu
      {"break_deep", &images::agree_diverge, four_blocks, ints<512, 512, 9>},
      {"return_deep", &images::agree_diverge, four_blocks, ints<512, 512, 9>},
      {"call_in_branch", &images::agree_diverge, four_blocks, ints<512, 512, 512>},
      {"call_in_loop", &images::agree_diverge, four_blocks, ints<512, 512, 512>},
      {"switch_in_loop", &images::agree_diverge, four_blocks, ints<512, 1024, 20>},
      {"walk_tree", &images::agree_diverge, four_blocks, ints<512, 512, 200>},
      {"insert_hashed", &images::agree_diverge, {{1}, {32}}, onto_zeros<std::int32_t, 512, 64, 64>},
      {"find_hashed", &images::agree_diverge, four_blocks, ints<512, 512, 512>},
      {"conditions", &images::agree_diverge, four_blocks, ints<512, 1024, 512>},
      {"sort_own", &images::agree_diverge, four_blocks, ints<512, 512 * 9, 9>},
      {"merge_halves", &images::agree_diverge, {{2}, {128}}, ints<512, 512, 1>},
      {"edit_distance", &images::agree_diverge, four_blocks, ints<512, 512, 12>},
      // agree_merged.cu
      {"tile_row", &images::agree_merged, {{4}, {16, 16}}, floats<1024, 1024, 2>},
      {"tile_row_of_n", &images::agree_merged, {{4}, {16, 16}}, floats<1024, 1024, 13>},
      {"tile_padded", &images::agree_merged, {{4}, {16, 16}}, floats<1024, 1024, 2>},
      {"tile_of_doubles", &images::agree_merged, {{4}, {16, 16}}, doubles<1024, 1024, 2>},
      {"tile_in_dynamic", &images::agree_merged, {{2}, {64}, 2048}, floats<1024, 128, 2>},
      {"neighbours_shifted", &images::agree_merged, {{2}, {64}}, floats<520, 128, 2>},
      {"stores_of_neighbours", &images::agree_merged, {{2}, {128}}, floats<256, 256, 2>},
      {"neighbours_guarded", &images::agree_merged, {{2}, {128}}, floats<260, 256, 2>},
      {"matmul_of_n", &images::agree_merged, {{3, 3}, {16, 16}}, matrices},
      {"parts_of_structure", &images::agree_merged, four_blocks, floats<2048, 513, 512>},
      {"parts_of_vector", &images::agree_merged, four_blocks, floats<2052, 1024, 3>},
      {"parts_of_double2", &images::agree_merged, four_blocks, doubles<1024, 512, 3>},
      {"copy_with_tail", &images::agree_merged, {{1}, {128}}, floats<1003, 1003, 1003>},
      {"copy_from_odd", &images::agree_merged, four_blocks, floats<1010, 1004, 1003>},
      {"bytes_of_word", &images::agree_merged, four_blocks, ints<500, 500, 500>},
      {"spilled", &images::agree_merged, {{1}, {256}}, floats<1024, 256, 3>},
      {"generic_choice", &images::agree_merged, four_blocks, ints<512, 512, 512>},
      {"generic_call", &images::agree_merged, four_blocks, ints<513, 512, 3>},
      {"volatile_sum", &images::agree_merged, four_blocks, ints<512, 4, 3>},
      {"other_spaces", &images::agree_merged, four_blocks, ints<1024, 1024, 512>},
      // agree_patterns.cu
      {"shared_patterns_8", &images::agree_patterns, {{2}, {32}}, patterns<1>},
      {"shared_patterns_16", &images::agree_patterns, {{2}, {32}}, patterns<2>},
      {"shared_patterns_32", &images::agree_patterns, {{2}, {32}}, patterns<4>},
      {"shared_patterns_64", &images::agree_patterns, {{2}, {32}}, patterns<8>},
      {"shared_patterns_128", &images::agree_patterns, {{2}, {32}}, patterns<16>},
      {"global_patterns_8", &images::agree_patterns, {{2}, {32}}, patterns<1>},
      {"global_patterns_16", &images::agree_patterns, {{2}, {32}}, patterns<2>},
      {"global_patterns_32", &images::agree_patterns, {{2}, {32}}, patterns<4>},
      {"global_patterns_64", &images::agree_patterns, {{2}, {32}}, patterns<8>},
      {"global_patterns_128", &images::agree_patterns, {{2}, {32}}, patterns<16>},
      {"equal_patterns_8", &images::agree_patterns, {{2}, {32}}, patterns<1>},
      {"equal_patterns_16", &images::agree_patterns, {{2}, {32}}, patterns<2>},
      {"equal_patterns_32", &images::agree_patterns, {{2}, {32}}, patterns<4>},
      {"equal_patterns_64", &images::agree_patterns, {{2}, {32}}, patterns<8>},
      {"equal_patterns_128", &images::agree_patterns, {{2}, {32}}, patterns<16>},
      {"copy_async", &images::agree_patterns, {{2}, {128}}, ints<1024, 256, 100>},
      {"load_matrices", &images::agree_patterns, {{1}, {32}}, ints<256, 64, 3>},
      // agree_atomics.cu
      {"red_one_place", &images::agree_atomics, four_blocks,
       onto_zeros<std::int32_t, 512, 32, 400>},
      {"red_places", &images::agree_atomics, four_blocks, onto_zeros<std::int32_t, 512, 256, 40>},
      {"red_float", &images::agree_atomics, four_blocks, onto_zeros<float, 512, 640, 40>},
      {"red_double", &images::agree_atomics, four_blocks, onto_zeros<double, 512, 1280, 40>},
      {"red_long", &images::agree_atomics, four_blocks, onto_zeros<std::int32_t, 1024, 512, 40>},
      {"red_half2", &images::agree_atomics, four_blocks, halves_onto_zeros},
      {"atom_returns", &images::agree_atomics, four_blocks,
       onto_zeros<std::int32_t, 512, 1600, 40>},
      {"atom_tickets", &images::agree_atomics, four_blocks, onto_zeros<std::int32_t, 512, 2, 999>},
      {"atom_long_returns", &images::agree_atomics, four_blocks,
       onto_zeros<std::int32_t, 1024, 1600, 40>},
      {"compare_and_swap", &images::agree_atomics, four_blocks, onto_zeros<float, 512, 512, 512>},
      {"shared_adds", &images::agree_atomics, four_blocks, ints<512, 256, 5>},
      {"shared_counts", &images::agree_atomics, four_blocks, ints<512, 4096, 5>},
      {"atom_float_returns", &images::agree_atomics, four_blocks, onto_zeros<float, 512, 800, 40>},
      {"atom_double_returns", &images::agree_atomics, four_blocks,
       onto_zeros<double, 512, 200, 40>},
      {"atom_half2_returns", &images::agree_atomics, four_blocks, halves_onto_zeros},
      {"atom_generic_same", &images::agree_atomics, four_blocks,
       onto_zeros<std::int32_t, 512, 70, 3>},
      {"shared_others", &images::agree_atomics, four_blocks, ints<512, 256, 5>},
      {"shared_float", &images::agree_atomics, four_blocks, floats<512, 256, 20>},
      {"shared_long", &images::agree_atomics, four_blocks, both<std::int32_t, 1024, 512, 20>},
      {"atom_generic", &images::agree_atomics, four_blocks, onto_zeros<std::int32_t, 512, 200, 40>},
  };
  return all;
}

}  // namespace warpmeter::agreement
