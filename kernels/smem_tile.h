// SPDX-License-Identifier: MIT
// The parts that smem_square and smem_rectangle share: one block of `cols` × `rows` threads (x × y)
// fills a tile of as many ints with its indices and writes what it reads back to `out`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/buffers.h"

namespace warpmeter::kernels {

template <std::uint32_t cols, std::uint32_t rows>
struct SmemTile {
  static constexpr std::uint32_t count = cols * rows;

  static Problem prepare(std::int64_t) {
    Problem problem;
    problem.buffers.push_back(output_buffer<std::int32_t>("out", count));
    problem.arguments = {BufferArgument{0}};
    return problem;
  }

  /// Reads back where it wrote: out[i] is i.
  static std::vector<Expected> same_place(std::int64_t, const Problem&) {
    return filled([](std::uint32_t i) { return i; });
  }

  /// Writes rows, reads columns: out holds the tile's columns, one after the other.
  static std::vector<Expected> transposed(std::int64_t, const Problem&) {
    return filled([](std::uint32_t i) { return (i % rows) * cols + i / rows; });
  }

  /// One block, with room for `dynamic_words` ints of dynamic shared memory.
  template <std::uint32_t dynamic_words>
  static Geometry geometry(std::int64_t) {
    return {
        .grid = {},
        .block = {cols, rows},
        .dynamic_shared_bytes = dynamic_words * static_cast<std::uint32_t>(sizeof(std::int32_t))};
  }

  static std::uint64_t footprint(std::int64_t) { return count * sizeof(std::int32_t); }

  static Work work(std::int64_t) { return {.bytes_written = footprint(0)}; }

 private:
  template <class Value>
  static std::vector<Expected> filled(const Value& value) {
    Expected out{0, std::vector<std::byte>(footprint(0))};
    for (std::uint32_t i = 0; i < count; ++i) {
      elements<std::int32_t>(out.values)[i] = static_cast<std::int32_t>(value(i));
    }
    return {std::move(out)};
  }
};

/// A cost in transactions per request, and the reason in words.
struct SmemCost {
  double transactions;
  std::string_view reason;
};

inline constexpr SmemCost by_rows = {1, "by rows, the 32 lanes meet 32 different banks"};

inline std::vector<Expectation> smem_costs(const SmemCost& store, const SmemCost& load) {
  return {
      {"shared_store_transactions_per_request", Relation::equal, store.transactions,
       std::string(store.reason)},
      {"shared_load_transactions_per_request", Relation::equal, load.transactions,
       std::string(load.reason)},
      {"gst_efficiency", Relation::equal, 100, "a warp writes 32 neighbouring ints to out"},
  };
}

}  // namespace warpmeter::kernels
