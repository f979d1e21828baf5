// SPDX-License-Identifier: MIT
#include "collector/model/input/compiler_messages.h"

#include <fmt/format.h>

#include <cstddef>
#include <sstream>

namespace warpmeter::model {

std::string first_error(const std::string& messages) {
  constexpr std::string_view mark = "error: ";
  const std::size_t at = messages.find(mark);
  const std::size_t begin = at == std::string::npos ? 0 : at + mark.size();
  return messages.substr(begin, messages.find('\n', begin) - begin);
}

std::string first_errors(const std::string& messages) {
  constexpr std::size_t most_errors = 3, most_lines = 8;  // lines of one error
  std::string shown;
  std::size_t errors = 0, lines = 0, all_lines = 0;
  std::istringstream text(messages);
  for (std::string line; std::getline(text, line); ++all_lines) {
    const bool is_error =
        line.find("error: ") != std::string::npos || line.find("error : ") != std::string::npos;
    const bool is_warning = line.find("): warning") != std::string::npos;
    if (is_error) ++errors;
    if (is_error || is_warning) lines = 0;
    const bool is_left_out = errors == 0 || is_warning || errors > most_errors;
    if (!is_left_out && ++lines <= most_lines) shown += line + "\n";
    if (is_warning) lines = most_lines;  // with the lines that belong to it
  }
  if (errors == 0 || (errors == 1 && all_lines <= most_lines)) return messages;
  while (shown.ends_with('\n')) shown.pop_back();
  if (errors > most_errors) shown += fmt::format("\n… and {} more errors", errors - most_errors);
  return shown;
}

}  // namespace warpmeter::model
