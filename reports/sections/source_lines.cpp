// SPDX-License-Identifier: MIT
// Where in the source the transactions go: the lines that a better access pattern would help most,
// and the full list.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/stalls.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

std::string place_of(const Row& row) {
  return fmt::format("{}:{}", row.text("file"), row.text("line"));
}

std::string launch_of(const Row& row) {
  const auto size = row.integer("size");
  return row.text("family") + "/" + row.text("variant") +
         (size ? " at " + grouped_number(*size) : "");
}

Cell count(const Row& row, std::string_view column) { return row.integer(column).value_or(0); }

Cell transactions_of(const Row& row) {
  Cell cell = count(row, "transactions");
  cell.mark = mark_of(row.text("grade"));
  return cell;
}

std::vector<Column> line_columns() {
  return {Column::text("line"),
          Column::text("source", "", Kind::code),
          Column::text("in"),
          Column::text("access"),
          Column::number("requests", "", "", Kind::count),
          Column::number("transactions", "", "", Kind::count),
          Column::number("ideal", "", "", Kind::count),
          Column::number("excess", "", "", Kind::count)};
}

std::vector<Cell> line_cells(const Row& row) {
  return {place_of(row),          row.text("text"),     launch_of(row),      row.text("access"),
          count(row, "requests"), transactions_of(row), count(row, "ideal"), count(row, "excess")};
}

/// The plot of costs over ideals: on the diagonal is the ideal.
Plot ideal_plot(const schema::Rows& rows) {
  constexpr std::size_t most_places = 1000;
  Plot plot;
  plot.form = Plot::Form::points;
  plot.title = "Transactions against the fewest possible";
  plot.description =
      "A point a source line, access and launch; the dashed line is the ideal, and what lies above "
      "it is lost to the access pattern. Both axes are logarithmic.";
  plot.x = {"ideal (transactions)", true};
  plot.y = {"transactions", true};
  plot.diagonal = true;
  plot.data.columns = {Column::text("line"), Column::text("access"),
                       Column::number("ideal", "", "", Kind::count),
                       Column::number("transactions", "", "", Kind::count)};
  for (const Row& row : each_row(rows)) {
    if (plot.data.rows.size() == most_places) break;
    if (row.integer("ideal").value_or(0) <= 0 || row.integer("transactions").value_or(0) <= 0) {
      continue;
    }
    plot.data.rows.push_back({place_of(row) + " in " + launch_of(row), row.text("access"),
                              count(row, "ideal"), count(row, "transactions")});
  }
  return plot;
}

}  // namespace

void add_costly_lines(Document& document, const Source& source) {
  const schema::Rows rows = source.reader.query(sql::costly_lines, run_parameter(source.run.id));
  if (rows.rows.empty()) return;
  Table table;
  table.columns = line_columns();
  for (const Row& row : each_row(rows)) table.rows.push_back(line_cells(row));
  document.heading(2, "Most expensive source lines");
  document.paragraph(
      "Excess is what the line costs beyond the fewest transactions that could move its bytes.");
  document.table(std::move(table));
}

void add_lines(Document& document, const Source& source) {
  const schema::Rows rows = source.reader.query(sql::line_costs, run_parameter(source.run.id));
  if (rows.rows.empty()) return;
  Table table;
  table.columns = line_columns();
  table.columns.push_back(Column::number("efficiency", "", "%", Kind::quotient));
  for (const Row& row : each_row(rows)) {
    std::vector<Cell> cells = line_cells(row);
    const auto efficiency = row.number("efficiency");
    cells.push_back(efficiency ? Cell(*efficiency) : Cell(Missing{"its bytes were not recorded"}));
    table.rows.push_back(std::move(cells));
  }
  document.heading(2, "Every source line");
  Plot plot = ideal_plot(rows);
  if (plot.data.rows.size() > 1) document.plot(std::move(plot));
  document.table(std::move(table));
}

void add_stalls(Document& document, const Source& source) {
  constexpr std::size_t most_plots = 6;
  const std::vector<WaitingLine> lines = waiting_lines(source.reader, source.run.id, 0);
  Table table = stalls_table(lines, true);
  if (table.rows.empty()) return;
  document.heading(2, "What the warps waited for");
  document.paragraph(
      "Samples of the GPU: at a fixed number of cycles each scheduler is asked where one of its "
      "warps is, and why it does not go on. Shares are of all samples of the launch.");
  std::size_t plots = 0;
  for (auto begin = lines.begin(); begin != lines.end() && plots < most_plots;) {
    const auto end = std::find_if(begin, lines.end(), [&](const WaitingLine& line) {
      return line.launch_id != begin->launch_id;
    });
    if (auto plot = stalls_plot(std::span(begin, end))) {
      document.plot(std::move(*plot));
      ++plots;
    }
    begin = end;
  }
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
