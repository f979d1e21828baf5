// An argument to start from, for the command that a listing shows for each kernel: right in its
// type and size, and anybody's guess in the rest.
#pragma once

#include <optional>
#include <string>

#include "base/element.h"
#include "collector/model/machine/program.h"

namespace warpmeter::family {

/// The number that a C++ type is: "unsigned int const" is u32. nullopt: a pointer, a structure.
std::optional<Element> element_of(const std::string& type);

/// Of a parameter as a source declares it: "const float* __restrict__ in" → "in:f32[1<<20]=random".
std::string example_of_declaration(const std::string& parameter);

/// Of a parameter whose type is known from the kernel's mangled name ("float const*"), or "".
std::string example_of_parameter(const model::Parameter& parameter, const std::string& type);

}  // namespace warpmeter::family
