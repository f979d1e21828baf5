// SPDX-License-Identifier: MIT
// The form of ids.txt and tables.txt: an entry is a line of words, goes on in lines that begin with
// a blank, and '#' begins a comment. For this folder only.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace warpmeter::schema {

/// The words of each entry; they refer to `text`.
inline std::vector<std::vector<std::string_view>> word_lists(std::string_view text) {
  std::vector<std::vector<std::string_view>> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    if (line.front() != ' ') entries.emplace_back();
    while (!line.empty()) {
      const std::size_t length = std::min(line.find(' '), line.size());
      if (length > 0) entries.back().push_back(line.substr(0, length));
      line.remove_prefix(std::min(length + 1, line.size()));
    }
  }
  return entries;
}

}  // namespace warpmeter::schema
