// SPDX-License-Identifier: MIT
#include "reports/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/escapes.h"
#include "base/utf8.h"
#include "reports/plot/stack.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t paragraph_width = 100, entry_width = 120;

/// A path as a markdown link's target: any byte that could end it is percent-encoded.
std::string link_target(std::string_view path) { return percent_encoded_but(path, "-_./"); }

/// The whole image in a link.
std::string data_link(std::string_view svg) {
  return "data:image/svg+xml," + percent_encoded(svg, [](char c) {
           return c <= ' ' || c > '~' ||
                  std::string_view("\"#%<>()\\^`{|}").find(c) != std::string_view::npos;
         });
}

/// "transpose-time": the title's letters and digits, lower case.
std::string file_stem(std::string_view title) {
  constexpr std::size_t longest = 60;
  std::string stem;
  for (const char c : title) {
    if (stem.size() == longest) break;
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      stem += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!stem.empty() && stem.back() != '-') {
      stem += '-';
    }
  }
  while (!stem.empty() && stem.back() == '-') stem.pop_back();
  return stem.empty() ? "plot" : stem;
}

/// The anchors that GitHub gives to headings, by their text; of equal ones the first's.
class Anchors {
 public:
  explicit Anchors(const Document& document) {
    std::map<std::string, int> used;
    for (const auto& block : document.blocks) {
      const auto* heading = std::get_if<Heading>(&block);
      if (heading == nullptr) continue;
      std::string anchor = anchor_of(printable(heading->text));
      const int times = used[anchor]++;
      if (times > 0) anchor += fmt::format("-{}", times);
      anchors_.try_emplace(heading->text, std::move(anchor));
    }
  }
  /// Empty where there is no such heading.
  std::string of(const std::string& heading) const {
    const auto found = anchors_.find(heading);
    return found == anchors_.end() ? "" : found->second;
  }

 private:
  /// Lower case, blanks as hyphens, without punctuation.
  static std::string anchor_of(std::string_view text) {
    std::string anchor;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_') {
        anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
      } else if (c == ' ') {
        anchor += '-';
      }
    }
    return anchor;
  }

  std::map<std::string, std::string> anchors_;
};

/// Where the plots of a markdown report go.
struct PlotFolder {
  const std::string& path;
  std::vector<PlotFile>& files;

  std::string name_for(std::string_view title) const {
    const std::string stem = file_stem(title);
    const auto taken = [&](const std::string& name) {
      return std::any_of(files.begin(), files.end(),
                         [&](const PlotFile& file) { return file.name == name; });
    };
    std::string name = stem + ".svg";
    for (int n = 2; taken(name); ++n) name = fmt::format("{}-{}.svg", stem, n);
    return name;
  }
};

struct MarkdownWriter {
  static constexpr bool closes_entries = false;
  const Anchors anchors;
  const PlotFolder* folder = nullptr;
  bool has_pictures = false;  ///< without a folder, within their links

  std::string operator()(const Heading& heading) const {
    std::string text = escaped_markdown(printable(heading.text));
    if (text.ends_with('#')) {
      text.pop_back();
      text += "\\#";
    }
    return std::string(static_cast<std::size_t>(heading.level), '#') + " " + text + "\n";
  }
  std::string operator()(const Paragraph& paragraph) const {
    return escaped_markdown(printable(paragraph.text)) + "\n";
  }
  std::string operator()(const Facts& facts) const {
    if (facts.pairs.empty()) return "";
    Table table;
    table.columns = {Column::text(facts.pairs[0].first), Column::text(facts.pairs[0].second)};
    for (std::size_t i = 1; i < facts.pairs.size(); ++i) {
      table.rows.push_back({facts.pairs[i].first, facts.pairs[i].second});
    }
    return render_markdown(table);
  }
  std::string operator()(const Table& table) const { return render_markdown(table); }
  std::string operator()(const Plot& plot) const {
    if (plot.is_table) {
      return fmt::format("**{}.** {}\n\n", escaped_markdown(printable(plot.title)),
                         escaped_markdown(printable(plot.description))) +
             render_markdown(plot.data);
    }
    if (folder == nullptr) return "";
    const std::string name = folder->name_for(plot.title);
    folder->files.push_back({name, render_svg(plot)});
    std::string text = fmt::format("![{}]({})\n", escaped_markdown(printable(plot.title)),
                                   link_target(folder->path + "/" + name));
    // In the picture it is for those who hear it.
    if (!plot.description.empty()) text += "\n" + (*this)(Paragraph{plot.description});
    return text;
  }
  std::string operator()(const Entry& entry) const {
    const std::string lead = fmt::format("{}. ", entry.number);
    const std::string indent(lead.size(), ' ');
    std::string text = lead;
    if (!entry.place.empty()) text += inline_markdown("`" + plain(entry.place) + "`") + " ";
    text += inline_markdown(printable(entry.text)) + "\n";
    for (const std::string& line : entry.more) {
      text += fmt::format("{}- {}: {}\n", indent, entry.lead, inline_markdown(printable(line)));
    }
    return text;
  }
  std::string operator()(const Remark& remark) const {
    std::string text = "- " + inline_markdown(printable(remark.text));
    if (const std::string anchor = anchors.of(remark.heading); !anchor.empty()) {
      text += fmt::format(" ([{}](#{}))", escaped_markdown(printable(remark.heading)),
                          link_target(anchor));
    }
    return text + "\n";
  }
  std::string operator()(const Listing& listing) const {
    return fmt::format("**{}**\n\n", escaped_markdown(printable(listing.file))) +
           (*this)(listing.table);
  }
  std::string operator()(const MovingTimeline& timeline) const {
    return timeline.svg.empty() ? "" : image(timeline.title, timeline.svg);
  }
  std::string operator()(const Picture& picture) const {
    return image(picture.title, picture_svg(picture));
  }
  std::string operator()(const MemoryChart& chart) const {
    return image(chart.title, memory_chart_svg(chart));
  }

