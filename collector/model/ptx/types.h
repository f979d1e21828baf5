// The fundamental types of PTX by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace warpmeter::model::ptx {

/// Bits that a value of the type has: 1 for "pred", 16 for "f16", 32 for "f16x2", 64 for "texref"
/// and its like, which are handles. Nothing for a name that is no type.
std::optional<std::uint32_t> bits_of_type(std::string_view type);

}  // namespace warpmeter::model::ptx
