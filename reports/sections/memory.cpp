// SPDX-License-Identifier: MIT
// The way of a launch's bytes between kernel, shared memory, L1, L2 and device memory: two tables
// of all variants, and for each family a picture of the variant whose memory needs the most cycles
// above that whose memory needs the fewest.
//
// An access of a kind that no variant has (atomics, copies past the registers, shared memory of
// other blocks) has no row.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "reports/plot/scale.h"
#include "reports/sections/limits.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

constexpr double bytes_a_sector = 32;
constexpr const char *l1_hits = "tex_cache_hit_rate", *l2_hits = "l2_tex_hit_rate";

/// One amount of an edge: the sum of some counters, times `scale`.
struct Amount {
  std::string name, heading;
  const char* unit;
  std::vector<const char*> counters;
  double scale = 1;
};

/// A kind of access: a line of a picture, and columns of a table.
struct Access {
  MemoryChart::EdgeName edge;
  const char* word;
  std::vector<Amount> amounts;
  bool is_optional = false;  ///< without a value it has no row: chips may lack such instructions
  std::string kind = "";     ///< "shared loads", of shared memory
};

/// Two columns: the requests of a kind of access to shared memory, and their wavefronts.
Access shared_access(const char* word, const std::string& heading, const char* requests,
                     const char* wavefronts, bool is_optional = true) {
  return {MemoryChart::shared,
          word,
          {{requests, heading + " requests", "req", {requests}},
           {wavefronts, "wavefronts", "wf", {wavefronts}}},
          is_optional,
          std::string(word).ends_with('s') ? fmt::format("shared {}", word) : word};
}

/// Requests, and sectors with their bytes.
Access global_access(MemoryChart::EdgeName edge, const char* word, const std::string& name,
                     const std::string& heading, std::vector<const char*> requests,
                     std::vector<const char*> sectors, bool is_optional) {
  Access access{edge, word, {}, is_optional};
  if (!requests.empty()) {
    access.amounts.push_back(
        {name + "_requests", heading + " requests", "req", std::move(requests)});
  }
  access.amounts.push_back({name + "_sectors",
                            access.amounts.empty() ? heading + " sectors" : "sectors", "sec",
                            sectors});
  access.amounts.push_back({name + "_bytes", "bytes", "B", std::move(sectors), bytes_a_sector});
  return access;
}

Access bulk_access(const char* word, const char* heading, const char* requests, const char* bytes) {
  return {MemoryChart::copies,
          word,
          {{requests, std::string(heading) + " requests", "req", {requests}},
           {bytes, "bytes", "B", {bytes}}},
          true};
}

Access bytes_access(const char* word, const char* heading, const char* bytes) {
  return {MemoryChart::device_memory, word, {{bytes, heading, "B", {bytes}}}};
}

Access cluster_access(const char* word, const char* heading, std::vector<const char*> requests) {
  return {MemoryChart::cluster,
          word,
          {{requests.front(), std::string(heading) + " requests", "req", requests}},
          true};
}

const std::vector<Access>& accesses() {
  using Edge = MemoryChart::EdgeName;
  // clang-format off
  static const std::vector<Access> all = {
      shared_access("loads", "shared load", "shared_load_requests", "shared_load_wavefronts", false),
      shared_access("stores", "shared store", "shared_store_requests", "shared_store_wavefronts", false),
      shared_access("atomics", "shared atomic", "shared_atomic_requests", "shared_atomic_wavefronts"),
      shared_access("ldmatrix", "ldmatrix", "shared_matrix_load_requests", "shared_matrix_load_wavefronts"),
      shared_access("stmatrix", "stmatrix", "shared_matrix_store_requests", "shared_matrix_store_wavefronts"),
      shared_access("wgmma", "wgmma", "shared_wgmma_requests", "shared_wgmma_wavefronts"),
      cluster_access("loads", "other blocks' shared load", {"distributed_shared_load_requests"}),
      cluster_access("stores", "other blocks' shared store",
                     {"distributed_shared_store_requests", "distributed_shared_async_store_requests"}),
      cluster_access("atomics", "other blocks' shared atomic",
                     {"distributed_shared_atomic_requests", "distributed_shared_async_reduction_requests"}),
      cluster_access("bulk stores", "other blocks' bulk store", {"distributed_shared_bulk_store_requests"}),
      cluster_access("bulk reductions", "other blocks' bulk reduction", {"distributed_shared_bulk_reduction_requests"}),
      global_access(Edge::l1, "loads", "load", "L1 load", {"global_load_requests", "local_load_requests"},
                    {"global_load_sectors", "local_load_sectors"}, false),
      global_access(Edge::l1, "stores", "store", "L1 store", {"global_store_requests", "local_store_requests"},
                    {"global_store_sectors", "local_store_sectors"}, false),
      global_access(Edge::l1, "atomics", "atomic", "atomic", {"global_atomic_requests"}, {"global_atomic_sectors"}, true),
      global_access(Edge::l1, "reductions", "reduction", "reduction", {"global_reduction_requests"},
                    {"global_reduction_sectors"}, true),
      global_access(Edge::copies, "cp.async", "async_copy", "cp.async", {"async_copy_requests"},
                    {"async_copy_sectors"}, true),
      bulk_access("bulk loads", "bulk load", "bulk_load_requests", "bulk_load_bytes"),
      bulk_access("bulk stores", "bulk store", "bulk_store_requests", "bulk_store_bytes"),
      bulk_access("bulk reductions", "bulk reduction", "bulk_reduction_requests", "bulk_reduction_bytes"),
      global_access(Edge::l2, "reads", "l2_read", "L2 read", {}, {"l2_read_sectors"}, false),
      global_access(Edge::l2, "writes", "l2_write", "L2 write", {}, {"l2_write_sectors"}, false),
      bytes_access("reads", "device memory reads", "dram_read_bytes"),
      bytes_access("writes", "device memory writes", "dram_write_bytes"),
  };
  // clang-format on
  return all;
}

