// SPDX-License-Identifier: MIT
// The texts that may advise command lines: string literals of the sources, and pages.
#pragma once

#include <string>
#include <vector>

namespace warpmeter::cli {

struct Text {
  std::string place, text;
};

/// The string literals of the program's sources.
std::vector<Text> program_texts();

/// The pages of the documentation.
std::vector<Text> page_texts();

}  // namespace warpmeter::cli
