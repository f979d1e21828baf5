// SPDX-License-Identifier: MIT
// The arguments of a configuration's kernel at a size, worked out and filled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/expression.h"
#include "collector/family/code.h"
#include "collector/family/spec.h"
#include "collector/model/input/arguments.h"
#include "kernels/family.h"

namespace warpmeter::family {

/// The arguments with their expressions worked out, and nothing filled yet. Throws Error{usage}
/// with the place of the first that is wrong.
std::vector<model::Argument> arguments_at(const FamilySpec& spec, const std::vector<Text>& texts,
                                          const Symbols& symbols);

/// Bytes of all buffers. Throws Error{usage} with the place of one that does not fit into so much
/// of this machine's memory.
std::uint64_t bytes_of(const FamilySpec& spec, const std::vector<Text>& texts,
                       const std::vector<model::Argument>& arguments, std::uint64_t available);

/// The buffers filled. Memory that nobody has set is all ones bits (−1, NaN), so that an element
/// that a kernel leaves out shows. Throws Error{usage}, Error{file} with the place.
kernels::Problem problem_of(const FamilySpec& spec, const std::vector<Text>& texts,
                            const std::vector<model::Argument>& arguments);

/// Throws what problem_of would for the files that fill buffers, and Error{usage} where one of the
/// results that the launch is compared with is not what its buffer is. Reads no more of files than
/// their headers. `at`: " at n = 64", or "".
void check_files(const FamilySpec& spec, const std::vector<Text>& texts,
                 const std::vector<model::Argument>& arguments, const Results& results,
                 const Symbols& symbols, const std::string& at);

/// The same with buffers that have names and no contents, for checking what names them.
kernels::Problem outline_of(const std::vector<model::Argument>& arguments);

/// The buffer's place; past the last: there is none of that name.
std::size_t buffer_named(const kernels::Problem& problem, const std::string& name);

/// Throws Error{usage} where `outputs` or `results` name a buffer that the problem does not have.
void check_outputs(const FamilySpec& spec, const std::vector<Text>& outputs, const Results& results,
                   const kernels::Problem& problem);

/// Throws Error{usage} where the arguments are not those of cuBLAS's product: c, a, b, m, k, n.
void check_library_arguments(const FamilySpec& spec, const VariantSpec& variant,
                             const std::vector<model::Argument>& arguments);

/// Adds the values of the module's variables. Throws Error{usage} with the place of one that is
/// none.
void add_settings(const FamilySpec& spec, const std::vector<Text>& settings, const Unit& unit,
                  kernels::Problem& problem);

/// Throws Error{usage} where the arguments, worked out of `texts`, do not fit the kernel.
void check_arguments(const FamilySpec& spec, const Configuration& configuration,
                     const Kernel& kernel, const std::vector<Text>& texts,
                     const std::vector<model::Argument>& arguments);

}  // namespace warpmeter::family
