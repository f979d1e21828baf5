// SPDX-License-Identifier: MIT
// The operations by what PTX calls them, out of operations.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "collector/model/machine/warp/operation.h"
#include "collector/model/ptx/mnemonic.h"

namespace warpmeter::model {

/// The type of a row of lanes.
enum class RowType : std::uint8_t { none, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64 };
unsigned bytes_of(RowType type);

/// An operation whose lanes are computed from at most three rows.
struct ValueOperation {
  Code code = Code::count;
  RowType destination = RowType::none;  ///< none: a predicate
  std::array<RowType, 3> sources{};
  unsigned source_count = 0;
};

/// By the instruction's words without .ftz, .sat and .relu of floats: mad, lo, s32. Those of min
/// and max with three sources end in Word::three. Null: there is none.
const ValueOperation* find_value_operation(ptx::Opcode opcode, const ptx::Words& words);

/// The operation that compares two rows; swapped when its operands are.
struct Comparison {
  Code code = Code::count;
  RowType type = RowType::none;
  bool swapped = false;
};
/// `comparison` is lt, neu, …; `type` that of one number.
std::optional<Comparison> find_comparison(ptx::Word comparison, ptx::Type type);

/// The codes of one load or store, by the width of the address and for one register or several.
struct AccessCodes {
  Code narrow = Code::count, wide = Code::count, vector_narrow = Code::count,
       vector_wide = Code::count;

  Code of(bool is_wide, bool is_vector) const {
    if (is_vector) return is_wide ? vector_wide : vector_narrow;
    return is_wide ? wide : narrow;
  }
};

/// The codes of a load of `bytes` into a row of `row_bytes` (2, 4 or 8), or of a store out of one.
/// Null: there is none.
const AccessCodes* find_load(unsigned bytes, bool is_signed, unsigned row_bytes);
const AccessCodes* find_store(unsigned bytes, unsigned row_bytes);

}  // namespace warpmeter::model
