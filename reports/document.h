// A report before it has a format: headings, paragraphs, facts, tables and plots. Sections build it
// from the database; one renderer turns it into markdown, one into HTML, one into text for a
// terminal.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reports/plot.h"
#include "reports/table.h"

namespace warpmeter::reports {

struct Heading {
  int level = 1;  ///< 1 is the title
  std::string text;
};

/// Plain text: nothing in it is markup.
struct Paragraph {
  std::string text;
};

/// Names and what they are; the first is the heading of the table that markdown makes of them.
struct Facts {
  std::vector<std::pair<std::string, std::string>> pairs;
};

struct Document {
  std::vector<std::variant<Heading, Paragraph, Facts, Table, Plot>> blocks;

  void heading(int level, std::string text);
  void paragraph(std::string text);
  void facts(Facts facts);
  void table(Table table);
  void plot(Plot plot);
  void append(Document document);
};

/// A file that belongs beside a report.
struct PlotFile {
  std::string name;  ///< "transpose-time.svg", of safe characters and different for each
  std::string svg;
};

/// Plots are left out.
std::string document_markdown(const Document& document);

/// Plots become images in `folder`, a path relative to the report; their files are added to
/// `files`.
std::string document_markdown(const Document& document, const std::string& folder,
                              std::vector<PlotFile>& files);

/// One page that needs no other file. Throws Error{usage} when the program was built without it.
std::string document_html(const Document& document);

/// `width`: columns to wrap at; 0 wraps paragraphs at 100 and tables nowhere.
std::string document_text(const Document& document, std::size_t width);

}  // namespace warpmeter::reports
