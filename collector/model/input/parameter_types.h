// SPDX-License-Identifier: MIT
// The elements that a kernel's pointers point to, as far as the C++ types of its parameters tell,
// and whether the elements of a buffer are that. A machine knows addresses only: a float* that is
// given doubles computes with halves of them, and two variants that do so agree.
//
// Nothing is refused on a guess. Types behind a typedef, a macro, a template or a structure are not
// known; void* and bytes are anybody's; vectors of whole numbers and 16-bit words move what they do
// not compute with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/element.h"
#include "collector/model/input/arguments.h"

namespace warpmeter::model {

/// The numbers behind a pointer: four of f32 behind a float4*.
struct Pointee {
  Element element = Element::f32;
  std::uint64_t lanes = 1;
};

/// The pointee of "const float* __restrict__ in", "float const*", "unsigned int in[]". nullopt: no
/// pointer, or it is not known to what.
std::optional<Pointee> pointee_of(std::string_view parameter);

/// Why the argument cannot be a parameter of this type: "it points to f32: write f32 in place of
/// f64"; empty: it can, or nothing is known.
std::string wrong_elements(const Argument& argument, std::string_view parameter);

}  // namespace warpmeter::model
