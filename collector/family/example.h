// SPDX-License-Identifier: MIT
// An argument to start from, for the command that a listing shows for each kernel: right in its
// type and size, and anybody's guess in the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/element.h"
#include "collector/model/machine/program.h"

namespace warpmeter::family {

/// The number that a C++ type is: "unsigned int const" is u32. nullopt: a pointer, a structure.
std::optional<Element> element_of(const std::string& type);

/// For a parameter as a source declares it: "const float* __restrict__ in" →
/// "in:f32[1<<20]=random". Whole numbers are `number`. Values that are read are safe as indices.
std::string example_of_declaration(const std::string& parameter, std::int64_t number, bool is_read);

/// For a parameter whose type is known from the kernel's mangled name ("float const*"), or "".
std::string example_of_parameter(const model::Parameter& parameter, const std::string& type,
                                 std::int64_t number);

}  // namespace warpmeter::family
