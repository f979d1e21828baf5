// SPDX-License-Identifier: MIT
// Arithmetic over names, as family files and arguments have it: n*n, ceil(n/TILE), 1<<20,
// n % 32 == 0 ? n/32 : n/32 + 1.
//
//   numbers     12, 0x1f, 1.5, 1e-6
//   operators   those of C, with its precedence: ?: || && | ^ & == != < <= > >= << >> + - * / % ! ~
//   - functions   ceil floor round abs sqrt log2 min max
//
// Division is exact (7/2 is 3.5): what is needed as a whole number has to be one, or be rounded by
// name. Whole numbers are exact below 2^63.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace warpmeter {

using Symbols = std::map<std::string, long double, std::less<>>;

/// A mistake in an expression, and its place: `what()` is a clause ("divides by zero").
struct ExpressionFault : std::runtime_error {
  ExpressionFault(std::size_t at, const std::string& clause)
      : std::runtime_error(clause), column(at) {}
  std::size_t column;  ///< from 0
};

/// Throws ExpressionFault: no expression, an unknown name (with the nearest), a division by zero.
long double evaluate(std::string_view expression, const Symbols& symbols);

/// The same, for what has to be whole: from `least` to `most`.
std::int64_t evaluate_whole(std::string_view expression, const Symbols& symbols, std::int64_t least,
                            std::int64_t most);

/// The names that it uses, functions left out; of what is no expression, those before the mistake.
std::set<std::string> names_in(std::string_view expression);

}  // namespace warpmeter
