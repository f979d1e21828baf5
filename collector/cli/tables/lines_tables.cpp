// SPDX-License-Identifier: MIT
#include "collector/cli/tables/lines_tables.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/document.h"
#include "reports/record.h"
#include "reports/stalls.h"
#include "reports/table/number.h"

namespace warpmeter::cli {

using reports::Cell;
using reports::Column;
using reports::Kind;
using reports::Table;

Table lines_table(const schema::Reader& reader, std::int64_t run_id, std::int64_t launch_id,
                  bool for_people) {
  Table table;
  if (!for_people) {
    table.columns = {Column::number("launch_id", "", "", Kind::exact), Column::text("variant"),
                     Column::text("file"), Column::number("line", "", "", Kind::exact)};
  } else {
    table.columns = {Column::text("line")};
  }
  table.columns.insert(
      table.columns.end(),
      {Column::text("text", "source", Kind::code), Column::text("access"),
       Column::number("requests", "", "", Kind::count),
       Column::number("transactions", "", "", Kind::count),
       Column::number("ideal", "", "", Kind::count), Column::number("excess", "", "", Kind::count),
       Column::number("efficiency", "", "%", Kind::quotient), Column::text("grade")});
  const schema::Rows rows = reader.query(
      "SELECT launch_id, variant, file, line, text, access, requests, transactions, ideal, excess, "
      "efficiency, grade FROM lines JOIN launches USING (run_id, launch_id) "
      "WHERE run_id = :run AND (:id = 0 OR launch_id = :id) "
      "ORDER BY launch_id, excess DESC, transactions DESC, file, line, access",
      {{":run", run_id}, {":id", launch_id}});
  for (const reports::Row& row : reports::each_row(rows)) {
    const auto count = [&](std::string_view column) {
      return Cell(row.integer(column).value_or(0));
    };
    const std::optional<double> efficiency = row.number("efficiency");
    std::vector<Cell> cells;
    if (for_people) {
      cells = {fmt::format("{}:{}", row.text("file"), row.integer("line").value_or(0))};
    } else {
      cells = {count("launch_id"), row.text("variant"), row.text("file"), count("line")};
    }
    cells.insert(cells.end(),
                 {row.text("text"), row.text("access"), count("requests"), count("transactions"),
                  count("ideal"), count("excess"),
                  efficiency ? Cell(*efficiency) : Cell(reports::Missing{}), row.text("grade")});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string lines_text(const schema::Reader& reader, std::int64_t run_id, ShownLaunches which,
                       std::size_t width) {
  const schema::Rows rows = reader.query(
      "WITH numbered AS (SELECT *, row_number() OVER (PARTITION BY kernel ORDER BY launch_id) AS "
      "number, count(*) OVER (PARTITION BY kernel) AS launches FROM launches WHERE run_id = :run), "
      "shown AS (SELECT launch_id, row_number() OVER (PARTITION BY kernel ORDER BY "
      "sum(transactions) DESC, launch_id) AS place FROM lines JOIN launches USING (run_id, "
      "launch_id) WHERE run_id = :run GROUP BY launch_id, kernel) "
      "SELECT launch_id, family, variant, size, grid, block, number, launches FROM numbered JOIN "
      "shown USING (launch_id) WHERE place = 1 OR NOT :worst ORDER BY launch_id",
      {{":run", run_id}, {":worst", which == ShownLaunches::worst_of_kernel ? 1 : 0}});
  reports::Document document;
  for (const reports::Row& row : reports::each_row(rows)) {
    const std::optional<std::int64_t> size = row.integer("size");
    const std::int64_t launches = row.integer("launches").value_or(1);
    const bool is_chosen = which == ShownLaunches::worst_of_kernel && launches > 1;
    document.heading(
        3, fmt::format("{}/{}{}, grid {}, block {}{}", row.text("family"), row.text("variant"),
                       size ? fmt::format(" at {}", reports::grouped_number(*size)) : "",
                       row.text("grid"), row.text("block"),
                       is_chosen ? fmt::format(", launch {} of {}",
                                               row.integer("number").value_or(1), launches)
                                 : ""));
    const std::int64_t id = row.integer("launch_id").value_or(0);
    document.table(lines_table(reader, run_id, id, true));
    reports::Table waits = reports::stalls_table(reports::waiting_lines(reader, run_id, id), false);
    if (waits.rows.empty()) continue;
    waits.caption = "What the warps waited for";
    document.table(std::move(waits));
  }
  return document.blocks.empty() ? "" : reports::document_text(document, width);
}

}  // namespace warpmeter::cli
