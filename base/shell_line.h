// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter {

/// Words as one command line that a POSIX shell reads back into the same words.
std::string shell_line(std::span<const std::string> words);

/// The words again, of a line as shell_line() writes it.
std::vector<std::string> shell_words(std::string_view line);

}  // namespace warpmeter
