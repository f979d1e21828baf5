// SPDX-License-Identifier: MIT
// The cause of double arithmetic, as far as a source line shows one. The line may be a stranger's
// and long: the C++ library's regular expressions need a stack frame a character.
#pragma once

#include <string_view>

namespace warpmeter::model::explain {

/// True if the code holds a floating-point literal without a suffix: 0.5, .5, 5., 1e3.
bool has_double_literal(std::string_view code);

/// The cause as a sentence without its end. A comment from "//" on is no code.
const char* cause_of_doubles(std::string_view line);

}  // namespace warpmeter::model::explain
