// Rows and columns of a 32 × 32 int tile in shared memory: the textbook's bank conflicts, and the
// pad that ends them. What a pattern costs is in smem_square.cu.
#include <cstdint>

#include "kernels/buffers.h"
#include "kernels/images.h"

namespace warpmeter::kernels {
namespace {

constexpr std::uint32_t side = 32;
constexpr std::uint32_t pad = 1;
constexpr std::uint32_t count = side * side;

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

/// Writes rows, reads columns: out is the transpose of the indices.
std::vector<Expected> transposed(std::int64_t, const Problem&) {
  Expected out{0, std::vector<std::byte>(count * sizeof(std::int32_t))};
  for (std::uint32_t i = 0; i < count; ++i) {
    elements<std::int32_t>(out.values)[i] = static_cast<std::int32_t>((i % side) * side + i / side);
  }
  return {std::move(out)};
}

template <std::uint32_t dynamic_words>
Geometry geometry(std::int64_t) {
  return {.grid = {},
          .block = {side, side},
          .dynamic_shared_bytes = dynamic_words * static_cast<std::uint32_t>(sizeof(std::int32_t))};
}

std::uint64_t footprint(std::int64_t) { return count * sizeof(std::int32_t); }

Work work(std::int64_t) { return {.bytes_written = count * sizeof(std::int32_t)}; }

constexpr std::string_view by_rows = "by rows, the 32 lanes meet 32 different banks";
constexpr std::string_view by_columns =
    "by columns, the 32 lanes meet 32 different words of one bank";
constexpr std::string_view by_padded_columns =
    "a pad of one word a row puts the 32 words of a column into 32 different banks";

std::vector<Expectation> costs(double store, std::string_view store_reason, double load,
                               std::string_view load_reason) {
  return {
      {"shared_store_transactions_per_request", Relation::equal, store, store_reason},
      {"shared_load_transactions_per_request", Relation::equal, load, load_reason},
      {"gst_efficiency", Relation::equal, 100, "a warp writes 32 neighbouring ints to out"},
  };
}

}  // namespace

extern const Family smem_square = {
    .name = "smem_square",
    .summary = "rows and columns of a 32 × 32 int tile in shared memory",
    .size_meaning = {},
    .image = &images::smem_square,
    .sizes = {},
    .footprint = footprint,
    .prepare = prepare,
    .work = work,
    .ceiling = {},
    .variants =
        {
            {"set_row_read_row", "smem_square_set_row_read_row", geometry<0>, same_place,
             costs(1, by_rows, 1, by_rows)},
            {"set_col_read_col", "smem_square_set_col_read_col", geometry<0>, same_place,
             costs(32, by_columns, 32, by_columns)},
            {"set_row_read_col", "smem_square_set_row_read_col", geometry<0>, transposed,
             costs(1, by_rows, 32, by_columns)},
            {"set_row_read_col_dyn", "smem_square_set_row_read_col_dyn", geometry<count>,
             transposed, costs(1, by_rows, 32, by_columns)},
            {"set_row_read_col_pad", "smem_square_set_row_read_col_pad", geometry<0>, transposed,
             costs(1, by_rows, 1, by_padded_columns)},
            {"set_row_read_col_dyn_pad", "smem_square_set_row_read_col_dyn_pad",
             geometry<side*(side + pad)>, transposed, costs(1, by_rows, 1, by_padded_columns)},
        },
};

}  // namespace warpmeter::kernels
