// SPDX-License-Identifier: MIT
// A report as one HTML page. The page (style, script, chart library) is made at build by
// html/bundle.py; what is written here is plain HTML that can be read without any script: tables
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
#include "reports/html_table.h"
#include "reports/page.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

using html::add_table;
using html::attribute;
using html::shown;

constexpr std::size_t narrow_heat = 3;  // columns of a heat map that stands beside another plot

std::string_view form_name(Plot::Form form) {
  switch (form) {
    case Plot::Form::bars:
      return "bars";
    case Plot::Form::lines:
      return "lines";
    case Plot::Form::points:
      return "points";
    case Plot::Form::stack:
      return "stack";
    case Plot::Form::heat:
      break;
  }
  return "heat";
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
    if (plot.is_table) {
      (*this)(Paragraph{plot.title + ". " + plot.description});
      return add_table(html_, plot.data, plot.title);
    }
    if (in_entries_ || in_remarks_) end_plots();
    if (!in_plots_) html_ += "<div class=\"plots\">\n";
    in_plots_ = true;
    html_ += fmt::format("<figure class=\"plot\" data-form=\"{}\"", form_name(plot.form)) +
             attribute("data-x", plot.x.label) + attribute("data-y", plot.y.label);
    if (plot.x.logarithmic) html_ += " data-x-log";
    if (plot.y.logarithmic) html_ += " data-y-log";
    if (plot.diagonal) html_ += " data-diagonal";
    if (plot.form == Plot::Form::heat && plot.series_count() > narrow_heat) html_ += " data-wide";
    if (plot.reference) {
      html_ += fmt::format(" data-reference=\"{}\"", exact_number(plot.reference->value)) +
               attribute("data-reference-label", plot.reference->label);
    }
    html_ += ">\n<figcaption><strong>" + shown(plot.title) + "</strong> <span>" +
             shown(plot.description) + "</span></figcaption>\n";
    if (plot.form == Plot::Form::heat) {
      html::add_heat(html_, plot);
      html_ += "</figure>\n";
      return;
    }
    html_ +=
        "<details>\n<summary>Values"
        "<span class=\"unseen\"> of " +
        shown(plot.title) + "</span></summary>\n";
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

  void operator()(const MemoryChart& chart) {
    end_plots();
    html_ += memory_chart_html(chart);
  }
  void operator()(const MovingTimeline& timeline) {
    end_plots();
    html_ += "<figure class=\"timeline\">\n<figcaption><strong>" + shown(timeline.title) +
             "</strong> <span>" + shown(timeline.description) + "</span></figcaption>\n" +
             "<script type=\"application/octet-stream\">" + timeline.activities +
             "</script>\n</figure>\n";
  }

  void operator()(const Listing& listing) {
    end_plots();
    html_ += html::listing_html(listing);
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
    throw Error(ExitCode::usage,
                "this warpmeter was built without HTML, for the chart library was missing; "
                "build it with ./dev, or choose another --format");
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
