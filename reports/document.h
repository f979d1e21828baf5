// SPDX-License-Identifier: MIT
// A report before it has a format: headings, paragraphs, facts, tables and plots. Sections build it
// from the database; one renderer turns it into markdown, one into HTML, one into text for a
// terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/plot/memory_chart.h"
#include "reports/plot/picture.h"
#include "reports/plot/plot.h"
#include "reports/table/table.h"

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

/// A numbered entry of a list. Between backticks is code; nothing else is markup.
struct Entry {
  std::size_t number = 1;
  std::string place;  ///< "kernels/transpose.cu:44"; empty: none
  std::string text;
  std::string lead;               ///< the lead of what follows: "Change"
  std::vector<std::string> more;  ///< lines below the text
};

/// A sentence of a list, and the heading that has more on it: a link where the format has some and
/// the document has the heading. Between backticks is code; nothing else is markup.
struct Remark {
  std::string text, heading;
};

/// A source file with figures beside its lines: a row a line, its number and text first. HTML folds
/// it, marks the lines with figures, and shows its compiled forms beside it; elsewhere it is its
/// table.
struct Listing {
  std::string file;
  Table table;
  std::size_t costly = 0;  ///< lines with figures

  /// The names of the reasons that warps wait for. Their shares stand in each row of the table or
  /// code; a row without waits has none.
  std::vector<std::string> reasons;
  using Waits = std::vector<double>;
  std::vector<Waits> waits;  ///< shares of the launch's samples, %

  struct Instruction {
    std::int64_t line = 0;  ///< the source line; 0: another file's, or not known
    std::string text;
    std::optional<std::int64_t> executed;  ///< by warps
    Waits waits = {};                      ///< shares of the launch's samples, %
  };
  struct Code {
    std::string title;  ///< "transpose/naive, PTX"
    std::string note;   ///< where its counts are from; may be empty
    std::vector<Instruction> instructions;
  };
  std::vector<Code> codes;
};

/// A timeline: HTML can move it, markdown has it as a picture; the tables around it are for the
/// others.
struct MovingTimeline {
  std::string title, description;
  std::string activities;  ///< as timeline_payload has them; for HTML
  std::string svg = {};    ///< for markdown
};

struct Document {
  std::vector<std::variant<Heading, Paragraph, Facts, Table, Plot, Entry, Remark, Picture, Listing,
                           MovingTimeline, MemoryChart>>
      blocks;

  void heading(int level, std::string text);
  void paragraph(std::string text);
  void facts(Facts facts);
  void table(Table table);
  void plot(Plot plot);
  void entry(Entry entry);
  void remark(Remark remark);
  void picture(Picture picture);
  void listing(Listing listing);
  void timeline(MovingTimeline timeline);
  void memory_chart(MemoryChart chart);
  void append(Document document);

  bool has_heading(std::string_view text) const;
  /// The marks behind the values of its tables.
  std::set<std::string> marks() const;
};

/// A file that belongs beside a report.
struct PlotFile {
  std::string name;  ///< "transpose-time.svg", of safe characters and different for each
  std::string svg;
};

/// Plots and pictures are left out.
std::string document_markdown(const Document& document);

/// The same with pictures, each within its link (data:image/svg+xml).
std::string document_markdown_with_pictures(const Document& document);

/// Plots and pictures become images in `folder`, a path relative to the report; their files are
/// added to `files`.
std::string document_markdown(const Document& document, const std::string& folder,
                              std::vector<PlotFile>& files);

/// One page that needs no other file. Throws Error{usage} when the program was built without it.
std::string document_html(const Document& document);

/// Text as parts, in turn plain and code: "a `b` c" is "a ", "b", " c". A backtick without a second
/// one is text.
std::vector<std::string> code_parts(std::string_view text);

/// `width`: columns to wrap at; 0 wraps paragraphs at 100 and tables nowhere.
std::string document_text(const Document& document, std::size_t width);

}  // namespace warpmeter::reports
