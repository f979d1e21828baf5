// Rows and columns of an int tile of 512 words under a block of 32 × 16 threads: where a pad of one
// is not enough. What a pattern costs is in smem_rectangle.cu.
#include <cstdint>

#include "kernels/buffers.h"
#include "kernels/images.h"

namespace warpmeter::kernels {
namespace {

constexpr std::uint32_t cols = 32;  // the block's x
constexpr std::uint32_t rows = 16;  // the block's y
constexpr std::uint32_t count = rows * cols;

Problem prepare(std::int64_t) {
  Problem problem;
  problem.buffers.push_back(output_buffer<std::int32_t>("out", count));
  problem.arguments = {BufferArgument{0}};
  return problem;
}

/// Reads back where it wrote: out[i] == i.
std::vector<Expected> same_place(std::int64_t, const Problem&) {
  Expected out{0, std::vector<std::byte>(count * sizeof(std::int32_t))};
  for (std::uint32_t i = 0; i < count; ++i) {
    elements<std::int32_t>(out.values)[i] = static_cast<std::int32_t>(i);
  }
  return {std::move(out)};
}

/// Writes 16 rows of 32, reads their columns one after the other: out holds 32 rows of 16.
std::vector<Expected> transposed(std::int64_t, const Problem&) {
  Expected out{0, std::vector<std::byte>(count * sizeof(std::int32_t))};
  for (std::uint32_t i = 0; i < count; ++i) {
    elements<std::int32_t>(out.values)[i] = static_cast<std::int32_t>((i % rows) * cols + i / rows);
  }
  return {std::move(out)};
}

template <std::uint32_t dynamic_words>
Geometry geometry(std::int64_t) {
  return {.grid = {},
          .block = {cols, rows},
          .dynamic_shared_bytes = dynamic_words * static_cast<std::uint32_t>(sizeof(std::int32_t))};
}

std::uint64_t footprint(std::int64_t) { return count * sizeof(std::int32_t); }

Work work(std::int64_t) { return {.bytes_written = count * sizeof(std::int32_t)}; }

constexpr std::string_view by_rows = "by rows, the 32 lanes meet 32 different banks";
constexpr std::string_view by_upright_columns =
    "in rows of 16 words every second row begins in the same bank: 16 words in each of two banks";
constexpr std::string_view by_columns =
    "a warp reaches two columns of 16 words, 32 words apart: 16 words in each of two banks";
constexpr std::string_view by_columns_pad_1 =
    "a pad of one spreads each of the warp's two columns over 16 banks, but they share 15 of them";
constexpr std::string_view by_columns_pad_2 =
    "a pad of two puts one of the warp's two columns on the even banks and one on the odd";

std::vector<Expectation> costs(double store, std::string_view store_reason, double load,
                               std::string_view load_reason) {
  return {
      {"shared_store_transactions_per_request", Relation::equal, store, store_reason},
      {"shared_load_transactions_per_request", Relation::equal, load, load_reason},
      {"gst_efficiency", Relation::equal, 100, "a warp writes 32 neighbouring ints to out"},
  };
}

}  // namespace

extern const Family smem_rectangle = {
    .name = "smem_rectangle",
    .summary = "rows and columns of an int tile in shared memory under a 32 × 16 block",
    .size_meaning = {},
    .image = &images::smem_rectangle,
    .sizes = {},
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceiling = {},
    .variants =
        {
            {"set_row_read_row", "smem_rectangle_set_row_read_row", geometry<0>, same_place,
             costs(1, by_rows, 1, by_rows)},
            {"set_row_read_row2", "smem_rectangle_set_row_read_row2", geometry<0>, same_place,
             costs(1, by_rows, 1, by_rows)},
            {"set_col_read_col", "smem_rectangle_set_col_read_col", geometry<0>, same_place,
             costs(16, by_upright_columns, 16, by_upright_columns)},
            {"set_col_read_col2", "smem_rectangle_set_col_read_col2", geometry<0>, same_place,
             costs(16, by_columns, 16, by_columns)},
            {"set_row_read_col", "smem_rectangle_set_row_read_col", geometry<0>, transposed,
             costs(1, by_rows, 16, by_columns)},
            {"set_row_read_col_dyn", "smem_rectangle_set_row_read_col_dyn", geometry<count>,
             transposed, costs(1, by_rows, 16, by_columns)},
            {"set_row_read_col_pad1", "smem_rectangle_set_row_read_col_pad1", geometry<0>,
             transposed, costs(1, by_rows, 2, by_columns_pad_1)},
            {"set_row_read_col_pad2", "smem_rectangle_set_row_read_col_pad2", geometry<0>,
             transposed, costs(1, by_rows, 1, by_columns_pad_2)},
            {"set_row_read_col_dyn_pad1", "smem_rectangle_set_row_read_col_dyn_pad1",
             geometry<rows*(cols + 1)>, transposed, costs(1, by_rows, 2, by_columns_pad_1)},
            {"set_row_read_col_dyn_pad2", "smem_rectangle_set_row_read_col_dyn_pad2",
             geometry<rows*(cols + 2)>, transposed, costs(1, by_rows, 1, by_columns_pad_2)},
        },
};

}  // namespace warpmeter::kernels
