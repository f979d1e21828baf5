// SPDX-License-Identifier: MIT
#include "collector/model/input/compiler_messages.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

namespace warpmeter::model {
namespace {

/// The place that a message begins with, "k.cu(3)" or "k.cu:3:5"; empty for a line that goes on
/// with the message before it.
std::string_view place_of_message(std::string_view line) {
  if (line.empty() || line.front() == ' ') return "";
  std::size_t end = std::string_view::npos;
  for (const std::string_view kind :
       {": error", ": warning", ": remark", ": note", ": fatal error", ": catastrophic error"}) {
    end = std::min(end, line.find(kind));
  }
  const std::string_view place = line.substr(0, end);
  const bool has_number = end != std::string_view::npos && end > 0 &&
                          (place.back() == ')' || std::isdigit(place.back()) != 0);
  return has_number ? place : "";
}

/// "k.cu" of "k.cu(3)" and "k.cu:3:5".
std::string file_of_place(std::string_view place) {
  if (place.ends_with(')')) return std::string(place.substr(0, place.rfind('(')));
  for (int i = 0; i < 2; ++i) {
    const std::size_t last = place.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == place.size() || place[last] != ':') break;
    place = place.substr(0, last);
  }
  return std::string(place);
}

}  // namespace

std::string without_quotes(const std::string& messages, const std::string& source,
                           const NamedFiles& shown) {
  std::string result;
  bool is_quoted = false;
  std::set<std::string> told;  // files
  std::istringstream lines(messages);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view place = place_of_message(line);
    if (!place.empty()) {
      const std::string file = file_of_place(place);
      std::error_code ignored;
      is_quoted = file != source && std::filesystem::exists(file, ignored) && !shown.allows(file);
      if (is_quoted && told.insert(file).second) {
        const std::filesystem::path whole = std::filesystem::weakly_canonical(file, ignored);
        result += fmt::format(
            "{}: error: this file is outside of the source's folder, the working folder and -I: "
            "what the compiler says of it is shown with -I {}\n",
            place, whole.parent_path().string());
      }
    }
    // A line of the compiler's own ends the quote: "2 errors detected in …".
    is_quoted = is_quoted && (!place.empty() || line.empty() || line.front() == ' ');
    if (!is_quoted) result += line + "\n";
  }
  if (!messages.ends_with('\n') && !result.empty()) result.pop_back();
  return result;
}

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
  if (errors > most_errors)
    shown += fmt::format("\n… and {}", with_noun(errors - most_errors, "more error"));
  return shown;
}

}  // namespace warpmeter::model
