// A report as one HTML page. The page (style, script, chart library) is made at build by
// html/bundle.mjs; what is written here is plain HTML that can be read without any script: tables
// whose cells carry their exact number for sorting, and for each plot the table of its values,
// which the script draws.
//
// Every text goes through escaped_html: names from profiled programs are text. The page's content
// security policy lets no other script run and nothing be loaded.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/document.h"
#include "reports/number.h"
#include "reports/page.h"

namespace warpmeter::reports {
namespace {

std::string shown(std::string_view text) { return escaped_markup(printable(text)); }

/// ` name="value"`, nothing for an empty value.
std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, shown(value));
}

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

/// Numbers stand right; source text goes below its row where the window is narrow.
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
    inner = "<span aria-hidden=\"true\">–</span><span class=\"unseen\">no value</span>";
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

/// Folded; lines with figures are marked, those with transactions too many as costly.
std::string listing_html(const Listing& listing) {
  std::string html = fmt::format(
      "<details class=\"listing\">\n<summary>{} <small>{} of {} lines with "
      "figures</small></summary>"
      "\n<div class=\"table\" role=\"group\" tabindex=\"0\"{}>\n<table>\n<thead><tr>",
      shown(listing.file), listing.costly, listing.table.rows.size(),
      attribute("aria-label", listing.file));
  const auto& columns = listing.table.columns;
  for (const Column& column : columns) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column),
                        escaped_markup(heading_of(column)));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : listing.table.rows) {
    bool has_figures = false;
    std::string cells;
    for (std::size_t i = 2; i < row.size(); ++i) {
      has_figures = has_figures || !row[i].missing();
      cells += row[i].missing() ? "<td class=\"n\"></td>" : cell_html(columns[i], row[i], false);
    }
    const auto* excess = row.size() > 4 ? std::get_if<std::int64_t>(&row[4].value) : nullptr;
    html += fmt::format(
        "<tr{}><td class=\"n\">{}</td><td class=\"code\"><code>{}</code></td>{}</tr>\n",
        excess != nullptr && *excess > 0 ? " class=\"costly\""
        : has_figures                    ? " class=\"counted\""
                                         : "",
        cell_text(columns[0], row[0]).body, shown(cell_text(columns[1], row[1]).body), cells);
  }
  html += "</tbody>\n</table>\n</div>\n";
  for (const Listing::Code& code : listing.beneath) {
    html += fmt::format(
        "<details class=\"listing\">\n<summary>{}</summary>\n<div class=\"table\" role=\"group\" "
        "tabindex=\"0\"{}>\n<table>\n<thead><tr><th scope=\"col\" class=\"n\">line</th><th "
        "scope=\"col\">code</th></tr></thead>\n<tbody>\n",
        shown(code.title), attribute("aria-label", code.title));
    for (const auto& row : code.table.rows) {
      html +=
          fmt::format("<tr><td class=\"n\">{}</td><td class=\"code\"><code>{}</code></td></tr>\n",
                      row[0].missing() ? "" : cell_text(code.table.columns[0], row[0]).body,
                      shown(cell_text(code.table.columns[1], row[1]).body));
    }
    html += "</tbody>\n</table>\n</div>\n</details>\n";
  }
  return html + "</details>\n";
}

std::string_view form_name(Plot::Form form) {
  switch (form) {
    case Plot::Form::bars:
      return "bars";
    case Plot::Form::lines:
      return "lines";
    case Plot::Form::points:
      break;
  }
  return "points";
}

struct Section {
  std::string id, title;
};

/// "section-2" of the second section, "section-2-1" of the first heading in it.
class HeadingIds {
 public:
  std::string next(int level) {
    if (level == 2) {
      within_ = 0;
      return fmt::format("section-{}", ++sections_);
    }
    return fmt::format("section-{}-{}", sections_, ++within_);
  }

 private:
  std::size_t sections_ = 0, within_ = 0;
};

