// SPDX-License-Identifier: MIT
// How matrices lie in the registers of a warp, and by which accesses wmma.load and wmma.store move
// them. PTX fixes the first for mma alone, and leaves all of it open for wmma; here is what sm_90
// and ptxas have, which tests/golden/matrix holds: where an H100 put each element, and what it
// counted.
//
// The first operand of a product is the one whose lines come in blocks of 16: A, or B where the
// result has 8 rows and 32 columns. A block's tiles follow each other: the upper eight lines and
// the lower of one stretch of k, then of the next. Tiles of the second operand go through k for
// each eight lines. The result's tiles go down the 16 lines, then to the next eight columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "collector/model/machine/warp/matrix_product.h"
#include "collector/model/machine/warp/warpgroup_product.h"
#include "collector/model/ptx/mnemonic.h"

namespace warpmeter::model {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
/// As the mnemonic says, .m16n8k16; all 0 where it says none.
MatrixShape matrix_shape(const ptx::Mnemonic& instruction);
/// The same of wgmma.mma_async.….m64n256k16; all 0 where there is no such shape for its types.
MatrixShape warpgroup_shape(const ptx::Mnemonic& instruction);
std::optional<MatrixNumber> matrix_number(ptx::Type type);
unsigned bits_of(MatrixNumber number);
/// True if B is the first operand.
bool is_swapped(const MatrixShape& shape);

/// Says how many registers an operand of a number has, and which tile is in each.
void place_factor(MatrixOperand& operand, unsigned lines, unsigned k, bool is_first);
void place_sum(MatrixOperand& sum, unsigned first_lines, unsigned second_lines);

/// One access of wmma.load or wmma.store.
struct FragmentAccess {
  unsigned first_register = 0;
  unsigned byte = 0;  ///< the byte of 8-bit elements that are moved alone: which of the register's
  MatrixReach reach{};
};

/// The accesses of wmma.load or wmma.store: accesses alike, each with an address in every lane.
struct Fragment {
  unsigned registers = 0;  ///< that the instruction names
  unsigned distinct = 0;   ///< the others repeat these
  unsigned element_bits = 32;
  unsigned width = 4;           ///< bytes of an access and lane; of rows of matrices 16
  unsigned registers_each = 1;  ///< the registers each of an access
  bool is_rows = false;         ///< the access is ldmatrix's: its addresses are those of rows
  bool transposes = false;      ///< lines and columns of a tile change places
  std::vector<FragmentAccess> accesses;
};
/// Nothing where the mnemonic names no fragment that there is.
std::optional<Fragment> fragment_of(const ptx::Mnemonic& instruction);

}  // namespace warpmeter::model
