// SPDX-License-Identifier: MIT
#include "reports/plot/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/plot/drawing.h"

namespace warpmeter::reports {
namespace {

std::string right(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + text;
}

std::size_t label_width(const Picture& picture) {
  std::size_t width = display_width(picture.corner);
  for (const Picture::Row& row : picture.rows) width = std::max(width, display_width(row.label));
  return width;
}

/// Columns from `begin` to `end` as lines of text.
std::string part_text(const Picture& picture, std::size_t begin, std::size_t end,
                      std::size_t labels, std::size_t cell_width) {
  std::string text = right(picture.corner, labels) + " ";
  for (std::size_t i = begin; i < end; ++i) text += right(picture.columns[i], cell_width);
  text += "\n";
  for (const Picture::Row& row : picture.rows) {
    text += right(row.label, labels) + " ";
    for (std::size_t i = begin; i < end; ++i) {
      text += right(row.cells[i].text.empty() ? "·" : row.cells[i].text, cell_width);
    }
    text += "\n";
  }
  return text;
}

constexpr double cell = 20, top = 26, letter_width = 6.6;

/// The drawing alone: `focus` makes each cell that somebody goes to reachable by keyboard.
std::string body_of(const Picture& picture, double left, bool focus) {
  std::string body;
  const auto text = [&](double x, double y, const char* anchor, const std::string& words) {
    body += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                        anchor, svg_text(words));
  };
  text(left - 6, top - 9, "end", picture.corner);
  for (std::size_t i = 0; i < picture.columns.size(); ++i) {
    text(left + cell * (static_cast<double>(i) + .5), top - 9, "middle", picture.columns[i]);
  }
  double y = top;
  for (const Picture::Row& row : picture.rows) {
    text(left - 6, y + 14, "end", row.label);
    body += fmt::format(
        "<rect class=\"e\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"19\"/>\n", left, y,
        cell * static_cast<double>(row.cells.size()) - 1);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Picture::Cell& c = row.cells[i];
      const double x = left + cell * static_cast<double>(i);
      if (c.text.empty()) continue;
      body += fmt::format(
          "<g{}><title>{}</title><rect class=\"u\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"19\" "
          "height=\"19\"/><text class=\"n\" x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}"
          "</text></g>\n",
          focus ? fmt::format(" tabindex=\"0\" role=\"img\" aria-label=\"{}\"", svg_text(c.title))
                : "",
          svg_text(c.title), x, y, x + 9.5, y + 14, svg_text(c.text));
    }
    y += cell;
  }
  return body;
}

struct Size {
  double left = 0, width = 0, height = 0;
};

Size size_of(const Picture& picture) {
  Size size;
  size.left = 12 + letter_width * static_cast<double>(label_width(picture));
  size.width = size.left + cell * static_cast<double>(picture.columns.size()) + 8;
  size.height = top + cell * static_cast<double>(picture.rows.size()) + 6;
  return size;
}

}  // namespace

std::string picture_text(const Picture& picture, std::size_t width) {
  const std::size_t labels = label_width(picture);
  std::size_t cell_width = 3;
  for (const Picture::Row& row : picture.rows) {
    for (const Picture::Cell& c : row.cells) {
      cell_width = std::max(cell_width, display_width(c.text) + 1);
    }
  }
  std::size_t columns = picture.columns.size();
  while (width > 0 && columns > 4 && labels + 1 + columns * cell_width > width) {
    columns = (columns + 1) / 2;
  }
  std::string text = printable(picture.title) + "\n";
  for (std::size_t begin = 0; begin < picture.columns.size(); begin += columns) {
    const std::size_t end = std::min(begin + columns, picture.columns.size());
    text += part_text(picture, begin, end, labels, cell_width);
  }
  for (const std::string& line :
       wrapped(printable(picture.description),
               width > 0 ? std::clamp<std::size_t>(width, 20, 100) : 100)) {
    text += line + "\n";
  }
  return text;
}

std::string picture_svg(const Picture& picture) {
  constexpr std::string_view style =
      "text{font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
      "fill:#3b4252}.bg{fill:#fff}.e{fill:#f0f2f6}.u{fill:#2f5fc4}.n{fill:#fff}"
      "@media(prefers-color-scheme:dark){text{fill:#c3cad6}.bg{fill:#14181f}.e{fill:#222936}"
      ".u{fill:#86aaff}.n{fill:#14181f}}";
  const Size size = size_of(picture);
  return svg_file(picture.title, picture.description, size.width, size.height, style,
                  body_of(picture, size.left, false));
}

std::string picture_html(const Picture& picture) {
  const Size size = size_of(picture);
  return fmt::format(
      "<figure class=\"warp\">\n<figcaption><strong>{}</strong> <span>{}</span></figcaption>\n"
      "<div class=\"table\" role=\"group\" tabindex=\"0\" aria-label=\"{}\">\n"
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\">\n{}</svg>\n</div>\n"
      "</figure>\n",
      svg_text(picture.title), svg_text(picture.description), svg_text(picture.title), size.width,
      size.height, size.width, size.height, body_of(picture, size.left, true));
}

}  // namespace warpmeter::reports
