// SPDX-License-Identifier: MIT
// Tables for a terminal. Headings are stacked word by word, so that a column is as narrow as its
// values; text wraps in its cell where the terminal is too narrow, and nothing is cut off. Source
// text that would not keep 40 columns goes below its row, and so do the last columns where the rest
// is still too wide: "ideal 32,768, excess 0". Names are broken last.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "reports/table/table.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t gap = 2;                   // spaces between columns
constexpr std::size_t narrowest_text = 12;       // a text column is not squeezed further
constexpr std::size_t widest_name_in_text = 24;  // a longer word among others may be broken
constexpr std::size_t narrowest_code = 40;       // nor is one of source text
constexpr std::size_t indent = 4;                // the indent of what stands below its row

struct Layout {
  Align align = Align::left;
  bool may_wrap = false;
  bool is_code = false;
  std::vector<std::string> heading;  // lines
  std::vector<std::string> cells;
  std::size_t width = 0;
  std::size_t widest_name = 0;  ///< that is kept whole while others can give
};

/// A slash stays with the word before it: "loads / request" breaks after the slash.
std::size_t widest_word(std::string_view heading) {
  std::size_t widest = 0;
  std::size_t start = 0;
  while (start <= heading.size()) {
    std::size_t end = std::min(heading.find(' ', start), heading.size());
    if (heading.substr(end, 3) == " / ") end += 2;
    widest = std::max(widest, display_width(heading.substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

Layout layout_of(const Table& table, std::size_t i) {
  const Column& column = table.columns[i];
  Layout layout;
  layout.align = column.align;
  layout.may_wrap = column.align == Align::left;
  layout.is_code = column.kind == Kind::code;
  layout.cells = cell_texts(table, i);
  const std::string heading = heading_of(column);
  layout.width = std::max<std::size_t>(widest_word(heading), 1);
  for (const std::string& cell : layout.cells) {
    layout.width = std::max(layout.width, display_width(cell));
  }
  bool are_names = true;
  for (const std::string& cell : layout.cells) {
    are_names = are_names && cell.find(' ') == std::string::npos;
    layout.widest_name = std::max(layout.widest_name, widest_word(cell));
  }
  if (!are_names) layout.widest_name = std::min(layout.widest_name, widest_name_in_text);
  layout.heading = wrapped(heading, std::max<std::size_t>(layout.width, 2));
  return layout;
}

std::size_t narrowest(const Layout& column) {
  if (!column.may_wrap) return column.width;
  return std::min(column.width, column.is_code ? narrowest_code : narrowest_text);
}

/// A name is not broken while sentences can give.
std::size_t narrowest_with_whole_names(const Layout& column) {
  return std::max(narrowest(column), column.widest_name);
}

std::size_t narrowest_total(const std::vector<Layout>& columns) {
  std::size_t total = gap * (columns.size() - 1);
  for (const Layout& column : columns) total += narrowest(column);
  return total;
}

/// The lines below each row: the source, and before it columns that say their headings.
struct Below {
  std::vector<Layout> named;
  std::optional<Layout> code;
};

/// Takes out of a table with source text what does not fit into the width.
Below take_below(std::vector<Layout>& columns, std::size_t width) {
  Below below;
  const auto code = std::find_if(columns.begin(), columns.end(),
                                 [](const Layout& column) { return column.is_code; });
  if (code == columns.end() || columns.size() < 2) return below;
  // The place in the source, which a row is known by, is not cut while there are others to give.
  if (!columns[0].is_code && columns[0].width <= width / 2) columns[0].may_wrap = false;
  if (narrowest_total(columns) <= width) return below;
  below.code = std::move(*code);
  columns.erase(code);
  while (columns.size() > 1 && narrowest_total(columns) > width) {
    below.named.insert(below.named.begin(), std::move(columns.back()));
    columns.pop_back();
  }
  return below;
}

std::string below_lines(const Below& below, std::size_t row, std::size_t width) {
  std::vector<std::string> texts;
  std::string named;
  for (const Layout& column : below.named) {
    std::string cell = column.cells[row];
    cell.erase(cell.find_last_not_of(' ') + 1);
    named +=
        fmt::format("{}{} {}", named.empty() ? "" : ", ", fmt::join(column.heading, " "), cell);
  }
  if (!named.empty()) texts.push_back(named);
  if (below.code) texts.push_back(below.code->cells[row]);
  std::string lines;
  for (const std::string& text : texts) {
    for (const std::string& line : wrapped(text, std::max(width, 2 * indent) - indent)) {
      lines += std::string(indent, ' ') + line + "\n";
    }
  }
  return lines;
}

std::size_t width_of(const std::vector<Layout>& columns) {
  std::size_t total = gap * (columns.size() - 1);
  for (const Layout& column : columns) total += column.width;
  return total;
}

/// Narrows the widest text column, again and again, until the table fits or none is wider than its
/// `least`.
void narrow(std::vector<Layout>& columns, std::size_t width, std::size_t (*least)(const Layout&)) {
  for (std::size_t total = width_of(columns); total > width; --total) {
    Layout* widest = nullptr;
    for (Layout& column : columns) {
      if (!column.may_wrap || column.width <= least(column)) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

/// Breaks sentences first, then names, and the headings to what their columns have
/// become.
void fit(std::vector<Layout>& columns, std::size_t width) {
  narrow(columns, width, narrowest_with_whole_names);
  narrow(columns, width, narrowest);
  for (Layout& column : columns) {
    std::vector<std::string> lines;
    for (const std::string& line : column.heading) {
      for (std::string& part : wrapped(line, std::max<std::size_t>(column.width, 2))) {
        lines.push_back(std::move(part));
      }
    }
    column.heading = std::move(lines);
  }
}

/// One line of each column, aligned, without trailing spaces.
std::string line_of(const std::vector<Layout>& columns, const std::vector<std::string>& texts) {
  std::string line;
  std::size_t start = 0;  // where the column begins on the line
  std::size_t used = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t width = display_width(texts[i]);
    const std::size_t spare = columns[i].width > width ? columns[i].width - width : 0;
    const std::size_t at = start + (columns[i].align == Align::right ? spare : 0);
    if (width > 0) {
      line.append(at - used, ' ');
      line += texts[i];
      used = at + width;
    }
    start += columns[i].width + gap;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string heading_lines(const std::vector<Layout>& columns) {
  std::size_t height = 0;
  for (const Layout& column : columns) height = std::max(height, column.heading.size());
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    std::vector<std::string> line;
    for (const Layout& column : columns) {
      const std::size_t empty_above = height - column.heading.size();
      line.push_back(i < empty_above ? "" : column.heading[i - empty_above]);
    }
    text += line_of(columns, line);
  }
  std::vector<std::string> rules;
  for (const Layout& column : columns) {
    std::string rule;
    for (std::size_t i = 0; i < column.width; ++i) rule += "─";
    rules.push_back(rule);
  }
  return text + line_of(columns, rules);
}

std::string row_lines(const std::vector<Layout>& columns, std::size_t row) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const Layout& column : columns) {
    cells.push_back(column.may_wrap
                        ? wrapped(column.cells[row], std::max<std::size_t>(column.width, 2))
                        : std::vector<std::string>{column.cells[row]});
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    std::vector<std::string> line;
    for (const auto& cell : cells) line.push_back(i < cell.size() ? cell[i] : "");
    text += line_of(columns, line);
  }
  return text;
}

}  // namespace

std::string render_text(const Table& table, std::size_t width) {
  if (table.columns.empty()) return "";
  std::vector<Layout> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back(layout_of(table, i));
  Below below;
  if (width > 0) {
    below = take_below(columns, width);
    fit(columns, width);
  }
  std::string text = heading_lines(columns);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    text += row_lines(columns, i) + below_lines(below, i, width);
  }
  return text;
}

namespace {

bool fits_with_whole_names(const Table& table, std::size_t width) {
  std::vector<Layout> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back(layout_of(table, i));
  narrow(columns, width, narrowest_with_whole_names);
  return width_of(columns) <= width;
}

/// The columns that have a value in some row; the headings of the others go to `empty`.
Table filled_columns(const Table& table, std::vector<std::string>& empty) {
  Table filled;
  filled.rows.resize(table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool is_empty = std::all_of(table.rows.begin(), table.rows.end(),
                                      [&](const auto& row) { return row[i].missing(); });
    if (is_empty) {
      empty.push_back(heading_of(table.columns[i]));
      continue;
    }
    filled.columns.push_back(table.columns[i]);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      filled.rows[r].push_back(table.rows[r][i]);
    }
  }
  return filled;
}

/// Each row as a list: a heading and its value a line.
std::string render_lists(const Table& table, std::size_t width) {
  std::vector<Layout> columns;
  std::size_t names = 0;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    columns.push_back(layout_of(table, i));
    names = std::max(names, display_width(heading_of(table.columns[i])));
  }
  const std::size_t values = width > names + gap + narrowest_text ? width - names - gap : width;
  std::string text;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    text += fmt::format("{}── row {}\n", r == 0 ? "" : "\n", r + 1);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (table.rows[r][i].missing()) continue;
      const std::string name = heading_of(table.columns[i]);
      std::string cell = columns[i].cells[r];
      cell.erase(cell.find_last_not_of(' ') + 1);
      std::string before = name + std::string(names + gap - display_width(name), ' ');
      for (const std::string& line : wrapped(cell, values)) {
        text += before + line + "\n";
        before = std::string(names + gap, ' ');
      }
    }
  }
  return text;
}

}  // namespace

