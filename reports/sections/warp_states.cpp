// SPDX-License-Identifier: MIT
// The states of a kernel's resident warps: a bar a variant, whose parts are the catalogue's metrics
// stall_*. Their sum and what is left are all the cycles of resident warps. The largest parts have
// colours of their own; the rest of the reasons share one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/plot/stack.h"
#include "reports/sections/sections.h"
#include "schema/catalogue.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_state_bars = 40;
constexpr std::size_t most_reasons = most_parts - 2;  // besides the other reasons, and no stall
constexpr const char* other_states = "other reasons";
constexpr const char* issuing_state = "issuing";

struct State {
  std::string metric, name;  ///< "stall_sync", "sync"
};

const std::vector<State>& states() {
  static const std::vector<State> all = [] {
    std::vector<State> found;
    constexpr std::string_view lead = "stall: ";
    for (const schema::MetricInfo& metric : schema::Catalogue::get().metrics()) {
      if (metric.heading.starts_with(lead)) {
        found.push_back({metric.name, metric.heading.substr(lead.size())});
      }
    }
    return found;
  }();
  return all;
}

struct StateBar {
  std::string variant;
  std::vector<Part> parts;           ///< the states that were measured, together at most 100 %
  double measured_sum = 0;           ///< as they were counted, %
  std::vector<std::string> missing;  ///< the names of the others
};

double state_sum(const std::vector<Part>& parts) {
  double sum = 0;
  for (const Part& part : parts) sum += part.value;
  return sum;
}

/// Reasons are counted in several passes, and a short launch is slower in the first than in the
/// next: the sum of such shares exceeds 100 %. Each is then shown as its share of that sum.
void fit(StateBar& bar) {
  bar.measured_sum = state_sum(bar.parts);
  if (bar.measured_sum <= 100) return;
  for (Part& part : bar.parts) part.value *= 100 / bar.measured_sum;
}

/// Variants without a single state have no bar.
std::vector<StateBar> state_bars(const Group& group) {
  std::vector<StateBar> bars;
  for (const Subject& subject : group.subjects) {
    if (subject.failures() > 0 || bars.size() == most_state_bars) continue;
    StateBar bar;
    bar.variant = subject.variant;
    for (const State& state : states()) {
      const Figure figure = subject.figure(state.metric);
      if (figure.value) {
        bar.parts.push_back({state.name, *figure.value});
      } else {
        bar.missing.push_back(state.name);
      }
    }
    if (bar.parts.empty()) continue;
    fit(bar);
    bars.push_back(std::move(bar));
  }
  return bars;
}

/// The states that some variant lacks.
std::vector<std::string> missing_states(const std::vector<StateBar>& bars) {
  std::vector<std::string> names;
  for (const State& state : states()) {
    if (std::any_of(bars.begin(), bars.end(), [&](const StateBar& bar) {
          return std::find(bar.missing.begin(), bar.missing.end(), state.name) != bar.missing.end();
        })) {
      names.push_back(state.name);
    }
  }
  return names;
}

double state_value(const StateBar& bar, const std::string& name) {
  const auto found = std::find_if(bar.parts.begin(), bar.parts.end(),
                                  [&](const Part& part) { return part.name == name; });
  return found == bar.parts.end() ? 0 : found->value;
}

/// A sentence on the bars whose passes differ so much that it shows, or nothing.
std::string unlike_passes(const std::vector<StateBar>& bars) {
  constexpr double noticed = 102;
  std::vector<std::string> named;
  for (const StateBar& bar : bars) {
    if (bar.measured_sum > noticed) {
      named.push_back(fmt::format("{} {:.0f} %", bar.variant, bar.measured_sum));
    }
  }
  if (named.empty()) return "";
  return fmt::format(
      "Reasons are counted in several passes. These took different times, so that the shares of "
      "some variants add up to more than 100 %; they are shown as parts of that sum: {}.",
      fmt::join(named, ", "));
}

Plot states_plot(const std::vector<StateBar>& bars, const std::string& title) {
  std::vector<std::vector<Part>> parts;
  for (const StateBar& bar : bars) parts.push_back(bar.parts);
  const std::vector<std::string> names = largest_parts(parts, most_reasons);
  const std::vector<std::string> missing = missing_states(bars);
  Plot plot;
  plot.form = Plot::Form::stack;
  plot.title = "Warp states of " + title;
  plot.description =
      missing.empty() ? "What the resident warps wait for, largest reason first. A warp that "
                        "issues an instruction, or waits for what has no counter, is issuing."
                      : fmt::format("The rest has no name here, for these were not measured: {}.",
                                    fmt::join(missing, ", "));
  plot.x.label = "share of the cycles of resident warps (%)";
  plot.data.columns = {Column::text("variant")};
  const auto add = [&](const std::string& name) {
    plot.data.columns.push_back(Column::number(name, "", "", Kind::quotient));
  };
  for (const std::string& name : names) add(name);
  const bool has_others = std::any_of(bars.begin(), bars.end(), [&](const StateBar& bar) {
    return std::any_of(bar.parts.begin(), bar.parts.end(), [&](const Part& part) {
      return part.value > 0 && std::find(names.begin(), names.end(), part.name) == names.end();
    });
  });
  if (has_others) add(other_states);
  add(missing.empty() ? issuing_state : "the rest");
  for (const StateBar& bar : bars) {
    auto& row = plot.data.rows.emplace_back();
    row.emplace_back(bar.variant);
    const double all = state_sum(bar.parts);
    double named = 0;
    for (const std::string& name : names) {
      named += state_value(bar, name);
      row.emplace_back(state_value(bar, name));
    }
    if (has_others) row.emplace_back(std::max(all - named, 0.0));
    row.emplace_back(std::max(100 - all, 0.0));
  }
  return plot;
}

}  // namespace

void add_warp_states(Document& document, const Source& source) {
  Document plots;
  for (const Group* group : largest_groups(source.run)) {
    const std::vector<StateBar> bars = state_bars(*group);
    if (bars.empty()) continue;
    Plot plot = states_plot(bars, comparison_title(source.run, *group));
    Table values = plot.data;
    values.caption = plot.title + " (%)";
    plots.plot(std::move(plot));
    if (!source.plots) plots.table(std::move(values));
    const std::string remark = unlike_passes(bars);
    if (!remark.empty()) plots.paragraph(remark);
  }
  if (plots.blocks.empty()) return;
  document.heading(2, "What the warps did");
  document.paragraph(
      "Counters of the hardware, over all cycles of resident warps. Each family at its largest "
      "size.");
  document.append(std::move(plots));
}

}  // namespace warpmeter::reports::sections
