// SPDX-License-Identifier: MIT
// GitHub tables. A cell must show exactly its text: whatever markdown would read as markup is
// escaped, and only where it would be, so that names such as set_row_read_col stay readable in the
// source.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/table/table.h"

namespace warpmeter::reports {
namespace {

/// Columns are padded to line up as text, but one long reason must not push the end of every row
/// out of sight.
constexpr std::size_t widest_padding = 60;

/// Bytes of other alphabets count as punctuation here: one escape too many shows nothing.
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// A code span cannot hold a backtick of its own, and tables read a backslash before a pipe.
std::string code_span(std::string_view text) {
  if (text.empty()) return "";
  if (text.find('`') != std::string_view::npos || text.find("\\|") != std::string_view::npos) {
    return escaped_markdown(text);
  }
  std::string span = "`";
  for (const char c : text) span += c == '|' ? std::string("\\|") : std::string(1, c);
  return span + "`";
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string gap(used < width ? width - used : 0, ' ');
  return align == Align::right ? gap + text : text + gap;
}

std::string rule(std::size_t width, Align align) {
  std::string dashes(width, '-');
  if (align == Align::right) dashes.back() = ':';
  return dashes;
}

/// GitHub makes links of bare addresses: whether one's ':' or '.' is at `place`.
bool is_of_address(std::string_view text, std::size_t place) {
  if (text[place] == ':') return text.substr(place).substr(0, 3) == "://";
  if (text[place] != '.' || place < 3) return false;
  const std::string_view before = text.substr(place - 3, 3);
  return std::all_of(before.begin(), before.end(), [](char c) { return c == 'w' || c == 'W'; });
}

}  // namespace

std::string escaped_markdown(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '&') {
      escaped += escaped_markup(text.substr(i, 1));
    } else if (c == '_') {
      const std::size_t end = std::min(text.find_first_not_of('_', i), text.size());
      const bool in_word = i > 0 && is_word(text[i - 1]) && end < text.size() && is_word(text[end]);
      for (; i < end; ++i) escaped += in_word ? "_" : "\\_";
      --i;
    } else {
      if (std::string_view("\\|`*[]~$").find(c) != std::string_view::npos ||
          is_of_address(text, i)) {
        escaped += '\\';
      }
      escaped += c;
    }
  }
  return escaped;
}

std::string render_markdown(const Table& table) {
  if (table.columns.empty()) return "";
  std::string head, line;
  std::vector<std::string> body(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const std::string heading = escaped_markdown(heading_of(column));
    std::vector<std::string> cells = cell_texts(table, i);
    std::size_t width = std::max<std::size_t>(display_width(heading), 3);
    for (std::size_t r = 0; r < cells.size(); ++r) {
      const bool code = column.kind == Kind::code && !table.rows[r][i].missing();
      cells[r] = code ? code_span(cells[r]) : escaped_markdown(cells[r]);
      width = std::max(width, std::min(widest_padding, display_width(cells[r])));
    }
    head += "| " + padded(heading, width, column.align) + " ";
    line += "| " + rule(width, column.align) + " ";
    for (std::size_t r = 0; r < body.size(); ++r) {
      body[r] += "| " + padded(cells[r], width, column.align) + " ";
    }
  }
  std::string markdown = head + "|\n" + line + "|\n";
  for (const std::string& row : body) markdown += row + "|\n";
  return markdown;
}

}  // namespace warpmeter::reports
