// SPDX-License-Identifier: MIT
// A kernel's name in its forms: mangled, as the linker knows it, and as people write it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// "_ZN3foo6reduceILi4EEEvPf" → "void foo::reduce<4>(float*)"; a name that is not mangled as it is.
std::string demangled(const std::string& name);

/// The bare name of a function: "void foo::reduce<4>(float*)" → "reduce". Takes both forms.
std::string function_name(const std::string& name);

/// The longest name that a table shows, in bytes.
inline constexpr std::size_t longest_shown_name = 60;

/// The bare name of each kernel, with as much more as tells those apart that share it: "t<1>" and
/// "t<8>", "A::k" and "B::k", "f(int)" and "f(float)". Where that is long, the fewest parts that no
/// other has together, and a number that depends on the whole name: "elementwise<add>#3f0a",
/// "sm80_xmma_gemm…nn tilesize64x64x8#0b1c". No two are equal. Takes mangled names.
std::map<std::string, std::string> distinct_names(const std::set<std::string>& kernels);

/// The part of a distinct name that does not depend on the other kernels of a run:
/// "elementwise<add>#3f0a" → "elementwise#3f0a".
std::string name_of_pairs(const std::string& name);

/// True if `name` is one of those that distinct_names may give.
bool is_name_of(const std::string& name, const std::string& kernel);

/// The name as its author wrote it, without parameters: "foo::reduce<4>".
std::string readable_name(std::string_view name);

/// The same with its parameters, which tells overloads apart: "foo::reduce<4>(float*)".
std::string name_with_parameters(std::string_view name);

/// The types of its parameters as the mangled name has them: {"float*", "unsigned int"}. nullopt:
/// it has none, as that of an extern "C" function.
std::optional<std::vector<std::string>> parameter_types(std::string_view name);

/// Without the blanks that C++ does not need: "f<unsigned  int, 4>" → "f<unsigned int,4>".
std::string without_needless_blanks(std::string_view name);

/// The parts of a C++ list, split at the commas outside of brackets; blanks around them are no part
/// of them.
std::vector<std::string> split_list(std::string_view list);

}  // namespace warpmeter
