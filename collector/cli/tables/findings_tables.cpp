// SPDX-License-Identifier: MIT
#include "collector/cli/tables/findings_tables.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>
#include <vector>

namespace warpmeter::cli {
namespace {

using reports::Cell;
using reports::Column;
using reports::Kind;

Cell place_cell(const std::string& place) {
  return place.empty() ? Cell(reports::Missing{}) : Cell(place);
}

}  // namespace

reports::Table findings_table(std::span<const ShownFinding> findings,
                              const FindingColumns& columns) {
  reports::Table table;
  if (columns.launch) table.columns = {Column::text("variant")};
  table.columns.insert(table.columns.end(),
                       {Column::text("finding"), Column::text("place"), Column::text("weight")});
  if (columns.ptx_line) {
    table.columns.push_back(Column::number("ptx_line", "PTX line", "", Kind::exact));
  }
  table.columns.insert(table.columns.end(),
                       {Column::number("times", "", "", Kind::count), Column::text("message")});
  for (const ShownFinding& finding : findings) {
    std::vector<Cell> cells;
    if (columns.launch) cells.emplace_back(finding.launch);
    cells.insert(cells.end(), {finding.finding, place_cell(finding.place),
                               finding.is_remark ? "remark" : "mistake"});
    if (columns.ptx_line) cells.emplace_back(finding.ptx_line.value_or(0));
    cells.insert(cells.end(), {static_cast<std::int64_t>(finding.times), finding.message});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string coverage_text(const model::check::Coverage& coverage, std::vector<std::string> gaps,
                          bool is_verbose) {
  const auto add = [](std::vector<std::string>& to, std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
  };
  if (is_verbose) {
    std::vector<std::string> looked = model::check::looked_for();
    if (coverage.is_program) add(looked, model::check::looked_for_in_programs());
    add(gaps, model::check::not_looked_for(coverage));
    return fmt::format("{}. Not looked for: {}.", fmt::join(looked, "; "), fmt::join(gaps, "; "));
  }
  add(gaps, model::check::left_out(coverage));
  const std::string looked = model::check::looked_for_in_short(coverage.is_program);
  if (gaps.empty()) return looked + " (-v lists each, and what was not looked for).";
  return fmt::format("{} (-v lists each). Not looked for: {}; and what else -v lists.", looked,
                     fmt::join(gaps, "; "));
}

FindingCount count_of(std::span<const ShownFinding> findings) {
  FindingCount count;
  for (const ShownFinding& finding : findings) {
    ++(finding.is_remark ? count.remarks : count.mistakes);
  }
  return count;
}

std::string found_text(const FindingCount& count, bool are_named) {
  const std::string also =
      count.remarks == 0 ? "" : fmt::format(" and {}", with_noun(count.remarks, "remark"));
  return fmt::format("--check found {}{}; {}", with_noun(count.mistakes, "mistake"), also,
                     are_named ? "fix the lines named above" : "without --quiet they are named");
}

}  // namespace warpmeter::cli
