// SPDX-License-Identifier: MIT
// The sources with what each line costs beside it: a listing a file.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "reports/sections/sections.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports::sections {
namespace {

struct Figures {
  Cell requests, transactions, excess, waiting;
};
using OfFile = std::map<std::int64_t, Figures>;

std::map<std::string, OfFile> figures_of(const schema::Reader& reader, std::int64_t run_id) {
  const schema::Rows rows = reader.query(sql::source_figures, run_parameter(run_id));
  std::map<std::string, OfFile> files;
  for (const Row& row : each_row(rows)) {
    const auto count = [&](std::string_view column) -> Cell {
      const auto value = row.integer(column);
      return value ? Cell(*value) : Cell(Missing{"it accesses no memory"});
    };
    const auto share = row.number("share");
    files[row.text("file")].insert_or_assign(
        row.integer("line").value_or(0),
        Figures{count("requests"), count("transactions"), count("excess"),
                share ? Cell(*share) : Cell(Missing{"its warps were not sampled"})});
  }
  return files;
}

Listing listing_of(const std::string& file, const std::string& text, const OfFile& figures) {
  Listing listing;
  listing.file = file;
  bool is_sampled = false;
  for (const auto& [line, of_line] : figures) is_sampled |= !of_line.waiting.missing();
  listing.table.columns = {Column::number("line", "", "", Kind::exact),
                           Column::text("text", "source", Kind::code),
                           Column::number("requests", "", "", Kind::count),
                           Column::number("transactions", "", "", Kind::count),
                           Column::number("excess", "", "", Kind::count)};
  if (is_sampled) {
    listing.table.columns.push_back(Column::number("waiting", "waiting", "%", Kind::quotient));
  }
  std::istringstream lines(text);
  std::int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto found = figures.find(number);
    const Figures none;
    const Figures& of_line = found != figures.end() ? found->second : none;
    std::vector<Cell> cells = {number, line, of_line.requests, of_line.transactions,
                               of_line.excess};
    if (is_sampled) cells.push_back(of_line.waiting);
    listing.table.rows.push_back(std::move(cells));
  }
  listing.costly = figures.size();
  return listing;
}

/// The source line that a comment "// FILE:LINE" names, if it is one; 0 for another file's.
std::optional<std::int64_t> line_named(const std::string& text, const std::string& file) {
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with("// ") || colon == std::string::npos) return std::nullopt;
  std::int64_t line = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data() + colon + 1, end, line).ptr != end) return std::nullopt;
  return text.substr(3, colon - 3) == file ? line : 0;
}

/// The source line stands beside the first of what was made of it; of other files in a row of its
/// own.
Table code_table(const std::string& file, const std::string& text) {
  Table table;
  table.columns = {Column::number("line", "", "", Kind::exact),
                   Column::text("text", "", Kind::code)};
  std::istringstream lines(text);
  Cell beside = Missing{""};
  for (std::string line; std::getline(lines, line);) {
    if (const auto named = line_named(line, file)) {
      beside = *named != 0 ? Cell(*named) : Cell(Missing{""});
      if (*named != 0) continue;
    }
    table.rows.push_back({std::exchange(beside, Missing{""}), line});
  }
  return table;
}

}  // namespace

void add_sources(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  const schema::Rows sources = source.reader.query(sql::source_files, run_parameter(run.id));
  if (sources.rows.empty()) return;
  const std::map<std::string, OfFile> figures = figures_of(source.reader, run.id);
  document.heading(2, "Sources");
  document.paragraph(
      "Each file as it was measured, and what a line costs in the launch in which it costs most: "
      "all "
      "its accesses together, and what is beyond the fewest.");
  const schema::Rows codes = source.reader.query(sql::codes, run_parameter(run.id));
  for (const Row& row : each_row(sources)) {
    const auto of_file = figures.find(row.text("file"));
    if (of_file == figures.end()) continue;
    Listing listing = listing_of(of_file->first, row.text("text"), of_file->second);
    for (const Row& code : each_row(codes)) {
      if (code.text("file") != of_file->first) continue;
      listing.beneath.push_back({fmt::format("{}, {}", code.text("kernel"), code.text("form")),
                                 code_table(of_file->first, code.text("text"))});
    }
    document.listing(std::move(listing));
  }
}

}  // namespace warpmeter::reports::sections