 private:
  /// A link to the picture, whose file is added; nothing where pictures are left out.
  std::string image(const std::string& title, const std::string& svg) const {
    if (folder == nullptr && !has_pictures) return "";
    if (folder == nullptr) {
      return fmt::format("![{}]({})\n", escaped_markdown(printable(title)), data_link(svg));
    }
    const std::string name = folder->name_for(title);
    folder->files.push_back({name, svg});
    return fmt::format("![{}]({})\n", escaped_markdown(printable(title)),
                       link_target(folder->path + "/" + name));
  }

  /// Without backticks, so that it can be put between some.
  static std::string plain(const std::string& text) {
    std::string result = printable(text);
    std::replace(result.begin(), result.end(), '`', '\'');
    return result;
  }
  static std::string inline_markdown(std::string_view text) {
    std::string markdown;
    bool is_code = false;
    for (const std::string& part : code_parts(text)) {
      if (!part.empty()) markdown += is_code ? "`" + part + "`" : escaped_markdown(part);
      is_code = !is_code;
    }
    return markdown;
  }
};

struct TextWriter {
  static constexpr bool closes_entries = true;
  const Document& document;
  std::size_t width = 0;

  std::string lines_of(const std::string& text, std::size_t columns,
                       const std::string& indent) const {
    std::string out;
    for (const std::string& line : wrapped(text, columns)) {
      out += (out.empty() ? "" : indent) + line + "\n";
    }
    return out;
  }

  std::string operator()(const Heading& heading) const {
    const std::string text = printable(heading.text);
    if (heading.level > 2) return text + "\n";
    const std::string mark = heading.level == 1 ? "═" : "─";
    std::string rule;
    const std::size_t width = display_width(text);
    for (std::size_t i = 0; i < width; ++i) rule += mark;
    return text + "\n" + rule + "\n";
  }
  std::string operator()(const Paragraph& paragraph) const {
    const std::size_t columns = width > 0 ? std::min(width, paragraph_width) : paragraph_width;
    return lines_of(printable(paragraph.text), std::max<std::size_t>(columns, 20), "");
  }
  std::string operator()(const Facts& facts) const {
    std::size_t names = 0;
    for (const auto& [name, value] : facts.pairs) names = std::max(names, display_width(name));
    const std::string indent(names + 2, ' ');
    const std::size_t columns = width > 0 ? width : paragraph_width;
    std::string text;
    for (const auto& [name, value] : facts.pairs) {
      text += name + std::string(names + 2 - display_width(name), ' ');
      text += lines_of(printable(value),
                       std::max<std::size_t>(columns > names + 2 ? columns - names - 2 : 0, 20),
                       indent);
    }
    return text;
  }
  std::string operator()(const Table& table) const { return render_text(table, width); }
  std::string operator()(const Plot& plot) const {
    if (plot.form == Plot::Form::stack) return stack_text(plot, width);
    if (!plot.is_table) return "";
    return (*this)(Paragraph{plot.title + ". " + plot.description}) + "\n" +
           render_text_in_pieces(plot.data, width);
  }
  /// "  1  kernels/transpose.cu:44  shared load of …", what goes on below the place.
  std::string operator()(const Entry& entry) const {
    const std::string number = fmt::format("{:>3}  ", entry.number);
    const std::string indent(number.size(), ' ');
    const std::string place = entry.place.empty() ? "" : printable(entry.place) + "  ";
    const std::size_t columns = width > 0 ? std::min(width, entry_width) : entry_width;
    const std::size_t within = std::max<std::size_t>(columns, 40) - indent.size();
    std::string text = number + lines_of(place + printable(entry.text), within, indent);
    std::string lead = entry.lead + ": ";
    for (const std::string& line : entry.more) {
      const std::string behind(lead.size(), ' ');
      text += indent + lead + lines_of(printable(line), within - lead.size(), indent + behind);
      lead = behind;
    }
    return text;
  }
  std::string operator()(const Remark& remark) const {
    const std::size_t columns = width > 0 ? std::min(width, paragraph_width) : paragraph_width;
    std::string text = printable(remark.text);
    if (document.has_heading(remark.heading)) text += " → " + printable(remark.heading);
    return "- " + lines_of(text, std::max<std::size_t>(columns, 22) - 2, "  ");
  }
  std::string operator()(const MemoryChart&) const { return ""; }
  std::string operator()(const MovingTimeline&) const { return ""; }
  std::string operator()(const Picture& picture) const { return picture_text(picture, width); }
  std::string operator()(const Listing& listing) const {
    return printable(listing.file) + "\n\n" + (*this)(listing.table);
  }
};

