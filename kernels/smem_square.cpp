// SPDX-License-Identifier: MIT
// Rows and columns of a 32 × 32 int tile in shared memory: the textbook's bank conflicts, and the
// pad that ends them. The patterns are described in smem_square.cu.
#include "kernels/images.h"
#include "kernels/smem_tile.h"

namespace warpmeter::kernels {
namespace {

using Tile = SmemTile<32, 32>;

constexpr std::uint32_t pad = 1;

constexpr SmemCost by_columns = {32,
                                 "by columns, the 32 lanes meet 32 different words of one bank"};
constexpr SmemCost by_padded_columns = {
    1, "a pad of one word a row puts the 32 words of a column into 32 different banks"};

}  // namespace

extern const Family smem_square = {
    .name = "smem_square",
    .summary = "rows and columns of a 32 × 32 int tile in shared memory",
    .size_meaning = {},
    .image = &images::smem_square,
    .sizes = {},
    .footprint = Tile::footprint,
    .prepare = Tile::prepare,
    .work = Tile::work,
    .ceilings = {},
    .variants =
        {
            {"set_row_read_row", "smem_square_set_row_read_row", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_rows, by_rows)},
            {"set_col_read_col", "smem_square_set_col_read_col", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_columns, by_columns)},
            {"set_row_read_col", "smem_square_set_row_read_col", Tile::geometry<0>,
             Tile::transposed, smem_costs(by_rows, by_columns)},
            {"set_row_read_col_dyn", "smem_square_set_row_read_col_dyn",
             Tile::geometry<Tile::count>, Tile::transposed, smem_costs(by_rows, by_columns)},
            {"set_row_read_col_pad", "smem_square_set_row_read_col_pad", Tile::geometry<0>,
             Tile::transposed, smem_costs(by_rows, by_padded_columns)},
            {"set_row_read_col_dyn_pad", "smem_square_set_row_read_col_dyn_pad",
             Tile::geometry<32 * (32 + pad)>, Tile::transposed,
             smem_costs(by_rows, by_padded_columns)},
        },
};

}  // namespace warpmeter::kernels