Sum value_of(const Amount& amount, const Subject& subject) {
  Sum sum = sum_of(subject, amount.counters);
  sum.value *= amount.scale;
  return sum;
}

/// True if some variant has such accesses, or nobody knows of one that they are sure to have.
bool is_shown(const Access& access, const std::vector<const Limits*>& all) {
  return std::any_of(all.begin(), all.end(), [&](const Limits* limits) {
    return std::any_of(access.amounts.begin(), access.amounts.end(), [&](const Amount& amount) {
      const Sum sum = value_of(amount, *limits->subject);
      return sum.missing.empty() ? sum.value > 0 : !access.is_optional;
    });
  });
}

/// " ×8": how much more it is than before; empty where it is the same, or nothing.
std::string factor_of(double value, double before) {
  if (before == value || before == 0 || value == 0) return "";
  const double factor = value / before;
  return factor < 99.5 ? fmt::format(" ×{:.2g}", factor) : fmt::format(" ×{:.0f}", factor);
}

/// "131k req", "33.6 MB"
std::string amount_text(double value, std::string_view unit) {
  std::string text = tick_text(value);
  if (unit == "B" && text.find_last_of("kMGT") == text.size() - 1) {
    return text.insert(text.size() - 1, " ") + "B";
  }
  return fmt::format("{} {}", text, unit);
}

/// "loads 131k req, 4.19M wf ×8 (32 a req)": a factor says how much more it is than in `other`.
std::string line_text(const Access& access, const Subject& subject, const Subject* other) {
  std::string text;
  double requests = 0;
  bool is_none = true;
  for (const Amount& amount : access.amounts) {
    const Sum sum = value_of(amount, subject);
    if (!sum.missing.empty()) return "";
    is_none = is_none && sum.value == 0;
    const std::string_view unit = amount.unit;
    text += (text.empty() ? std::string(access.word) + " " : ", ") + amount_text(sum.value, unit);
    if (other != nullptr && amount.scale == 1) {
      text += factor_of(sum.value, value_of(amount, *other).value);
    }
    if (unit == "req") requests = sum.value;
    if (unit == "wf" && sum.value > requests && requests > 0) {
      text += fmt::format(" ({} a req)", readable_number(sum.value / requests, Zeros::trim));
    }
  }
  return is_none ? fmt::format("no {}", access.word) : text;
}

/// The reason why an edge has no figures, in words that fit on it.
std::string short_reason(const Limits& limits, const Sum& missing) {
  if (limits.facts->is_model) return "no cache is modelled";
  if (missing.is_uncounted) return "not counted: run -m @limits";
  constexpr std::size_t longest = 44;
  const std::string first = missing.missing.substr(0, missing.missing.find("; "));
  return first.size() <= longest ? first : first.substr(0, first.rfind(' ', longest)) + " …";
}

std::string hits_of(const Subject& subject, const char* metric) {
  const Sum rate = sum_of(subject, {metric});
  return rate.missing.empty() ? fmt::format("{} % hits", readable_number(rate.value, Zeros::trim))
                              : "";
}

