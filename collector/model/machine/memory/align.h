// SPDX-License-Identifier: MIT
// Addresses and sizes brought up to an alignment.
#pragma once

#include <type_traits>

namespace warpmeter::model {

/// The smallest multiple of `alignment` that is not below `value`; an alignment of 0 or 1 asks for
/// nothing.
template <class Integer>
constexpr Integer round_up(Integer value, std::type_identity_t<Integer> alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

}  // namespace warpmeter::model
