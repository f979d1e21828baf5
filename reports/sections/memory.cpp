// SPDX-License-Identifier: MIT
// The way of a launch's bytes between kernel, shared memory, L1, L2 and device memory: a table of
// all variants, and for each family a picture of the variant whose limit needs the most cycles
// above that whose limit needs the fewest.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "reports/plot/scale.h"
#include "reports/sections/needs.h"

namespace warpmeter::reports::sections {
namespace {

/// One amount of an edge.
struct Amount {
  const char *name, *heading, *unit;
  std::vector<const char*> counters;
};

/// A line of a picture: its word, and the amounts in it.
struct EdgeLine {
  MemoryChart::Edge edge;
  const char* word;
  std::vector<Amount> amounts;
};

const std::vector<EdgeLine>& edge_lines() {
  static const std::vector<EdgeLine> lines = {
      {MemoryChart::shared,
       "loads",
       {{"shared_load_requests", "shared load requests", "req", {"shared_load_requests"}},
        {"shared_load_wavefronts", "wavefronts", "wf", {"shared_load_wavefronts"}}}},
      {MemoryChart::shared,
       "stores",
       {{"shared_store_requests", "shared store requests", "req", {"shared_store_requests"}},
        {"shared_store_wavefronts", "wavefronts", "wf", {"shared_store_wavefronts"}}}},
      {MemoryChart::l1,
       "loads",
       {{"load_requests",
         "L1 load requests",
         "req",
         {"global_load_requests", "local_load_requests"}},
        {"load_sectors", "sectors", "sec", {"global_load_sectors", "local_load_sectors"}}}},
      {MemoryChart::l1,
       "stores",
       {{"store_requests",
         "L1 store requests",
         "req",
         {"global_store_requests", "local_store_requests"}},
        {"store_sectors", "sectors", "sec", {"global_store_sectors", "local_store_sectors"}}}},
      {MemoryChart::l2, "reads", {{"l2_read_sectors", "L2 reads", "sec", {"l2_read_sectors"}}}},
      {MemoryChart::l2, "writes", {{"l2_write_sectors", "L2 writes", "sec", {"l2_write_sectors"}}}},
      {MemoryChart::device_memory,
       "reads",
       {{"dram_read_bytes", "device memory reads", "B", {"dram_read_bytes"}}}},
      {MemoryChart::device_memory,
       "writes",
       {{"dram_write_bytes", "device memory writes", "B", {"dram_write_bytes"}}}},
  };
  return lines;
}

/// "loads 131k req, 4.19M wf ×8": a factor says how much more it is than in `other`.
std::string line_text(const EdgeLine& line, const Subject& subject, const Subject* other) {
  std::string text;
  for (const Amount& amount : line.amounts) {
    const Sum sum = sum_of(subject, amount.counters);
    if (!sum.missing.empty()) return "";
    text += fmt::format("{}{} {}", text.empty() ? std::string(line.word) + " " : ", ",
                        tick_text(sum.value), amount.unit);
    const double before = other == nullptr ? sum.value : sum_of(*other, amount.counters).value;
    if (before == sum.value || before == 0 || sum.value == 0) continue;
    const double factor = sum.value / before;
    text += factor < 99.5 ? fmt::format(" ×{:.2g}", factor) : fmt::format(" ×{:.0f}", factor);
  }
  return text;
}

MemoryChart::Side side_of(const Limits& limits, const Subject* other) {
  MemoryChart::Side side;
  side.name = limits.subject->variant;
  for (const EdgeLine& line : edge_lines()) {
    const std::string text = line_text(line, *limits.subject, other);
    if (!text.empty()) side.edges[line.edge].push_back(text);
  }
  return side;
}

/// The most cycles that shared memory, L1 or the units before them need.
double memory_cycles(const Limits& limits) {
  double most = 0;
  for (std::size_t i = 0; i < resources().size(); ++i) {
    if (resources()[i].is_memory) most = std::max(most, limits.needs[i].cycles.value);
  }
  return most;
}

MemoryChart chart_of(const std::vector<const Limits*>& family) {
  std::vector<const Limits*> shown = family;
  std::erase_if(shown, [](const Limits* limits) { return limits->subject->is_ceiling(); });
  if (shown.empty()) shown = family;
  const auto [least, most] = std::minmax_element(
      shown.begin(), shown.end(),
      [](const Limits* a, const Limits* b) { return memory_cycles(*a) < memory_cycles(*b); });
  MemoryChart chart;
  chart.title = "Memory of " + (*most)->group->title();
  chart.description =
      "Requests (req) of warps, wavefronts (wf) of shared memory, sectors (sec) of 32 bytes. Grey "
      "edges were not counted: the table says why.";
  chart.sides.push_back(side_of(**most, nullptr));
  if (*least != *most) chart.sides.push_back(side_of(**least, (*most)->subject));
  return chart;
}

Table memory_table(const std::vector<const Limits*>& all) {
  Table table;
  table.caption = "Requests, wavefronts, sectors and bytes of each memory";
  table.columns = {Column::text("variant")};
  for (const EdgeLine& line : edge_lines()) {
    for (const Amount& amount : line.amounts) {
      table.columns.push_back(Column::number(
          amount.name, amount.heading, std::string(amount.unit) == "B" ? "B" : "", Kind::count));
    }
  }
  for (const Limits* limits : all) {
    auto& row = table.rows.emplace_back();
    row.emplace_back(limits->group->family + "/" + limits->subject->variant);
    for (const EdgeLine& line : edge_lines()) {
      for (const Amount& amount : line.amounts) {
        const Sum sum = sum_of(*limits->subject, amount.counters);
        row.push_back(sum.missing.empty() ? Cell(sum.value) : Cell(Missing{sum.missing}));
        row.back().mark = sum.mark;
      }
    }
  }
  return table;
}

}  // namespace

void add_memory(Document& document, const std::vector<const Limits*>& largest) {
  document.heading(3, "Memory");
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Limits*>> families;
  for (const Limits* limits : largest) {
    families[{limits->group->family, limits->group->device_id}].push_back(limits);
  }
  for (const auto& [family, limits] : families) document.memory_chart(chart_of(limits));
  document.table(memory_table(largest));
}

}  // namespace warpmeter::reports::sections