/// `shown`: the sides of the chart; they have the same lines.
MemoryChart::Side side_of(const Limits& limits, const Subject* other,
                          const std::vector<const Limits*>& shown) {
  MemoryChart::Side side;
  side.name = limits.subject->variant;
  for (const Access& access : accesses()) {
    MemoryChart::Edge& edge = side.edges[access.edge];
    const bool is_optional = access.is_optional;
    if (is_shown(access, shown)) {
      const std::string text = line_text(access, *limits.subject, other);
      if (!text.empty()) edge.lines.push_back(text);
    }
    for (const Amount& amount : access.amounts) {
      if (is_optional || !edge.whole_reason.empty()) continue;
      const Sum sum = value_of(amount, *limits.subject);
      edge.whole_reason = sum.missing;
      if (!sum.missing.empty()) edge.reason = short_reason(limits, sum);
    }
  }
  for (const MemoryChart::EdgeName name : {MemoryChart::shared, MemoryChart::l1}) {
    MemoryChart::Edge& edge = side.edges[name];
    if (edge.lines.empty() && edge.reason.empty()) edge.lines.push_back("no accesses");
  }
  side.l1_hits = hits_of(*limits.subject, l1_hits);
  side.l2_hits = hits_of(*limits.subject, l2_hits);
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
  const std::vector<const Limits*> variants = without_ceilings(family);
  const auto [least, most] = std::minmax_element(
      variants.begin(), variants.end(),
      [](const Limits* a, const Limits* b) { return memory_cycles(*a) < memory_cycles(*b); });
  MemoryChart chart;
  chart.title = "Memory of " + (*most)->group->title();
  chart.description =
      "Requests (req) of warps, wavefronts (wf) of shared memory, sectors (sec) of 32 bytes.";
  std::vector<const Limits*> shown = {*most};
  if (*least != *most) {
    chart.description +=
        fmt::format(" ×: {} beside {}.", (*least)->subject->variant, (*most)->subject->variant);
    shown.push_back(*least);
  }
  chart.sides.push_back(side_of(**most, nullptr, shown));
  if (*least != *most) chart.sides.push_back(side_of(**least, (*most)->subject, shown));
  return chart;
}

/// The wavefronts of a request: what is beyond those of the access's width are bank conflicts.
Cell wavefronts_a_request(const Access& access, const Subject& subject) {
  const Sum requests = value_of(access.amounts[0], subject);
  const Sum wavefronts = value_of(access.amounts[1], subject);
  if (!wavefronts.missing.empty()) return Missing{wavefronts.missing};
  if (!requests.missing.empty()) return Missing{requests.missing};
  if (requests.value == 0) return Missing{"no such request"};
  Cell cell(wavefronts.value / requests.value);
  cell.mark = std::max(requests.mark, wavefronts.mark);
  return cell;
}

void add_columns(Table& table, const Access& access, const std::vector<const Limits*>& all) {
  for (const Amount& amount : access.amounts) {
    const bool has_unit = std::string_view(amount.unit) == "B" && amount.heading != "bytes";
    table.columns.push_back(
        Column::number(amount.name, amount.heading, has_unit ? "B" : "", Kind::count));
    for (std::size_t i = 0; i < all.size(); ++i) {
      table.rows[i].push_back(cell_of(value_of(amount, *all[i]->subject)));
    }
  }
  if (access.edge != MemoryChart::shared) return;
  table.columns.push_back(Column::number(access.amounts[1].name + "_per_request",
                                         access.kind + " / request", "", Kind::quotient));
  for (std::size_t i = 0; i < all.size(); ++i) {
    table.rows[i].push_back(wavefronts_a_request(access, *all[i]->subject));
  }
}

void add_hit_rate(Table& table, const char* metric, const char* heading,
                  const std::vector<const Limits*>& all) {
  table.columns.push_back(Column::number(metric, heading, "%", Kind::quotient));
  for (std::size_t i = 0; i < all.size(); ++i) {
    table.rows[i].push_back(cell_of(sum_of(*all[i]->subject, {metric})));
  }
}

/// The accesses of shared memory, or those of the other memories.
Table memory_table(const std::vector<const Limits*>& all, bool of_shared) {
  Table table;
  table.caption = of_shared ? "Requests and wavefronts of shared memory"
                            : "Requests, sectors and bytes of caches and device memory";
  table.columns = {Column::text("variant")};
  for (const Limits* limits : all) table.rows.push_back({name_of(*limits)});
  for (const Access& access : accesses()) {
    const bool is_shared =
        access.edge == MemoryChart::shared || access.edge == MemoryChart::cluster;
    if (is_shared == of_shared && is_shown(access, all)) add_columns(table, access, all);
  }
  if (!of_shared) {
    add_hit_rate(table, l1_hits, "L1 hits", all);
    add_hit_rate(table, l2_hits, "L2 hits", all);
  }
  return table;
}

}  // namespace

std::vector<std::string> memory_counters() {
  std::vector<std::string> counters = {l1_hits, l2_hits};
  for (const Access& access : accesses()) {
    for (const Amount& amount : access.amounts) {
      counters.insert(counters.end(), amount.counters.begin(), amount.counters.end());
    }
  }
  return counters;
}

void add_memory(Document& document, const std::vector<const Limits*>& largest) {
  document.heading(3, "Memory");
  for (const auto& family : families_of(largest)) document.memory_chart(chart_of(family));
  for (const bool of_shared : {true, false}) {
    Table table = memory_table(largest, of_shared);
    if (table.columns.size() == 1) continue;
    document.paragraph(table.caption + (of_shared
                                            ? ". One wavefront a request is free of bank "
                                              "conflicts for 32-bit accesses; 64 and 128 bits "
                                              "need 2 and 4."
                                            : "."));
    const std::string missing = missing_text(table);
    document.table(std::move(table));
    if (!missing.empty()) document.paragraph(missing);
  }
}

}  // namespace warpmeter::reports::sections
