// The operations by their PTX names, out of operations.inc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collector/model/machine/operation.h"

namespace warpmeter::model {

/// What a row of lanes holds.
enum class RowType : std::uint8_t { none, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64 };
unsigned bytes_of(RowType type);

/// An operation whose lanes are computed from at most three rows.
struct ValueOperation {
  Code code = Code::count;
  RowType destination = RowType::none;  ///< none: a predicate
  std::array<RowType, 3> sources{};
  unsigned source_count = 0;
};

/// By its full PTX name without .ftz and .sat of floats: "mad.lo.s32". Null: there is none.
const ValueOperation* find_value_operation(std::string_view name);

/// The operation that compares two rows: "lt", "neu", …; swapped when its operands are.
struct Comparison {
  Code code = Code::count;
  RowType type = RowType::none;
  bool swapped = false;
};
/// `type` is PTX's: "s32", "b64", "f32".
std::optional<Comparison> find_comparison(std::string_view comparison, std::string_view type);

/// The first of the four codes of a load of `bytes` into a row of `row_bytes` (2, 4 or 8), or of a
/// store out of one; the others follow in the order of operations.inc.
std::optional<Code> find_load(unsigned bytes, bool is_signed, unsigned row_bytes);
std::optional<Code> find_store(unsigned bytes, unsigned row_bytes);

/// What of PTX can be executed, for messages: "abs, activemask, add, …".
const std::string& supported_opcodes();

}  // namespace warpmeter::model
