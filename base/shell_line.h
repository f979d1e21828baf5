#pragma once

#include <span>
#include <string>

namespace warpmeter {

/// Words as one command line that a POSIX shell reads back into the same words.
std::string shell_line(std::span<const std::string> words);

}  // namespace warpmeter
