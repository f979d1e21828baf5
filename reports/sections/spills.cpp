// SPDX-License-Identifier: MIT
// The kernels that keep values in local memory because registers ran out: what a thread would have
// to give up, and what stands against more registers. A kernel without spills needs no row.
#include "base/kernel_name.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports::sections {
namespace {

Cell count_or_missing(const Row& row, std::string_view column) {
  const auto value = row.integer(column);
  return value ? Cell(*value) : Cell(Missing{});
}

}  // namespace

void add_spills(Document& document, const Source& source) {
  const schema::Rows rows = source.reader.query(sql::spills, run_parameter(source.run.id));
  if (rows.rows.empty()) return;
  document.heading(2, "Spilled registers");
  document.paragraph(
      "Bytes that the machine code of a kernel moves to and from local memory for registers that "
      "it lacks, each load and store once. Fewer live values, or __launch_bounds__ with fewer "
      "threads, spill less.");
  Table table;
  table.columns = {Column::text("variant"),
                   Column::text("kernel"),
                   Column::number("spill_load_bytes", "spill loads", "bytes", Kind::count),
                   Column::number("spill_store_bytes", "spill stores", "bytes", Kind::count),
                   Column::number("local_bytes", "local", "bytes", Kind::count),
                   Column::number("registers", "", "/ thread", Kind::count),
                   Column::number("theoretical_occupancy", "occupancy", "%", Kind::quotient),
                   Column::text("occupancy_limiter", "limited by")};
  for (const Row& row : each_row(rows)) {
    const std::string family = row.text("family"), limiter = row.text("occupancy_limiter");
    const auto occupancy = row.number("theoretical_occupancy");
    table.rows.push_back(
        {(family.empty() ? "" : family + "/") + row.text("variant"),
         function_name(row.text("kernel")), count_or_missing(row, "spill_load_bytes"),
         count_or_missing(row, "spill_store_bytes"), count_or_missing(row, "local_bytes"),
         count_or_missing(row, "registers"), occupancy ? Cell(*occupancy) : Cell(Missing{}),
         limiter.empty() ? Cell(Missing{}) : Cell(limiter)});
  }
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
