// SPDX-License-Identifier: MIT
#include "base/comments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace warpmeter {
namespace {

/// The end of the line at `rest`, behind lines that a backslash continues.
std::size_t line_length(std::string_view rest) {
  std::size_t end = rest.find('\n');
  while (end != std::string_view::npos && end > 0 && rest[end - 1] == '\\')
    end = rest.find('\n', end + 1);
  return std::min(end, rest.size());
}

/// The length of the comment that `rest` begins with; 0: none.
std::size_t comment_length(std::string_view rest) {
  if (rest.starts_with("//")) return line_length(rest);
  if (!rest.starts_with("/*")) return 0;
  const std::size_t end = rest.find("*/", 2);
  return end == std::string_view::npos ? rest.size() : end + 2;
}

/// The length of the string or character that `rest` begins with; 0: none. One that is not closed
/// ends with its line, as the apostrophe of an #error does.
std::size_t literal_length(std::string_view rest, bool is_behind_word) {
  if (rest.starts_with("R\"") && !is_behind_word) {
    const std::size_t open = rest.find('(');
    if (open == std::string_view::npos) return 0;
    const std::string closing = fmt::format("){}\"", rest.substr(2, open - 2));
    const std::size_t end = rest.find(closing, open);
    return end == std::string_view::npos ? rest.size() : end + closing.size();
  }
  const char quote = rest[0];
  const bool is_separator = quote == '\'' && is_behind_word;  // 1'000
  if ((quote != '"' && quote != '\'') || is_separator) return 0;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\')
      ++i;
    else if (rest[i] == quote || rest[i] == '\n')
      return i + 1;
  }
  return rest.size();
}

std::string cleaned(const std::string& text, bool has_commands) {
  std::string result;
  bool begins_line = true;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    const bool is_command = begins_line && rest[0] == '#' && !has_commands;
    const std::size_t left_out = is_command ? line_length(rest) : comment_length(rest);
    if (left_out > 0) {
      result += ' ';
      i += left_out;
      continue;
    }
    const bool is_behind_word = i > 0 && is_of_word(text[i - 1]);
    const std::size_t length = std::max<std::size_t>(1, literal_length(rest, is_behind_word));
    result += rest.substr(0, length);
    i += length;
    if (result.back() == '\n') {
      begins_line = true;
    } else if (std::isspace(static_cast<unsigned char>(result.back())) == 0) {
      begins_line = false;
    }
  }
  return result;
}

}  // namespace

std::string with_blank_literals(const std::string& text) {
  std::string result = text;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = std::string_view(text).substr(i);
    std::size_t length = comment_length(rest);
    if (length == 0) length = literal_length(rest, i > 0 && is_of_word(text[i - 1]));
    for (std::size_t k = i; k < i + length; ++k) {
      if (text[k] != '\n') result[k] = ' ';
    }
    i += std::max<std::size_t>(1, length);
  }
  return result;
}

std::string without_comments(const std::string& text) { return cleaned(text, true); }

std::string without_commands(const std::string& text) { return cleaned(text, false); }

std::set<std::string> names_in_commands(const std::string& text) {
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] != '#') continue;
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words.front() != "pragma") names.insert(words.begin(), words.end());
  }
  return names;
}

}  // namespace warpmeter
