// SPDX-License-Identifier: MIT
// The expected contents of a buffer, computed by the CPU: "cpu:transpose(in, n, n)". The arguments
// are buffers of the launch first, then expressions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression.h"
#include "collector/family/spec.h"
#include "kernels/family.h"

namespace warpmeter::family {

/// True for "cpu:…".
bool is_cpu_call(std::string_view text);

/// A buffer of a launch, by name.
struct Extent {
  std::string name;
  Element element = Element::f32;
  std::uint64_t count = 0;
};

/// Throws Error{usage} with the place where the call is no call, names what is not there, or does
/// not fit the buffers.
void check_cpu_call(const FamilySpec& spec, const Text& call, const Symbols& symbols,
                    const std::vector<Extent>& buffers, const Extent& result);

/// The contents. Throws what check_cpu_call does.
std::vector<std::byte> call_cpu(const FamilySpec& spec, const Text& call, const Symbols& symbols,
                                const kernels::Problem& problem, std::size_t result);

}  // namespace warpmeter::family
