// Where in the source the transactions go that a better access pattern would save.
#include <fmt/format.h>

#include "reports/number.h"
#include "reports/sections/sections.h"
#include "reports/sections/sql.h"

namespace warpmeter::reports::sections {

void add_costly_lines(Document& document, const schema::Reader& reader, const RunRecord& run) {
  const schema::Rows rows = reader.query(sql::costly_lines, run_parameter(run.id));
  if (rows.rows.empty()) return;
  Table table;
  table.columns = {Column::text("line"),
                   Column::text("source", "", Kind::code),
                   Column::text("in"),
                   Column::text("access"),
                   Column::number("requests", "", "", Kind::count),
                   Column::number("transactions", "", "", Kind::count),
                   Column::number("ideal", "", "", Kind::count),
                   Column::number("excess", "", "", Kind::count)};
  for (const Row& row : each_row(rows)) {
    const auto size = row.integer("size");
    std::string name = row.text("family") + "/" + row.text("variant");
    if (size) name += " at " + grouped_number(*size);
    const auto count = [&](std::string_view column) {
      return Cell(row.integer(column).value_or(0));
    };
    table.rows.push_back({fmt::format("{}:{}", row.text("file"), row.text("line")),
                          row.text("text"), name, row.text("access"), count("requests"),
                          count("transactions"), count("ideal"), count("excess")});
  }
  document.heading(2, "Most expensive source lines");
  document.paragraph(
      "Excess is what the line costs beyond the fewest transactions that could move its bytes.");
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
