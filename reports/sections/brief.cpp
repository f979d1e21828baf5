// SPDX-License-Identifier: MIT
// One screen of a run: the headline, and the best of each family in a row.
#include "reports/sections/best_variant.h"
#include "reports/sections/sections.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_families = 12;

}  // namespace

void add_brief(Document& document, const Source& source) {
  add_headline(document, source);
  add_other_limits(document, source);
  const std::vector<BestOfFamily> families = best_of_families(source.run);
  if (families.empty()) return;
  Table table;
  table.columns = {Column::text("family"), Column::number("size", "", "", Kind::count),
                   Column::text("best"),
                   Column::number("factor", "the next costs", "times", Kind::quotient)};
  for (const BestOfFamily& family : families) {
    if (table.rows.size() == most_families) break;
    table.rows.push_back(
        {family.group->family,
         family.group->size ? Cell(*family.group->size) : Cell(Missing{"the family has one size"}),
         listed(family.variants),
         family.factor > 1 ? Cell(family.factor)
                           : Cell(Missing{"no variant is known to be better"})});
  }
  document.heading(2, "The best of each family");
  document.table(std::move(table));
  if (families.size() > most_families) {
    document.paragraph(
        reports::counted(families.size() - most_families, "more family", "more families") +
        ": leave --brief out.");
  }
}

}  // namespace warpmeter::reports::sections