template <class Writer>
std::string written(const Document& document, const Writer& writer) {
  std::string text;
  bool after_heading_or_entry = false, after_remark = false;
  for (const auto& block : document.blocks) {
    const std::string part = std::visit(writer, block);
    const bool is_entry = std::holds_alternative<Entry>(block);
    // Entries stand close in text; in markdown they are one list all the same.
    const bool is_remark = std::holds_alternative<Remark>(block);
    const bool is_close = (Writer::closes_entries && is_entry && after_heading_or_entry) ||
                          (is_remark && after_remark);
    if (!text.empty() && !part.empty() && !is_close) text += '\n';
    text += part;
    after_heading_or_entry = is_entry || std::holds_alternative<Heading>(block);
    after_remark = is_remark;
  }
  return text;
}

}  // namespace

// The block is built in place: moving a variant makes the optimiser of g++ 12 warn about members
// that it lacks.
void Document::heading(int level, std::string text) {
  blocks.emplace_back(std::in_place_type<Heading>, Heading{level, std::move(text)});
}

void Document::paragraph(std::string text) {
  blocks.emplace_back(std::in_place_type<Paragraph>, Paragraph{std::move(text)});
}

void Document::facts(Facts facts) {
  blocks.emplace_back(std::in_place_type<Facts>, std::move(facts));
}

void Document::table(Table table) {
  blocks.emplace_back(std::in_place_type<Table>, std::move(table));
}

void Document::plot(Plot plot) { blocks.emplace_back(std::in_place_type<Plot>, std::move(plot)); }

void Document::entry(Entry entry) {
  blocks.emplace_back(std::in_place_type<Entry>, std::move(entry));
}

void Document::remark(Remark remark) {
  blocks.emplace_back(std::in_place_type<Remark>, std::move(remark));
}

void Document::listing(Listing listing) {
  blocks.emplace_back(std::in_place_type<Listing>, std::move(listing));
}

void Document::timeline(MovingTimeline timeline) {
  blocks.emplace_back(std::in_place_type<MovingTimeline>, std::move(timeline));
}
void Document::memory_chart(MemoryChart chart) {
  blocks.emplace_back(std::in_place_type<MemoryChart>, std::move(chart));
}
void Document::picture(Picture picture) {
  blocks.emplace_back(std::in_place_type<Picture>, std::move(picture));
}

void Document::append(Document document) {
  for (auto& block : document.blocks) blocks.push_back(std::move(block));
}

bool Document::has_heading(std::string_view text) const {
  return std::any_of(blocks.begin(), blocks.end(), [&](const auto& block) {
    const auto* heading = std::get_if<Heading>(&block);
    return heading != nullptr && heading->text == text;
  });
}

std::set<std::string> Document::marks() const {
  std::set<std::string> found;
  for (const auto& block : blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr) continue;
    for (const auto& row : table->rows) {
      for (const Cell& cell : row) found.insert(cell.mark);
    }
  }
  return found;
}

std::vector<std::string> code_parts(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t begin = text.find('`');
    const std::size_t end = begin == text.npos ? begin : text.find('`', begin + 1);
    if (end == text.npos) break;
    parts.emplace_back(text.substr(0, begin));
    parts.emplace_back(text.substr(begin + 1, end - begin - 1));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string document_markdown(const Document& document) {
  return written(document, MarkdownWriter{Anchors(document)});
}

std::string document_markdown(const Document& document, const std::string& folder,
                              std::vector<PlotFile>& files) {
  const PlotFolder plots{folder, files};
  return written(document, MarkdownWriter{Anchors(document), &plots});
}

std::string document_markdown_with_pictures(const Document& document) {
  return written(document, MarkdownWriter{Anchors(document), nullptr, true});
}

std::string document_text(const Document& document, std::size_t width) {
  return written(document, TextWriter{document, width});
}

}  // namespace warpmeter::reports
