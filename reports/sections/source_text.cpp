// SPDX-License-Identifier: MIT
// The sources with what each line costs beside it: a listing a file. Beside that is the code that
// was made of it, with what is known of each instruction of a kernel's largest launch.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/kernel_name.h"
#include "reports/plot/stack.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/stalls.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr const char* executed = "executed";  // in the view instructions

struct Figures {
  Cell requests, transactions, excess, waiting;
  std::vector<Part> waits;
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
        Figures{count("requests"),
                count("transactions"),
                count("excess"),
                share ? Cell(*share) : Cell(Missing{"its warps were not sampled"}),
                {}});
  }
  const schema::Rows waits = reader.query(sql::line_waits, run_parameter(run_id));
  for (const Row& row : each_row(waits)) {
    files[row.text("file")][row.integer("line").value_or(0)].waits.push_back(
        {row.text("reason"), row.number("share").value_or(0)});
  }
  return files;
}

/// The figures of the instructions of one kernel's launch.
struct InstructionFigures {
  std::string title;  ///< "at size 1,024"
  struct Figures {
    std::optional<std::int64_t> executed;
    std::vector<Part> waits;
  };
  std::map<std::int64_t, Figures> at;  ///< by address
  double samples = 0;
};

/// By the names that codes may give to the kernel.
std::map<std::string, InstructionFigures> instruction_figures(const schema::Reader& reader,
                                                              std::int64_t run_id) {
  const schema::Rows rows = reader.query(sql::instruction_counts, run_parameter(run_id));
  std::map<std::string, InstructionFigures> kernels;
  for (const Row& row : each_row(rows)) {
    const std::string family = row.text("family");
    for (const std::string& name :
         {fmt::format("{}/{}", family, row.text("variant")),
          fmt::format("{}/{}", family, name_with_parameters(row.text("kernel")))}) {
      InstructionFigures& kernel = kernels[name];
      const auto size = row.integer("size");
      kernel.title = size ? fmt::format(" at size {}", grouped_number(*size)) : "";
      auto& figures = kernel.at[row.integer("address").value_or(0)];
      const std::string what = row.text("what");
      const std::int64_t count = row.integer("count").value_or(0);
      if (what == executed) {
        figures.executed = count;
        continue;
      }
      const bool is_known = std::any_of(figures.waits.begin(), figures.waits.end(),
                                        [&](const Part& part) { return part.name == what; });
      if (is_known) continue;  // the names of a kernel may be the same
      kernel.samples += static_cast<double>(count);
      figures.waits.push_back({what, static_cast<double>(count)});
    }
  }
  return kernels;
}

bool is_wait(const Part& part) { return part.name != "selected" && part.name != "not_selected"; }

/// The parts as shares for the reasons, and of all others together.
Listing::Waits waits_of(const std::vector<Part>& parts, const std::vector<std::string>& reasons,
                        double scale) {
  Listing::Waits waits;
  for (const Part& part : parts) {
    if (!is_wait(part)) continue;
    waits.resize(reasons.size() + 1);
    const auto place = std::find(reasons.begin(), reasons.end(), part.name) - reasons.begin();
    waits[static_cast<std::size_t>(place)] += part.value * scale;
  }
  return waits;
}

/// NVIDIA's names of the reasons that have a colour of their own in a file.
std::vector<std::string> reasons_of(const OfFile& figures) {
  std::vector<std::vector<Part>> bars;
  for (const auto& [line, of_line] : figures) bars.push_back(of_line.waits);
  return largest_parts(bars, most_parts - 1);
}

/// The reasons of a listing's waits, as waits_of orders them.
void add_reasons(Listing& listing, const std::vector<std::string>& reasons) {
  for (const std::string& reason : reasons) listing.reasons.push_back(stall_words(reason));
  listing.reasons.emplace_back("other reasons");
}

bool has_waits(const Listing::Code& code) {
  return std::any_of(code.instructions.begin(), code.instructions.end(),
                     [](const Listing::Instruction& one) { return !one.waits.empty(); });
}

Listing listing_of(const std::string& file, const std::string& text, const OfFile& figures,
                   const std::vector<std::string>& reasons) {
  Listing listing;
  listing.file = file;
  const bool is_sampled = std::any_of(figures.begin(), figures.end(), [](const auto& of_line) {
    return !of_line.second.waiting.missing();
  });
  listing.table.columns = {Column::number("line", "", "", Kind::exact),
                           Column::text("text", "source", Kind::code),
                           Column::number("requests", "", "", Kind::count),
                           Column::number("transactions", "", "", Kind::count),
                           Column::number("excess", "", "", Kind::count)};
  if (is_sampled) {
    listing.table.columns.push_back(Column::number("waiting", "waiting", "%", Kind::quotient));
    add_reasons(listing, reasons);
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
    if (is_sampled) {
      cells.push_back(of_line.waiting);
      listing.waits.push_back(waits_of(of_line.waits, reasons, 1));
    }
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

/// The address that nvdisasm writes before an instruction: "  /*0010*/  MOV R1, …".
std::optional<std::int64_t> address_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos || text.compare(begin, 2, "/*") != 0) return std::nullopt;
  std::int64_t address = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + begin + 2, end, address, 16);
  const bool is_address =
      parsed.ec == std::errc() && std::string_view(parsed.ptr, end).starts_with("*/");
  return is_address ? std::optional(address) : std::nullopt;
}

/// `figures`: of the kernel; null: nothing is known of its instructions.
Listing::Code code_of(const std::string& file, const Row& code, const InstructionFigures* figures,
                      const std::vector<std::string>& reasons) {
  Listing::Code result;
  result.title = fmt::format("{}, {}", code.text("kernel"), code.text("form"));
  if (figures != nullptr) result.note = fmt::format("Counts of the launch{}.", figures->title);
  std::istringstream lines(code.text("text"));
  std::int64_t source_line = 0;
  for (std::string line; std::getline(lines, line);) {
    if (const auto named = line_named(line, file)) {
      source_line = *named;
      if (*named != 0) continue;
    }
    Listing::Instruction one{source_line, line, std::nullopt};
    const auto address = figures != nullptr ? address_of(line) : std::nullopt;
    const auto found = address ? figures->at.find(*address) : decltype(figures->at.end()){};
    if (address && found != figures->at.end()) {
      one.executed = found->second.executed;
      const double scale = figures->samples > 0 ? 100 / figures->samples : 0;
      one.waits = waits_of(found->second.waits, reasons, scale);
    }
    result.instructions.push_back(std::move(one));
  }
  return result;
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
  const auto instructions = instruction_figures(source.reader, run.id);
  for (const Row& row : each_row(sources)) {
    const auto of_file = figures.find(row.text("file"));
    if (of_file == figures.end()) continue;
    const std::vector<std::string> reasons = reasons_of(of_file->second);
    Listing listing = listing_of(of_file->first, row.text("text"), of_file->second, reasons);
    for (const Row& code : each_row(codes)) {
      if (code.text("file") != of_file->first) continue;
      const auto known = instructions.find(code.text("kernel"));
      const bool is_counted = known != instructions.end() && code.text("form") == "machine code";
      listing.codes.push_back(
          code_of(of_file->first, code, is_counted ? &known->second : nullptr, reasons));
    }
    // Code from headers waits where the file itself does not.
    if (listing.reasons.empty() &&
        std::any_of(listing.codes.begin(), listing.codes.end(), has_waits)) {
      add_reasons(listing, reasons);
    }
    document.listing(std::move(listing));
  }
}

}  // namespace warpmeter::reports::sections