std::string render_to_fit(const Table& table, std::size_t width) {
  if (width == 0 || table.rows.empty() || fits_with_whole_names(table, width)) {
    return render_text(table, width);
  }
  std::vector<std::string> empty;
  const Table filled = filled_columns(table, empty);
  if (filled.columns.empty()) return render_text(table, width);
  const bool fits = fits_with_whole_names(filled, width);
  std::string text = fits ? render_text(filled, width) : render_lists(filled, width);
  if (fits && !empty.empty()) {
    text += "\n";
    for (const std::string& line :
         wrapped(fmt::format("No value in any row: {}.", fmt::join(empty, ", ")),
                 std::max<std::size_t>(width, 2))) {
      text += line + "\n";
    }
  }
  return text;
}

std::string render_text_in_pieces(const Table& table, std::size_t width) {
  if (width == 0) return render_text(table, width);
  std::string text;
  for (std::size_t next = 1; next < table.columns.size();) {
    std::vector<std::size_t> taken = {0};
    std::size_t total = layout_of(table, 0).width;
    for (; next < table.columns.size(); ++next) {
      total += gap + layout_of(table, next).width;
      if (total > width && taken.size() > 1) break;
      taken.push_back(next);
    }
    Table piece;
    piece.rows.resize(table.rows.size());
    for (const std::size_t column : taken) {
      piece.columns.push_back(table.columns[column]);
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        piece.rows[r].push_back(table.rows[r][column]);
      }
    }
    text += (text.empty() ? "" : "\n") + render_text(piece, width);
  }
  return text;
}

}  // namespace warpmeter::reports
