#include "reports/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/escapes.h"
#include "base/utf8.h"

namespace warpmeter::reports {
namespace {

constexpr std::size_t paragraph_width = 100;

/// A path as a markdown link's target: any byte that could end it is percent-encoded.
std::string link_target(std::string_view path) { return percent_encoded_but(path, "-_./"); }

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
  const PlotFolder* folder = nullptr;

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
    if (folder == nullptr) return "";
    const std::string name = folder->name_for(plot.title);
    folder->files.push_back({name, render_svg(plot)});
    return fmt::format("![{}]({})\n", escaped_markdown(printable(plot.title)),
                       link_target(folder->path + "/" + name));
  }
};

struct TextWriter {
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
    for (std::size_t i = 0; i < display_width(text); ++i) rule += mark;
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
  std::string operator()(const Plot&) const { return ""; }
};

template <class Writer>
std::string written(const Document& document, const Writer& writer) {
  std::string text;
  for (const auto& block : document.blocks) {
    const std::string part = std::visit(writer, block);
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  }
  return text;
}

}  // namespace

// Built in place: moving a variant makes the optimiser of g++ 12 warn about members that it lacks.
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

void Document::append(Document document) {
  for (auto& block : document.blocks) blocks.push_back(std::move(block));
}

std::string document_markdown(const Document& document) {
  return written(document, MarkdownWriter{});
}

std::string document_markdown(const Document& document, const std::string& folder,
                              std::vector<PlotFile>& files) {
  const PlotFolder plots{folder, files};
  return written(document, MarkdownWriter{&plots});
}

std::string document_text(const Document& document, std::size_t width) {
  return written(document, TextWriter{width});
}

}  // namespace warpmeter::reports
