// SPDX-License-Identifier: MIT
#include "tests/device/model/cases.h"

#include <cstdint>
#include <vector>

#include "tests/device/model/arguments.h"
#include "tests/device/model/images.h"

namespace warpmeter::agreement {
namespace {

namespace images = kernels::images;
using kernels::Problem;

/// Where the rows of a sparse matrix begin: each has 0 to 16 entries.
std::vector<std::int32_t> row_offsets(std::int32_t rows) {
  std::vector<std::int32_t> offsets = {0};
  for (std::int32_t row = 0; row < rows; ++row) {
    offsets.push_back(offsets.back() + small_value(static_cast<std::uint64_t>(row), 5) +
                      largest_small_value);
  }
  return offsets;
}

std::vector<std::int32_t> row_columns(std::int32_t count, std::int32_t columns) {
  std::vector<std::int32_t> places;
  for (std::int32_t k = 0; k < count; ++k) places.push_back((k * 7919 + k / 3) % columns);
  return places;
}

Problem sparse() {
  const std::int32_t rows = 500;
  const std::vector<std::int32_t> offsets = row_offsets(rows);
  const auto entries = static_cast<std::uint64_t>(offsets.back());
  return Arguments()
      .ints(offsets)
      .ints(row_columns(offsets.back(), 700))
      .in<float>(entries, 2)
      .in<float>(700, 3)
      .out<float>(rows)
      .value(rows);
}

Problem row_of_floats() {
  return Arguments().in<float>(4096).out<float>(4096).value<std::int32_t>(4096);
}

Problem turned_words(std::uint64_t words, std::int32_t stride) { return in_and_out(words, stride); }

Problem summed_ints() { return Arguments().in<std::int32_t>(2048).out<std::int32_t>(2048); }

}  // namespace

std::span<const Case> algorithms() {
  static const Case all[] = {
      // agree_access.cu
      {"copy_u8",
       &images::agree_access,
       {{16}, {256}},
       [] { return Problem(in_and_out(1024, 4090)); }},
      {"copy_u16",
       &images::agree_access,
       {{16}, {256}},
       [] { return Problem(in_and_out(2048, 4090)); }},
      {"copy_u32",
       &images::agree_access,
       {{16}, {256}},
       [] { return Problem(in_and_out(4096, 4090)); }},
      {"copy_float2",
       &images::agree_access,
       {{8}, {256}},
       [] { return Problem(in_and_out(4096, 2041)); }},
      {"copy_float4",
       &images::agree_access,
       {{4}, {256}},
       [] { return Problem(in_and_out(4096, 1003)); }},
      {"copy_double2",
       &images::agree_access,
       {{4}, {256}},
       [] { return Problem(in_and_out(4096, 1003)); }},
      {"copy_shifted",
       &images::agree_access,
       {{16}, {256}},
       [] { return Problem(in_and_out(4096, 4096)); }},
      {"copy_strided",
       &images::agree_access,
       {{8}, {128}},
       [] { return Problem(in_and_out(8192, 8000).value<std::int32_t>(7)); }},
      {"gather",
       &images::agree_access,
       {{16}, {256}},
       [] {
         return Problem(Arguments()
                            .in<float>(4096)
                            .ints(shuffled(4096))
                            .out<float>(4096)
                            .value<std::int32_t>(4096));
       }},
      {"scatter",
       &images::agree_access,
       {{16}, {256}},
       [] {
         return Problem(Arguments()
                            .in<float>(4096)
                            .ints(shuffled(4096))
                            .out<float>(4096)
                            .value<std::int32_t>(4000));
       }},
      {"saxpy",
       &images::agree_access,
       {{3}, {192}},
       [] {
         return Problem(
             Arguments().in<float>(5000).in<float>(5000, 2).value(3.0F).value<std::int32_t>(4999));
       }},
      {"structures",
       &images::agree_access,
       {{10}, {128}},
       [] {
         return Problem(
             Arguments().in<float>(3 * 1280).out<float>(3 * 1280).value<std::int32_t>(1200));
       }},
      {"broadcast", &images::agree_access, {{16}, {256}}, row_of_floats},
      {"transpose_float4",
       &images::agree_access,
       {{4, 4}, {8, 32}},
       [] {
         return Problem(
             Arguments().in<float>(128 * 128).out<float>(128 * 128).value<std::int32_t>(128));
       }},
      // agree_shared.cu
      {"shared_u8", &images::agree_shared, {{4}, {256}}, [] { return turned_words(256, 5); }},
      {"shared_u16", &images::agree_shared, {{4}, {256}}, [] { return turned_words(512, 6); }},
      {"shared_u32", &images::agree_shared, {{4}, {256}}, [] { return turned_words(1024, 8); }},
      {"shared_double", &images::agree_shared, {{4}, {256}}, [] { return turned_words(2048, 2); }},
      {"shared_quad", &images::agree_shared, {{4}, {256}}, [] { return turned_words(4096, 3); }},
      {"shared_column",
       &images::agree_shared,
       {{2}, {32, 32}, 4 * 32 * 34},
       [] { return turned_words(2048, 2); }},
      {"shared_gather",
       &images::agree_shared,
       {{4}, {256}},
       [] { return Problem(Arguments().ints(shuffled(8192)).out<std::int32_t>(1024)); }},
      {"shared_neighbours",
       &images::agree_shared,
       {{4}, {128}},
       [] { return Problem(Arguments().in<float>(2048).out<float>(512)); }},
      // agree_control.cu
      {"collatz",
       &images::agree_control,
       {{4}, {256}},
       [] { return Problem(in_and_out(1024, 1000)); }},
      {"ragged_rows",
       &images::agree_control,
       {{4}, {128}},
       [] {
         const std::vector<std::int32_t> offsets = row_offsets(500);
         return Problem(Arguments()
                            .ints(offsets)
                            .in<float>(static_cast<std::uint64_t>(offsets.back()))
                            .out<float>(500)
                            .value<std::int32_t>(500));
       }},
      {"cases",
       &images::agree_control,
       {{4}, {256}},
       [] {
         return Problem(Arguments()
                            .in<std::int32_t>(1000)
                            .in<float>(2000, 2)
                            .out<float>(1000)
                            .value<std::int32_t>(1000));
       }},
      {"calls",
       &images::agree_control,
       {{4}, {256}},
       [] {
         return Problem(Arguments()
                            .in<float>(4)
                            .in<std::int32_t>(1000, 2)
                            .out<float>(1000)
                            .value<std::int32_t>(1000));
       }},
      {"nested",
       &images::agree_control,
       {{4}, {256}},
       [] {
         return Problem(
             Arguments().in<std::int32_t>(1000).out<std::int32_t>(3000).value<std::int32_t>(1000));
       }},
      {"mandelbrot",
       &images::agree_control,
       {{4, 8}, {32, 8}},
       [] {
         return Problem(Arguments()
                            .out<std::int32_t>(120 * 60)
                            .value<std::int32_t>(120)
                            .value<std::int32_t>(60)
                            .value<std::int32_t>(64));
       }},
      {"local_array",
       &images::agree_control,
       {{4}, {256}},
       [] { return Problem(in_and_out(1024, 1000)); }},
      // agree_warp.cu
      {"warp_sum", &images::agree_warp, {{8}, {256}}, summed_ints},
      {"warp_scan", &images::agree_warp, {{8}, {256}}, summed_ints},
      {"warp_butterfly",
       &images::agree_warp,
       {{8}, {256}},
       [] { return Problem(Arguments().in<double>(2048).out<double>(2048)); }},
      {"warp_compact",
       &images::agree_warp,
       {{8}, {256}},
       [] {
         return Problem(Arguments().in<std::int32_t>(2048).out<std::int32_t>(2048).zeros(64));
       }},
      {"warp_match", &images::agree_warp, {{8}, {256}}, summed_ints},
      {"warp_redux", &images::agree_warp, {{8}, {256}}, summed_ints},
      {"group_sums",
       &images::agree_warp,
       {{8}, {256}},
       [] { return Problem(Arguments().in<std::int32_t>(2048).out<std::int32_t>(128).zeros(8)); }},
      {"group_scan", &images::agree_warp, {{8}, {256}}, summed_ints},
      {"group_coalesced", &images::agree_warp, {{8}, {256}}, summed_ints},
      // agree_block.cu
      {"scan_hillis_steele", &images::agree_block, {{8}, {256}}, summed_ints},
      {"scan_blelloch", &images::agree_block, {{4}, {256}}, summed_ints},
      {"sort_bitonic", &images::agree_block, {{4}, {512}}, summed_ints},
      {"histogram_shared",
       &images::agree_block,
       {{4}, {256}},
       [] {
         return Problem(Arguments().in<std::int32_t>(5000).zeros(32).value<std::int32_t>(5000));
       }},
      {"histogram_global",
       &images::agree_block,
       {{8}, {256}},
       [] {
         return Problem(Arguments().in<std::int32_t>(2000).zeros(32).value<std::int32_t>(2000));
       }},
      {"atomic_extremes",
       &images::agree_block,
       {{8}, {256}},
       [] {
         return Problem(Arguments().in<std::int32_t>(2000).zeros(8).value<std::int32_t>(2000));
       }},
      {"reduce_shuffles",
       &images::agree_block,
       {{4}, {256}},
       [] { return Problem(Arguments().in<float>(5000).out<float>(4).value<std::int32_t>(5000)); }},
      {"radix_split", &images::agree_block, {{8}, {256}}, [] { return turned_words(2048, 1); }},
      {"smith_waterman",
       &images::agree_block,
       {{6}, {64}},
       [] {
         return Problem(
             Arguments().in<std::int32_t>(384).in<std::int32_t>(384, 2).out<std::int32_t>(6));
       }},
      // agree_numeric.cu
      {"stencil_row", &images::agree_numeric, {{16}, {256}}, row_of_floats},
      {"stencil_plane",
       &images::agree_numeric,
       {{4, 8}, {32, 8}},
       [] {
         return Problem(Arguments()
                            .in<float>(100 * 60)
                            .out<float>(100 * 60)
                            .value<std::int32_t>(100)
                            .value<std::int32_t>(60));
       }},
      {"stencil_volume",
       &images::agree_numeric,
       {{2, 4}, {32, 8}},
       [] {
         return Problem(Arguments()
                            .in<float>(60 * 30 * 12)
                            .out<float>(60 * 30 * 12)
                            .value<std::int32_t>(60)
                            .value<std::int32_t>(30)
                            .value<std::int32_t>(12));
       }},
      {"convolve_rows",
       &images::agree_numeric,
       {{2, 8}, {64, 4}},
       [] {
         return Problem(
             Arguments().in<float>(128 * 32).out<float>(128 * 32).value<std::int32_t>(128));
       }},
      {"convolve_columns",
       &images::agree_numeric,
       {{4, 4}, {32, 8}},
       [] {
         return Problem(Arguments()
                            .in<float>(128 * 32)
                            .out<float>(128 * 32)
                            .value<std::int32_t>(128)
                            .value<std::int32_t>(32));
       }},
      {"spmv_scalar", &images::agree_numeric, {{4}, {128}}, sparse},
      {"spmv_vector", &images::agree_numeric, {{125}, {128}}, sparse},
      {"gemv",
       &images::agree_numeric,
       {{2}, {64}},
       [] {
         return Problem(
             Arguments().in<float>(128 * 128).in<float>(128, 2).out<float>(128).value<std::int32_t>(
                 128));
       }},
      {"matmul_registers",
       &images::agree_numeric,
       {{3, 3}, {8, 8}},
       [] {
         return Problem(Arguments()
                            .in<float>(96 * 96)
                            .in<float>(96 * 96, 2)
                            .out<float>(96 * 96)
                            .value<std::int32_t>(96));
       }},
      {"softmax",
       &images::agree_numeric,
       {{16}, {128}},
       [] {
         return Problem(
             Arguments().in<float>(16 * 300).out<float>(16 * 300).value<std::int32_t>(300));
       },
       1e-5},
      {"bodies",
       &images::agree_numeric,
       {{4}, {64}},
       [] {
         return Problem(Arguments().in<float>(1024).out<float>(1024).value<std::int32_t>(256));
       },
       1e-4},
      {"half_axpy",
       &images::agree_numeric,
       {{4}, {256}},
       [] {
         return Problem(
             Arguments().halves(1000).halves(1000, 2).value(3.0F).value<std::int32_t>(1000));
       }},
      {"half_sums",
       &images::agree_numeric,
       {{4}, {256}},
       [] { return Problem(Arguments().halves(512).out<float>(128)); }},
      {"life",
       &images::agree_numeric,
       {{4, 8}, {32, 8}},
       [] {
         return Problem(Arguments()
                            .in<std::int32_t>(128 * 64 / 4)
                            .out<std::int32_t>(128 * 64 / 4)
                            .value<std::int32_t>(128)
                            .value<std::int32_t>(64));
       }},
      {"random_walk",
       &images::agree_numeric,
       {{4}, {128}},
       [] {
         return Problem(
             Arguments().in<std::int32_t>(512).out<std::int32_t>(1024).value<std::int32_t>(40));
       }},
      {"dot_double",
       &images::agree_numeric,
       {{4}, {128}},
       [] {
         return Problem(
             Arguments().in<double>(3000).in<double>(3000, 2).out<double>(4).value<std::int32_t>(
                 3000));
       }},
  };
  return all;
}

std::span<const Case> cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list(algorithms().begin(), algorithms().end());
    list.insert(list.end(), forms().begin(), forms().end());
    list.insert(list.end(), features().begin(), features().end());
    return list;
  }();
  return all;
}

}  // namespace warpmeter::agreement
