// SPDX-License-Identifier: MIT
// The best variant of each family in a row, and where energy was measured, time against energy: a
// variant that another one beats in both is not on the front.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/best.h"
#include "reports/sections/best_variant.h"
#include "reports/sections/sections.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// Time against energy of a family's variants; nothing for fewer than two with both.
void add_energy_plot(Document& document, const RunRecord& run, const Group& group) {
  std::vector<Standing> all = standings(group, {"duration", "energy"});
  std::erase_if(all, [](const Standing& one) { return one.subject->is_ceiling(); });
  if (all.size() < 2) return;
  const std::vector<Standing> front = front_of(all);
  std::vector<double> durations;
  for (const Standing& standing : all) durations.push_back(standing.values[0]);
  const DurationUnit unit = duration_unit(durations);
  Plot plot;
  plot.form = Plot::Form::points;
  plot.title = "Time against energy of " + comparison_title(run, group);
  plot.description =
      "A point a variant. No other variant is both faster than one on the front and takes less "
      "energy.";
  plot.x = {fmt::format("time ({})", unit.symbol), false};
  plot.y = {"energy (mJ)", false};
  plot.data.columns = {Column::text("variant"), Column::text("place"),
                       Column::number("duration", "time", std::string(unit.symbol), Kind::reading),
                       Column::number("energy", "energy", "mJ", Kind::reading)};
  for (const Standing& standing : all) {
    const bool is_on_front = std::any_of(front.begin(), front.end(), [&](const Standing& one) {
      return one.subject == standing.subject;
    });
    plot.data.rows.push_back({standing.subject->variant, is_on_front ? "the front" : "beaten",
                              standing.values[0] / unit.in_ns, 1e3 * standing.values[1]});
  }
  // The front's shape and colour are the first of the legend.
  std::stable_partition(plot.data.rows.begin(), plot.data.rows.end(), [](const auto& row) {
    return std::get<std::string>(row[1].value) == "the front";
  });
  document.plot(std::move(plot));
}

}  // namespace

void add_best_table(Document& document, const Source& source, std::size_t most) {
  const std::vector<BestOfFamily> families = best_of_families(source.run);
  if (families.empty()) return;
  Table table;
  table.columns = {Column::text("family"), Column::number("size", "", "", Kind::count),
                   Column::text("best"),
                   Column::number("factor", "the next costs", "times", Kind::quotient)};
  for (const BestOfFamily& family : families) {
    if (table.rows.size() == most) break;
    table.rows.push_back(
        {family.group->family,
         family.group->size ? Cell(*family.group->size) : Cell(Missing{"the family has one size"}),
         listed(family.variants),
         family.factor > 1 ? Cell(family.factor)
                           : Cell(Missing{"no variant is known to be better"})});
  }
  document.heading(2, best_title);
  document.table(std::move(table));
  if (families.size() > most) {
    document.paragraph(reports::counted(families.size() - most, "more family", "more families") +
                       ": leave --brief out.");
  }
}

void add_best(Document& document, const Source& source) {
  Document plots;
  if (source.plots) {
    for (const Group* group : largest_groups(source.run)) {
      add_energy_plot(plots, source.run, *group);
    }
  }
  const std::size_t before = document.blocks.size();
  add_best_table(document, source, source.run.groups.size());
  if (!plots.blocks.empty() && document.blocks.size() == before) document.heading(2, best_title);
  document.append(std::move(plots));
}

}  // namespace warpmeter::reports::sections