/// Writes the blocks one after another and keeps what the page's list of sections needs.
class HtmlWriter {
 public:
  explicit HtmlWriter(const Document& document) {
    HeadingIds ids;
    for (const auto& block : document.blocks) {
      const auto* heading = std::get_if<Heading>(&block);
      if (heading == nullptr || heading->level == 1) continue;
      targets_.try_emplace(heading->text, ids.next(heading->level));
    }
  }
  void operator()(const Heading& heading) {
    end_plots();
    title_ = heading.text;
    if (heading.level == 1) {
      html_ += "<h1>" + shown(heading.text) + "</h1>\n";
      return;
    }
    if (heading.level == 2) {
      end_section();
      sections_.push_back({ids_.next(2), heading.text});
      html_ += fmt::format("<section>\n<h2 id=\"{0}\">{1}</h2>\n", sections_.back().id,
                           shown(heading.text));
      in_section_ = true;
      return;
    }
    html_ += fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", heading.level, ids_.next(heading.level),
                         shown(heading.text));
  }
  void operator()(const Paragraph& paragraph) {
    end_plots();
    html_ += "<p>" + shown(paragraph.text) + "</p>\n";
  }
  void operator()(const Facts& facts) {
    end_plots();
    html_ += "<dl>\n";
    for (const auto& [name, value] : facts.pairs) {
      html_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", shown(name), shown(value));
    }
    html_ += "</dl>\n";
  }
  void operator()(const Table& table) {
    end_plots();
    add_table(html_, table, table.caption.empty() ? title_ : table.caption);
  }
  void operator()(const Plot& plot) {
    if (in_entries_ || in_remarks_) end_plots();
    if (!in_plots_) html_ += "<div class=\"plots\">\n";
    in_plots_ = true;
    html_ += fmt::format("<figure class=\"plot\" data-form=\"{}\"", form_name(plot.form)) +
             attribute("data-x", plot.x.label) + attribute("data-y", plot.y.label);
    if (plot.x.logarithmic) html_ += " data-x-log";
    if (plot.y.logarithmic) html_ += " data-y-log";
    if (plot.diagonal) html_ += " data-diagonal";
    if (plot.reference) {
      html_ += fmt::format(" data-reference=\"{}\"", exact_number(plot.reference->value)) +
               attribute("data-reference-label", plot.reference->label);
    }
    html_ += ">\n<figcaption><strong>" + shown(plot.title) + "</strong> <span>" +
             shown(plot.description) + "</span></figcaption>\n<details>\n<summary>Values" +
             "<span class=\"unseen\"> of " + shown(plot.title) + "</span></summary>\n";
    add_table(html_, plot.data, plot.title);
    html_ += "</details>\n</figure>\n";
  }

  void operator()(const Entry& entry) {
    if (in_plots_ || in_remarks_) end_plots();
    if (!in_entries_) html_ += "<ol class=\"findings\">\n";
    in_entries_ = true;
    html_ += fmt::format("<li value=\"{}\">", entry.number);
    if (!entry.place.empty()) html_ += "<code class=\"place\">" + shown(entry.place) + "</code> ";
    html_ += inline_html(entry.text);
    if (!entry.more.empty()) html_ += "\n<p>" + shown(entry.lead) + ":</p>\n<ul>\n";
    for (const std::string& line : entry.more) html_ += "<li>" + inline_html(line) + "</li>\n";
    html_ += entry.more.empty() ? "</li>\n" : "</ul></li>\n";
  }
  void operator()(const Remark& remark) {
    if (!in_remarks_) {
      end_plots();
      html_ += "<ul class=\"headline\">\n";
    }
    in_remarks_ = true;
    html_ += "<li>" + inline_html(remark.text);
    if (const auto target = targets_.find(remark.heading); target != targets_.end()) {
      html_ += fmt::format(" <a href=\"#{}\">{}</a>", target->second, shown(remark.heading));
    }
    html_ += "</li>\n";
  }
  void operator()(const Picture& picture) {
    end_plots();
    html_ += picture_html(picture);
  }

  void operator()(const Listing& listing) {
    end_plots();
    html_ += listing_html(listing);
  }

  std::string contents() {
    end_plots();
    end_section();
    return std::move(html_);
  }

  /// Links to the sections; nothing where there are fewer than two.
  std::string navigation() const {
    if (sections_.size() < 2) return "";
    std::string links = "<nav aria-label=\"Sections\">\n<ul>\n";
    for (const Section& section : sections_) {
      links += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, shown(section.title));
    }
    return links + "</ul>\n</nav>\n";
  }

 private:
  void end_plots() {
    if (in_plots_) html_ += "</div>\n";
    in_plots_ = false;
    if (in_entries_) html_ += "</ol>\n";
    in_entries_ = false;
    if (in_remarks_) html_ += "</ul>\n";
    in_remarks_ = false;
  }
  static std::string inline_html(const std::string& text) {
    std::string html;
    bool is_code = false;
    for (const std::string& part : code_parts(text)) {
      html += is_code ? "<code>" + shown(part) + "</code>" : shown(part);
      is_code = !is_code;
    }
    return html;
  }
  void end_section() {
    if (in_section_) html_ += "</section>\n";
    in_section_ = false;
  }

  std::string html_, title_ = "warpmeter";
  std::vector<Section> sections_;
  HeadingIds ids_;
  std::map<std::string, std::string> targets_;  ///< ids of headings, by their text
  bool in_section_ = false, in_plots_ = false, in_entries_ = false, in_remarks_ = false;
};

/// The page with each mark replaced; the texts put in are never searched for marks.
std::string filled(std::string_view page,
                   std::span<const std::pair<std::string_view, std::string>> texts) {
  std::string html;
  for (const auto& [mark, text] : texts) {
    const std::size_t at = page.find(mark);
    if (at == std::string_view::npos) throw std::logic_error("the page lacks a mark");
    html.append(page.substr(0, at)).append(text);
    page.remove_prefix(at + mark.size());
  }
  return html.append(page);
}

std::string title_of(const Document& document) {
  for (const auto& block : document.blocks) {
    if (const auto* heading = std::get_if<Heading>(&block)) return heading->text;
  }
  return "warpmeter";
}

}  // namespace

std::string document_html(const Document& document) {
  const std::string_view page = html_page();
  if (page.empty()) {
    throw Error(
        ExitCode::usage,
        "this warpmeter was built without HTML: npm was missing or could not fetch the chart "
        "library; build it with ./dev, or choose another --format");
  }
  HtmlWriter writer(document);
  for (const auto& block : document.blocks) std::visit([&](const auto& b) { writer(b); }, block);
  const std::string contents = writer.contents();
  const std::pair<std::string_view, std::string> texts[] = {
      {"<!--title-->", shown(title_of(document))},
      {"<!--navigation-->", writer.navigation()},
      {"<!--contents-->", contents}};
  return filled(page, texts);
}

std::string render_html(const Table& table) {
  Document document;
  document.heading(1, table.caption.empty() ? "warpmeter" : table.caption);
  document.table(table);
  return document_html(document);
}

}  // namespace warpmeter::reports
