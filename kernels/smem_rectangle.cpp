// SPDX-License-Identifier: MIT
// Rows and columns of an int tile of 512 words under a block of 32 × 16 threads: where a pad of one
// is not enough. The patterns are described in smem_rectangle.cu.
#include "kernels/images.h"
#include "kernels/smem_tile.h"

namespace warpmeter::kernels {
namespace {

using Tile = SmemTile<32, 16>;

/// Words of dynamic shared memory for 16 rows of 32 and `pad`.
constexpr std::uint32_t words_with(std::uint32_t pad) { return 16 * (32 + pad); }

constexpr SmemCost by_upright_columns = {
    16,
    "in rows of 16 words every second row begins in the same bank: 16 words in each of two banks"};
constexpr SmemCost by_columns = {
    16, "a warp reaches two columns of 16 words, 32 words apart: 16 words in each of two banks"};
constexpr SmemCost by_columns_pad_1 = {
    2,
    "a pad of one spreads each of the warp's two columns over 16 banks, but they share 15 of them"};
constexpr SmemCost by_columns_pad_2 = {
    1, "a pad of two puts one of the warp's two columns on the even banks and one on the odd"};

}  // namespace

extern const Family smem_rectangle = {
    .name = "smem_rectangle",
    .summary = "rows and columns of an int tile in shared memory under a 32 × 16 block",
    .size_meaning = {},
    .image = &images::smem_rectangle,
    .sizes = {},
    .footprint = Tile::footprint,
    .prepare = Tile::prepare,
    .work = Tile::work,
    .ceilings = {},
    .variants =
        {
            {"set_row_read_row", "smem_rectangle_set_row_read_row", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_rows, by_rows)},
            {"set_row_read_row2", "smem_rectangle_set_row_read_row2", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_rows, by_rows)},
            {"set_col_read_col", "smem_rectangle_set_col_read_col", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_upright_columns, by_upright_columns)},
            {"set_col_read_col2", "smem_rectangle_set_col_read_col2", Tile::geometry<0>,
             Tile::same_place, smem_costs(by_columns, by_columns)},
            {"set_row_read_col", "smem_rectangle_set_row_read_col", Tile::geometry<0>,
             Tile::transposed, smem_costs(by_rows, by_columns)},
            {"set_row_read_col_dyn", "smem_rectangle_set_row_read_col_dyn",
             Tile::geometry<words_with(0)>, Tile::transposed, smem_costs(by_rows, by_columns)},
            {"set_row_read_col_pad1", "smem_rectangle_set_row_read_col_pad1", Tile::geometry<0>,
             Tile::transposed, smem_costs(by_rows, by_columns_pad_1)},
            {"set_row_read_col_pad2", "smem_rectangle_set_row_read_col_pad2", Tile::geometry<0>,
             Tile::transposed, smem_costs(by_rows, by_columns_pad_2)},
            {"set_row_read_col_dyn_pad1", "smem_rectangle_set_row_read_col_dyn_pad1",
             Tile::geometry<words_with(1)>, Tile::transposed,
             smem_costs(by_rows, by_columns_pad_1)},
            {"set_row_read_col_dyn_pad2", "smem_rectangle_set_row_read_col_dyn_pad2",
             Tile::geometry<words_with(2)>, Tile::transposed,
             smem_costs(by_rows, by_columns_pad_2)},
        },
};

}  // namespace warpmeter::kernels
