// SPDX-License-Identifier: MIT
// Values of parameters in the place of their names. A compiler takes them as text, so "3-2" in
// "neg<K*2>" needs parentheses; the name of a type must not have any.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace warpmeter::family {

/// The template arguments of a kernel's name: "<TILE, PAD>"; "": none.
std::string_view template_arguments(std::string_view kernel);

/// True if the value has an operator that what stands beside it could take apart: "3-2", "-1", "A ?
/// 1 : 2", but not "16", "1e-3", "(3-2)", "unsigned int", "pair<int, 4>*" or a statement.
bool is_operation(std::string_view value);

/// As the value of a macro: an operation in parentheses.
std::string as_operand(std::string_view value);

/// The kernel's name with the values in its template arguments: operations are in parentheses,
/// except where they are the whole of an argument.
std::string with_values(std::string_view kernel,
                        const std::map<std::string, std::string, std::less<>>& values);

}  // namespace warpmeter::family
