// SPDX-License-Identifier: MIT
#include "reports/html_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/plot/heat.h"
#include "reports/table/number.h"

namespace warpmeter::reports::html {

std::string shown(std::string_view text) { return escaped_markup(printable(text)); }

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, shown(value));
}

namespace {

/// The number of a cell to the last digit, for sorting and drawing; nothing for text.
std::string exact_value(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell.value)) return exact_number(*real);
  return "";
}

/// A verdict's first word decides its badge; the words after a colon are the reason.
std::string verdict_html(const std::string& text) {
  const std::size_t end = std::min(text.find_first_of(": ,("), text.size());
  const std::string word = text.substr(0, end);
  return fmt::format("<span class=\"badge\" data-verdict=\"{}\">{}</span>{}", escaped_markup(word),
                     escaped_markup(word), escaped_markup(text.substr(end)));
}

}  // namespace

std::string class_of(const Column& column) {
  if (column.kind == Kind::code) return " class=\"source\"";
  return column.align == Align::right ? " class=\"n\"" : "";
}

std::string cell_html(const Column& column, const Cell& cell, bool is_row_heading) {
  const CellText text = cell_text(column, cell);
  std::string attributes = class_of(column);
  attributes += attribute("data-v", exact_value(cell));
  if (cell.range) {
    attributes += fmt::format(" data-low=\"{}\" data-high=\"{}\"", exact_number(cell.range->low),
                              exact_number(cell.range->high));
  }
  std::string inner = escaped_markup(text.body);
  if (const auto* missing = std::get_if<Missing>(&cell.value)) {
    attributes += " data-missing" + attribute("title", missing->reason);
    inner = missing->word == Missing{}.word
                ? "<span aria-hidden=\"true\">–</span><span class=\"unseen\">no value</span>"
                : shown(missing->word);
  } else if (column.kind == Kind::code) {
    inner = "<code>" + inner + "</code>";
  } else if (column.kind == Kind::verdict) {
    inner = verdict_html(text.body);
  }
  if (!text.tail.empty()) inner += "<small>" + escaped_markup(text.tail) + "</small>";
  return is_row_heading ? fmt::format("<th scope=\"row\"{}>{}</th>", attributes, inner)
                        : fmt::format("<td{}>{}</td>", attributes, inner);
}

void add_table(std::string& html, const Table& table, std::string_view caption) {
  html += "<div class=\"table\" role=\"group\" tabindex=\"0\"" + attribute("aria-label", caption) +
          ">\n<table>\n<caption>" + shown(caption) + "</caption>\n<thead><tr>";
  for (const Column& column : table.columns) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column),
                        escaped_markup(heading_of(column)));
  }
  html += "</tr></thead>\n<tbody>\n";
  const bool names_rows =
      !table.columns.empty() && table.columns[0].align == Align::left && table.columns.size() > 1;
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += cell_html(table.columns[i], row[i], i == 0 && names_rows && !row[i].missing());
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n</table>\n</div>\n";
}

void add_heat(std::string& html, const Plot& plot) {
  const HeatScale scale = heat_scale(plot);
  const auto& columns = plot.data.columns;
  html += "<div class=\"table\" role=\"group\" tabindex=\"0\"" +
          attribute("aria-label", plot.title) + ">\n<table class=\"heat\">\n<caption>" +
          shown(plot.title) + "</caption>\n<thead><tr>";
  html += "<th scope=\"col\">" + escaped_markup(heading_of(columns[0])) + "</th>";
  for (std::size_t i = 1; i < columns.size(); ++i) {
    html += fmt::format("<th scope=\"col\"><span class=\"unseen\">{}=</span>{}</th>",
                        shown(plot.x.label), escaped_markup(heading_of(columns[i])));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < plot.data.rows.size(); ++r) {
    const auto& row = plot.data.rows[r];
    html += fmt::format("<tr><th scope=\"row\"><span class=\"unseen\">{}=</span>{}</th>",
                        shown(plot.y.label), shown(cell_text(columns[0], row[0]).body));
    for (std::size_t i = 1; i < row.size(); ++i) {
      const CellText text = cell_text(columns[i], row[i]);
      const std::string title = attribute("title", heat_cell_title(plot, r, i));
      if (const auto* missing = std::get_if<Missing>(&row[i].value)) {
        html += fmt::format(
            "<td data-missing{}><span aria-hidden=\"true\">{}</span><span "
            "class=\"unseen\">{}</span></td>",
            title, escaped_markup(text.body), shown(missing->reason));
        continue;
      }
      html += fmt::format("<td class=\"k{}{}\"{}{}>{}</td>", scale.step(row[i]).value_or(0),
                          is_best(row[i]) ? " best" : "", attribute("data-v", exact_value(row[i])),
                          title, escaped_markup(text.body + text.tail));
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n</table>\n</div>\n";
}

}  // namespace warpmeter::reports::html
