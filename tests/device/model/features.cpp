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

template <class T, std::uint64_t in_count, class Out, std::uint64_t out_count, std::int32_t number>
Problem from_to() {
  return Arguments().template in<T>(in_count).template out<Out>(out_count).value(number);
}
template <std::uint64_t out_count, std::int32_t number>
constexpr auto ints = from_to<std::int32_t, 1024, std::int32_t, out_count, number>;

/// Elements that are not written, or changed from what it was, have to be there before.
template <std::uint64_t out_words, std::int32_t number>
Problem onto_zeros() {
  return Arguments().in<std::int32_t>(1024).zeros(out_words).value(number);
}

template <std::uint64_t out_words, std::int32_t number>
Problem pairs_of_halves() {
  return Arguments().halves(512).zeros(out_words).value(number);
}

const Geometry four_blocks{{4}, {128}};
const Geometry two_blocks{{2}, {256}};

}  // namespace

std::span<const Case> features() {
  static const Case all[] = {
      // agree_integers.cu
      {"simd_bytes", &images::agree_integers, four_blocks, ints<512, 5>},
      {"simd_shorts", &images::agree_integers, four_blocks, ints<512, 5>},
      {"dot_products", &images::agree_integers, four_blocks, ints<512, 5>},
      {"funnel_and_fields", &images::agree_integers, four_blocks, ints<512, 5>},
      {"bits_of_64", &images::agree_integers, four_blocks, ints<1024, 77>},
      {"divisions", &images::agree_integers, four_blocks, ints<1024, 77>},
      {"wide_sums", &images::agree_integers, four_blocks, ints<2048, 9>},
      {"rotations", &images::agree_integers, two_blocks, ints<8192, 7>},
      // agree_floats.cu
      {"double_functions", &images::agree_floats, four_blocks,
       from_to<double, 1024, double, 512, 100>, 1e-9},
      {"float_functions", &images::agree_floats, four_blocks, from_to<float, 1024, float, 512, 100>,
       1e-3},
      {"rounded", &images::agree_floats, four_blocks, from_to<float, 1024, double, 512, 100>},
      {"half_pairs", &images::agree_floats, four_blocks, pairs_of_halves<512, 3>},
      {"bfloat_pairs", &images::agree_floats, four_blocks, ints<512, 3>},
      {"half_dot", &images::agree_floats, two_blocks, pairs_of_halves<2, 40>},
      // agree_wait.cu
      {"own_grid_barrier", &images::agree_wait, {{8}, {128}}, onto_zeros<2048, 5>},
      {"scan_looking_back", &images::agree_wait, {{8}, {128}}, onto_zeros<1040, 1024>},
      {"lock_of_blocks", &images::agree_wait, {{8}, {128}}, onto_zeros<16, 4>},
      {"last_block_adds", &images::agree_wait, {{8}, {128}}, onto_zeros<32, 3>},
      {"swapped_until_done", &images::agree_wait, four_blocks, onto_zeros<400, 200>},
      {"flag_between_warps", &images::agree_wait, {{8}, {64}}, onto_zeros<512, 3>},
      {"split_barrier", &images::agree_wait, four_blocks, onto_zeros<512, 6>},
      {"ordered_atomics", &images::agree_wait, four_blocks, onto_zeros<640, 10>},
      // agree_groups.cu
      {"tile_sums", &images::agree_groups, four_blocks, ints<512, 3>},
      {"odd_ones_out", &images::agree_groups, four_blocks, onto_zeros<4097, 3>},
      {"alike", &images::agree_groups, four_blocks, onto_zeros<4352, 5>},
      {"reduced_by_warp", &images::agree_groups, four_blocks, ints<512, 20>},
      {"counted_at_barriers", &images::agree_groups, four_blocks, ints<512, 8>},
      {"staged_groups", &images::agree_groups, two_blocks, ints<512, 3>},
      {"staged_pipeline", &images::agree_groups, four_blocks, from_to<float, 4096, float, 2048, 6>},
      {"hinted", &images::agree_groups, four_blocks, onto_zeros<2560, 7>},
      // agree_local.cu
      {"sorted_in_place", &images::agree_local, {{2}, {64}}, ints<2048, 16>},
      {"histogram_of_own", &images::agree_local, four_blocks, ints<512, 40>},
      {"stack_of_nodes", &images::agree_local, four_blocks, ints<512, 60>},
      {"taken_from_stack", &images::agree_local, four_blocks, ints<512, 5>},
      {"volatile_shared", &images::agree_local, four_blocks, ints<4, 2>},
      {"table_by_data", &images::agree_local, four_blocks, ints<512, 9>},
      {"by_value", &images::agree_local, four_blocks, from_to<std::int32_t, 1024, double, 512, 5>},
      // agree_matrix.cu
      {"matrix_load_x1", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 128>},
      {"matrix_load_x2", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 144>},
      {"matrix_load_x4", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 16>},
      {"matrix_load_x1_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 32>},
      {"matrix_load_x2_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 128>},
      {"matrix_load_x4_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<256, 64>},
      {"matrix_store_x1", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 16>},
      {"matrix_store_x2", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 128>},
      {"matrix_store_x4", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 144>},
      {"matrix_store_x1_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 128>},
      {"matrix_store_x2_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 48>},
      {"matrix_store_x4_trans", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 128>},
      {"matrix_turn", &images::agree_matrix, {{2}, {32}}, onto_zeros<8192, 144>},
  };
  return all;
}

}  // namespace warpmeter::agreement
