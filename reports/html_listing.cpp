// SPDX-License-Identifier: MIT
// A source file of an HTML report: its lines with their figures, and the code that was made of
// them. Both sides name the source line of each row, so that html/listing.js can mark a line's
// instructions and an instruction's line. Without the script both can be read all the same.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/escapes.h"
#include "base/with_noun.h"
#include "reports/html_table.h"
#include "reports/table/number.h"

namespace warpmeter::reports::html {
namespace {

double sum_of(const Listing::Waits& waits) {
  double sum = 0;
  for (const double share : waits) sum += share;
  return sum;
}

template <class Rows>
double longest_wait(const Rows& rows) {
  double longest = 0;
  for (const auto& row : rows) longest = std::max(longest, sum_of(row));
  return longest;
}

/// A small stacked bar, whose parts are said by its name too. `longest`: what fills the cell.
std::string waits_html(const Listing& listing, const Listing::Waits& waits, double longest) {
  if (sum_of(waits) <= 0) return "<td></td>";
  std::string parts;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (waits[i] <= 0) continue;
    parts +=
        fmt::format("<i class=\"w{}\" style=\"width:{:.1f}%\"></i>", i, 100 * waits[i] / longest);
    words.push_back(
        fmt::format("{} {} %", listing.reasons.at(i), readable_number(waits[i], Zeros::trim)));
  }
  const std::string name = shown(fmt::format("{}", fmt::join(words, ", ")));
  return fmt::format(
      "<td class=\"waits\"><span role=\"img\" aria-label=\"{0}\" title=\"{0}\">{1}</span></td>",
      name, parts);
}

std::string waits_legend(const Listing& listing) {
  if (listing.reasons.empty()) return "";
  std::string html = "<p class=\"legend\">Warps wait for: ";
  for (std::size_t i = 0; i < listing.reasons.size(); ++i) {
    html += fmt::format("<span><i class=\"w{}\"></i>{}</span> ", i, shown(listing.reasons[i]));
  }
  return html + "</p>\n";
}

std::string table_begin(const std::string& label) {
  return "<div class=\"table\" role=\"group\" tabindex=\"0\"" + attribute("aria-label", label) +
         ">\n<table>\n<thead><tr>";
}
constexpr const char* table_end = "</tbody>\n</table>\n</div>\n";

/// Figures stand before the text: they are in sight where its lines are long.
std::string source_html(const Listing& listing) {
  std::string html = table_begin(listing.file);
  const auto& columns = listing.table.columns;
  const auto heading = [&](const Column& column) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column),
                        escaped_markup(heading_of(column)));
  };
  heading(columns[0]);
  for (std::size_t i = 2; i < columns.size(); ++i) heading(columns[i]);
  if (!listing.waits.empty()) html += "<th scope=\"col\">waits</th>";
  heading(columns[1]);
  html += "</tr></thead>\n<tbody>\n";
  const double longest = longest_wait(listing.waits);
  for (std::size_t r = 0; r < listing.table.rows.size(); ++r) {
    const auto& row = listing.table.rows[r];
    bool has_figures = false;
    std::string cells;
    for (std::size_t i = 2; i < row.size(); ++i) {
      has_figures = has_figures || !row[i].missing();
      cells += row[i].missing() ? "<td class=\"n\"></td>" : cell_html(columns[i], row[i], false);
    }
    if (!listing.waits.empty()) cells += waits_html(listing, listing.waits[r], longest);
    const auto* excess = row.size() > 4 ? std::get_if<std::int64_t>(&row[4].value) : nullptr;
    html += fmt::format(
        "<tr data-line=\"{0}\"{1}><td class=\"n\">{0}</td>{2}<td "
        "class=\"code\"><code>{3}</code></td>"
        "</tr>\n",
        r + 1,
        excess != nullptr && *excess > 0 ? " class=\"costly\""
        : has_figures                    ? " class=\"counted\""
                                         : "",
        cells, shown(cell_text(columns[1], row[1]).body));
  }
  return html + table_end;
}

std::string code_html(const Listing& listing, const Listing::Code& code, bool is_open) {
  bool has_counts = false;
  double longest = 0;
  for (const Listing::Instruction& one : code.instructions) {
    has_counts = has_counts || one.executed;
    longest = std::max(longest, sum_of(one.waits));
  }
  std::string html = fmt::format("<details class=\"listing\"{}>\n<summary>{}</summary>\n",
                                 is_open ? " open" : "", shown(code.title));
  if (!code.note.empty()) html += "<p>" + shown(code.note) + "</p>\n";
  html += table_begin(code.title) + "<th scope=\"col\" class=\"n\">line</th>";
  if (has_counts) html += "<th scope=\"col\" class=\"n\">executed</th>";
  if (longest > 0) html += "<th scope=\"col\">waits</th>";
  html += "<th scope=\"col\">code</th></tr></thead>\n<tbody>\n";
  std::int64_t before = 0;
  for (const Listing::Instruction& one : code.instructions) {
    html += one.line > 0 ? fmt::format("<tr data-line=\"{}\">", one.line) : "<tr>";
    html += fmt::format("<td class=\"n\">{}</td>",
                        one.line > 0 && one.line != before ? fmt::format("{}", one.line) : "");
    before = one.line;
    if (has_counts) {
      html += one.executed ? fmt::format("<td class=\"n\">{}</td>", grouped_number(*one.executed))
                           : "<td class=\"n\"></td>";
    }
    if (longest > 0) html += waits_html(listing, one.waits, longest);
    html += fmt::format("<td class=\"code\"><code>{}</code></td></tr>\n", shown(one.text));
  }
  return html + table_end + "</details>\n";
}

/// The form that stands open: the first with counts, else the first.
std::size_t opened_code(const Listing& listing) {
  const auto found =
      std::find_if(listing.codes.begin(), listing.codes.end(), [](const Listing::Code& code) {
        return std::any_of(
            code.instructions.begin(), code.instructions.end(),
            [](const Listing::Instruction& one) { return one.executed || !one.waits.empty(); });
      });
  return found == listing.codes.end() ? 0 : static_cast<std::size_t>(found - listing.codes.begin());
}

}  // namespace

std::string listing_html(const Listing& listing) {
  std::string html = fmt::format(
      "<details class=\"listing\">\n<summary>{} <small>{} of {} with "
      "figures</small></summary>\n{}<div class=\"pair\">\n{}",
      shown(listing.file), listing.costly, with_noun(listing.table.rows.size(), "line"),
      waits_legend(listing), source_html(listing));
  if (!listing.codes.empty()) {
    html += "<div class=\"codes\">\n";
    const std::size_t opened = opened_code(listing);
    for (std::size_t i = 0; i < listing.codes.size(); ++i) {
      html += code_html(listing, listing.codes[i], i == opened);
    }
    html += "</div>\n";
  }
  return html + "</div>\n</details>\n";
}

}  // namespace warpmeter::reports::html
