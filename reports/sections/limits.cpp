// SPDX-License-Identifier: MIT
// How far from which limit each variant is: its counts over the rates that NVIDIA documents.
//
// A resource needs count / rate cycles of a multiprocessor, however many multiprocessors share
// them. The resource that needs the most is the limit: no launch takes less. Its time is longer,
// for latency and what has no count. On a GPU, units without a count have a measured share of their
// peak. A limit is named only where all resources have their counts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/sections/limits.h"
#include "reports/sections/roofline.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

Table limits_table(const std::vector<const Limits*>& all) {
  Table table;
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count),
                   Column::text("limit"), Column::text("evidence"),
                   Column::number("cycles", "cycles of multiprocessors", "", Kind::count)};
  for (const Limits* limits : all) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*limits));
    row.push_back(size_of(*limits->group));
    row.push_back(limit_of(*limits));
    row.emplace_back(evidence_of(*limits));
    row.push_back(cell_of(most_of(*limits).cycles));
  }
  return table;
}

/// How full the multiprocessors were, and what keeps them from being fuller.
Table occupancy_table(const std::vector<const Limits*>& all) {
  Table table;
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count),
                   Column::number("achieved_occupancy", "achieved", "%", Kind::quotient),
                   Column::number("theoretical_occupancy", "theoretical", "%", Kind::quotient),
                   Column::text("occupancy_limiter", "limited by")};
  for (const Limits* limits : all) {
    const LaunchFacts& facts = *limits->facts;
    auto& row = table.rows.emplace_back();
    row.emplace_back(name_of(*limits));
    row.push_back(size_of(*limits->group));
    row.push_back(cell_of(sum_of(*limits->subject, {"achieved_occupancy"})));
    row.push_back(facts.occupancy ? Cell(*facts.occupancy)
                                  : Cell(Missing{facts.occupancy_limiter}));
    row.push_back(facts.occupancy ? Cell(facts.occupancy_limiter)
                                  : Cell(Missing{facts.occupancy_limiter}));
  }
  return table;
}

/// " These have no count here, and may need more: tensor cores, L2."
std::string uncounted_text(const std::vector<const Limits*>& all) {
  const std::vector<std::string> names = limits::uncounted_resources(all);
  if (names.empty()) return "";
  return fmt::format(" These have no count here, and may need more: {}.", fmt::join(names, ", "));
}

/// The table, and why some of its values are missing.
void add_table(Document& document, Table table) {
  const std::string missing = missing_text(table);
  document.table(std::move(table));
  if (!missing.empty()) document.paragraph(missing);
}

/// The parts of the section below its sentences.
Document parts_of(const LimitsOfRun& of_run, const std::vector<const Limits*>& largest) {
  Document parts;
  add_table(parts, limits_table(largest));
  add_speed_of_light(parts, largest);
  parts.heading(3, "Occupancy");
  add_table(parts, occupancy_table(largest));
  add_memory(parts, largest);
  add_roofline(parts, of_run.all, largest);
  return parts;
}

}  // namespace

void add_limits(Document& document, const Source& source) {
  const LimitsOfRun& of_run = source.limits();
  if (of_run.all.empty() && of_run.unlisted.empty()) return;
  document.heading(2, limits_title);
  for (const int capability : of_run.unlisted) {
    document.paragraph(fmt::format(
        "The rates of compute capability {}.{} are not on the list: its limits are not known.",
        capability / 10, capability % 10));
  }
  if (of_run.all.empty()) return;
  const std::vector<const Limits*> largest = largest_of(of_run.all);
  for (const FamilyLimit& family : limits_of_families(source)) {
    document.remark({family.text(), ""});
  }
  Document parts = parts_of(of_run, largest);
  document.paragraph(
      "A count over the rate that NVIDIA documents is the cycles that a resource needs, summed "
      "over the multiprocessors. On a GPU, a unit without a count has the measured share of its "
      "peak, times the cycles of the launch. The resource that needs the most is the limit." +
      uncounted_text(largest) + " Each variant at its largest size." + marks_legend(parts.marks()));
  if (!of_run.unlimited.empty()) document.paragraph(unlimited_text(of_run));
  if (const CardPeaks* card = of_run.all.front().facts->card; card != nullptr) {
    document.paragraph(fmt::format(
        "Device memory has the bandwidth of this card: {}. Where its bytes were not counted, they "
        "are those of input and output, each once: the least with cold caches.",
        card->name));
  }
  document.append(std::move(parts));
}

void add_other_limits(Document& document, const Source& source) {
  constexpr std::size_t most_families = 12;
  std::vector<FamilyLimit> others = limits_of_families(source);
  std::erase_if(others, [&](const FamilyLimit& family) {
    return std::any_of(document.blocks.begin(), document.blocks.end(), [&](const auto& block) {
      const auto* remark = std::get_if<Remark>(&block);
      return remark != nullptr && remark->text == family.text();
    });
  });
  if (others.empty()) return;
  document.heading(2, "What limits the other families");
  for (std::size_t i = 0; i < std::min(others.size(), most_families); ++i) {
    document.remark({others[i].limit, ""});
  }
  if (others.size() > most_families) {
    document.paragraph(reports::counted(others.size() - most_families, "more family has a limit",
                                        "more families have limits") +
                       ": leave --brief out.");
  }
}

std::string why_no_limits(const Source& source) {
  const LimitsOfRun& of_run = source.limits();
  if (of_run.unlimited.empty()) return "no launch has counts";
  return unlimited_text(of_run) + " `run -m @limits` counts all that it needs";
}

}  // namespace warpmeter::reports::sections
