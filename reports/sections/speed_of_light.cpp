// SPDX-License-Identifier: MIT
// The speed of light: for how much of a launch's time each resource was at its peak rate. A count
// over the documented rate is the cycles that a resource needs at the least; they are a share of
// the cycles that the launch took. A unit without a count has the share that the hardware measured.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/sections/limits.h"

namespace warpmeter::reports::sections {
namespace {

/// A column: a resource, or the parts of one, of which the busiest counts.
struct Light {
  std::string name, heading;
  std::vector<std::size_t> needs;  ///< places in Limits::needs
};

/// Headings of a table with many columns.
std::string short_heading(const std::string& name) {
  static const std::map<std::string, std::string> headings = {
      {"issue slots", "issue"},
      {"special functions", "special"},
      {"integers and comparisons", "integers"},
      {"FP32 and integer products", "FMA unit"},
      {"tensor cores", "tensor"},
      {"load/store units", "load/store"},
      {"shared memory", "shared"},
      {"data banks of L1 and shared memory", "L1 data banks"}};
  const auto found = headings.find(name);
  return found == headings.end() ? name : found->second;
}

/// "L2: tags" and "L2: sectors" are one.
std::vector<Light> lights_of(const Limits& limits) {
  std::vector<Light> lights;
  for (std::size_t i = 0; i < limits.needs.size(); ++i) {
    const Need& need = limits.needs[i];
    const std::string heading = short_heading(need.name.substr(0, need.name.find(':')));
    if (lights.empty() || lights.back().heading != heading) {
      lights.push_back({need.column + "_of_peak", heading, {}});
    }
    lights.back().needs.push_back(i);
  }
  return lights;
}

/// The busiest of the parts that have a value; else why the first has none.
Sum share_of(const Limits& limits, const Light& light) {
  Sum most = share_of_time(limits, limits.needs[light.needs.front()]);
  for (const std::size_t place : light.needs) {
    const Sum share = share_of_time(limits, limits.needs[place]);
    if (!share.missing.empty()) continue;
    if (!most.missing.empty() || share.value > most.value) most = share;
  }
  return most;
}

double highest(const std::vector<const Limits*>& all, const Light& light) {
  double most = 0;
  for (const Limits* limits : all) most = std::max(most, share_of(*limits, light).value);
  return most;
}

/// A column for each resource that some variant uses, or of which nobody knows.
Table light_table(const std::vector<const Limits*>& all) {
  Table table;
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count)};
  for (const Limits* limits : all) {
    table.rows.push_back({name_of(*limits), size_of(*limits->group)});
  }
  for (const Light& light : lights_of(*all.front())) {
    const bool is_used = highest(all, light) > 0;
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Limits* limits) {
      return share_of(*limits, light).missing.empty();
    });
    if (is_known && !is_used) continue;
    table.columns.push_back(Column::number(light.name, light.heading, "%", Kind::quotient));
    for (std::size_t i = 0; i < all.size(); ++i) {
      table.rows[i].push_back(cell_of(share_of(*all[i], light)));
    }
  }
  return table;
}

/// The resources of which some variant reaches `least_shown` per cent, the busiest ones where there
/// are many: the more variants, the fewer.
Plot light_plot(const std::vector<const Limits*>& family) {
  constexpr double least_shown = 5;
  constexpr std::size_t most_bars = 60, most_series = 6, fewest_series = 3;
  const Limits& first = *family.front();
  std::vector<Light> shown = lights_of(first);
  std::erase_if(shown, [&](const Light& light) { return highest(family, light) < least_shown; });
  const std::size_t series = std::clamp(most_bars / family.size(), fewest_series, most_series);
  const bool is_cut = shown.size() > series;
  while (shown.size() > series) {
    shown.erase(std::min_element(shown.begin(), shown.end(), [&](const Light& a, const Light& b) {
      return highest(family, a) < highest(family, b);
    }));
  }
  Plot plot;
  plot.form = Plot::Form::bars;
  plot.title = fmt::format("{} of {}", speed_of_light_title, first.group->title());
  plot.description = fmt::format(
      "The share of its time for which each variant needs a resource at its peak. The table has "
      "the "
      "resources that stay below {:.0f} %{}.",
      least_shown, is_cut ? ", and further ones" : "");
  plot.x.label = "share of peak (%)";
  plot.reference = {"peak", 100};
  plot.data.columns = {Column::text("variant")};
  for (const Light& light : shown) {
    plot.data.columns.push_back(Column::number(light.name, light.heading, "%", Kind::quotient));
  }
  for (const Limits* limits : family) {
    auto& row = plot.data.rows.emplace_back();
    row.emplace_back(limits->subject->variant);
    for (const Light& light : shown) row.push_back(cell_of(share_of(*limits, light)));
  }
  return plot;
}

/// A column for each resource that some variant uses.
Table shares_table(const std::vector<const Limits*>& all) {
  Table table;
  table.columns = {Column::text("variant"), Column::number("size", "", "", Kind::count)};
  for (const Limits* limits : all) {
    table.rows.push_back({name_of(*limits), size_of(*limits->group)});
  }
  for (std::size_t i = 0; !all.empty() && i < all.front()->needs.size(); ++i) {
    const Need& first = all.front()->needs[i];
    if (std::none_of(all.begin(), all.end(),
                     [&](const Limits* limits) { return limits->needs[i].cycles.value > 0; })) {
      continue;
    }
    const bool is_memory = i + 1 == all.front()->needs.size();
    table.columns.push_back(Column::number(first.column + "_share",
                                           is_memory ? "device memory, at least" : first.name, "%",
                                           Kind::quotient));
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Sum& cycles = all[k]->needs[i].cycles;
      const Sum& most = most_of(*all[k]).cycles;
      if (!cycles.missing.empty() || most.value <= 0) {
        table.rows[k].emplace_back(Missing{cycles.missing});
      } else {
        table.rows[k].emplace_back(100 * cycles.value / most.value).mark =
            std::max(cycles.mark, most.mark);
      }
    }
  }
  return table;
}

/// Shares of time do not exist without a clock: shares of the limit stand in for them.
void add_shares_of_limit(Document& document, const std::vector<const Limits*>& untimed) {
  document.heading(3, "Shares of the limit");
  const Limits& first = *untimed.front();
  document.paragraph(
      first.facts->is_model
          ? "The model has no clock, so these are shares of the limit, not of a launch's time."
          : fmt::format(
                "These launches lack their cycles ({}), so these are shares of the limit, not "
                "of a launch's time.",
                first.elapsed.missing));
  document.table(shares_table(untimed));
}

}  // namespace

void add_speed_of_light(Document& document, const std::vector<const Limits*>& largest) {
  std::vector<const Limits*> timed, untimed;
  for (const Limits* limits : largest) {
    (limits->elapsed.missing.empty() ? timed : untimed).push_back(limits);
  }
  if (!timed.empty()) {
    document.heading(3, speed_of_light_title);
    Table table = light_table(timed);
    const std::string missing = missing_text(table);
    document.table(std::move(table));
    if (!missing.empty()) document.paragraph(missing);
    for (const auto& family : families_of(timed)) {
      Plot plot = light_plot(family);
      if (plot.data.columns.size() > 1) document.plot(std::move(plot));
    }
  }
  if (!untimed.empty()) add_shares_of_limit(document, untimed);
}

}  // namespace warpmeter::reports::sections
