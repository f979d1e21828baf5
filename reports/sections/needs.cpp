// SPDX-License-Identifier: MIT
#include "reports/sections/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {

const std::vector<Resource>& resources() {
  // clang-format off
  static const std::vector<Resource> all = {
      {"issue", "issue slots", "warp instructions", &Rates::warp_instructions, {"inst_executed"}},
      {"fp32", "FP32", "operations of threads", &Rates::fp32, {"flop_sp_add", "flop_sp_mul", "flop_sp_fma"}},
      {"fp64", "FP64", "operations of threads", &Rates::fp64, {"flop_dp_add", "flop_dp_mul", "flop_dp_fma"}},
      {"fp16", "FP16", "instructions of threads", &Rates::fp16, {"flop_hp_add", "flop_hp_mul", "flop_hp_fma"}},
      {"special", "special functions", "operations of threads", &Rates::special, {"flop_count_sp_special"}, "xu_utilization"},
      {"alu", "integers and comparisons", "", nullptr, {}, "alu_utilization"},
      {"fma", "FP32 and integer products", "", nullptr, {}, "fma_utilization"},
      {"tensor", "tensor cores", "", nullptr, {}, "tensor_utilization"},
      {"load_store", "load/store units", "requests", &Rates::load_store_requests,
       {"global_load_requests", "global_store_requests", "local_load_requests", "local_store_requests",
        "shared_load_requests", "shared_store_requests", "shared_atomic_requests", "shared_matrix_load_requests",
        "shared_matrix_store_requests", "global_atomic_requests", "global_reduction_requests"},
       nullptr, true},
      {"shared", "shared memory", "wavefronts", &Rates::shared_wavefronts,
       {"shared_load_wavefronts", "shared_store_wavefronts", "shared_atomic_wavefronts",
        "shared_matrix_load_wavefronts", "shared_matrix_store_wavefronts", "shared_wgmma_wavefronts",
        "async_copy_wavefronts"},
       nullptr, true},
      {"l1", "L1", "sectors", &Rates::l1_sectors, l1_sector_counters(), nullptr, true},
      {"l1_data_pipe", "data banks of L1 and shared memory", "", nullptr, {}, "l1_data_pipe_utilization", true},
      {"l2", "L2: sectors", "", nullptr, {}, "l2_utilization"},
      {"l2_tags", "L2: tags", "", nullptr, {}, "l2_tag_utilization"},
      {"l2_data", "L2: data banks", "", nullptr, {}, "l2_data_utilization"},
      {"l2_input", "L2: way in", "", nullptr, {}, "l2_input_utilization"},
      {"l2_output", "L2: way back", "", nullptr, {}, "l2_output_utilization"},
  };
  // clang-format on
  return all;
}

const std::vector<const char*>& l1_sector_counters() {
  static const std::vector<const char*> counters = {"global_load_sectors", "global_store_sectors",
                                                    "local_load_sectors", "local_store_sectors"};
  return counters;
}

Sum sum_of(const Subject& subject, const std::vector<const char*>& counters) {
  Sum sum;
  for (const char* counter : counters) {
    const Figure& figure = subject.figure(counter);
    if (!figure.value) {
      const bool is_uncounted = figure.reason.empty();
      return {0, "", is_uncounted ? std::string(counter) + " was not counted" : figure.reason,
              is_uncounted};
    }
    sum.value += *figure.value;
    sum.mark = std::max(sum.mark, mark_of(figure.grade));
  }
  return sum;
}

Cell cell_of(const Sum& sum) {
  if (!sum.missing.empty()) return Missing{sum.missing};
  Cell cell(sum.value);
  cell.mark = sum.mark;
  return cell;
}

std::map<std::int64_t, LaunchFacts> facts_of(const Source& source) {
  std::map<std::int64_t, LaunchFacts> facts;
  std::map<std::int64_t, std::shared_ptr<Peaks>> peaks;  // by device
  const auto peaks_of = [&](const Row& row) -> std::shared_ptr<Peaks>& {
    std::shared_ptr<Peaks>& of_device = peaks[row.integer("device_id").value_or(0)];
    if (!of_device) of_device = std::make_shared<Peaks>();
    return of_device;
  };
  const schema::Rows measured = source.reader.query(sql::peaks, run_parameter(source.run.id));
  for (const Row& row : each_row(measured)) {
    (*peaks_of(row))[row.text("name")] = row.number("value").value_or(0);
  }
  std::vector<std::int64_t> first;
  for (const Group& group : source.run.groups) {
    for (const Subject& subject : group.subjects) first.push_back(subject.launches.front()->id);
  }
  const schema::Rows rows =
      source.reader.query(sql::limits, {{":launches", fmt::format("[{}]", fmt::join(first, ","))}});
  for (const Row& row : each_row(rows)) {
    LaunchFacts& one = facts[row.integer("launch_id").value_or(0)];
    const auto capability = static_cast<int>(row.integer("compute_capability").value_or(0));
    one.device = row.text("device");
    one.is_model = row.text("backend") == "model";
    one.compute_capability = capability;
    one.rates = rates_of(capability);
    one.card = one.is_model ? card_of(capability) : card_named(one.device);
    const auto read = row.number("useful_bytes_read"), written = row.number("useful_bytes_written");
    if (read && written) one.useful_bytes = *read + *written;
    one.peaks = peaks_of(row);
    one.occupancy = row.number("theoretical_occupancy");
    one.occupancy_limiter = row.text(one.occupancy ? "occupancy_limiter" : "resources_reason");
  }
  return facts;
}

namespace {

std::string whole_text(double value) { return grouped_number(std::llround(value)); }
std::string rate_text(double rate) { return readable_number(rate, Zeros::trim); }

/// The share of a resource's peak, in cycles of the launch.
Need measured_need(const char* column, const char* heading, const char* share,
                   const Subject& subject) {
  Need need{column, heading, "", sum_of(subject, {share})};
  const Sum elapsed = sum_of(subject, {"elapsed_cycles_sm"});
  if (!need.cycles.missing.empty()) return need;
  if (!elapsed.missing.empty()) {
    need.cycles = elapsed;
    return need;
  }
  need.evidence =
      fmt::format("{} % of its peak in {} cycles", readable_number(need.cycles.value, Zeros::trim),
                  whole_text(elapsed.value));
  need.is_measured = true;
  need.cycles.value *= elapsed.value / 100;
  need.cycles.mark = std::max(need.cycles.mark, elapsed.mark);
  return need;
}

/// The counters of a resource without those of instructions that came later: such a GPU executes
/// none of them, and has no counter of them.
std::vector<const char*> counters_on(int capability, const Resource& resource) {
  static const std::map<std::string_view, int> since = {
      {"async_copy_wavefronts", 80},          {"shared_matrix_load_requests", 75},
      {"shared_matrix_load_wavefronts", 75},  {"shared_matrix_store_requests", 90},
      {"shared_matrix_store_wavefronts", 90}, {"shared_wgmma_wavefronts", 90}};
  std::vector<const char*> counters = resource.counters;
  std::erase_if(counters, [capability](std::string_view counter) {
    const auto found = since.find(counter);
    return found != since.end() && found->second > capability;
  });
  return counters;
}

Need need_of(const Resource& resource, const Subject& subject, const LaunchFacts& facts) {
  if (!resource.counters.empty()) {
    Need need{resource.name, resource.heading, "",
              sum_of(subject, counters_on(facts.compute_capability, resource))};
    const double rate = facts.rates->*resource.rate;
    need.evidence = fmt::format("{} {} at {} a cycle", whole_text(need.cycles.value), resource.unit,
                                rate_text(rate));
    need.cycles.value /= rate;
    if (need.cycles.missing.empty() || resource.is_required()) return need;
  }
  return measured_need(resource.name, resource.heading, resource.share, subject);
}

/// Device memory: the share of its peak, or its bytes, or else the bytes of input and output, each
/// once, which is the least with cold caches.
Need memory_need(const Subject& subject, const LaunchFacts& facts) {
  Need need = measured_need("device_memory", "device memory", "dram_utilization", subject);
  if (need.cycles.missing.empty()) return need;
  if (facts.card == nullptr) {
    need.cycles.missing = "no datasheet of this card is on the list";
    return need;
  }
  need.cycles = sum_of(subject, {"dram_read_bytes", "dram_write_bytes"});
  const bool is_measured = need.cycles.missing.empty();
  if (!is_measured && facts.useful_bytes) need.cycles = {*facts.useful_bytes, "", ""};
  if (!need.cycles.missing.empty()) return need;
  const double rate =
      facts.card->memory_bytes_per_ns / facts.card->clock_ghz / facts.card->multiprocessors;
  need.evidence = fmt::format("{} bytes{} at {} a cycle", whole_text(need.cycles.value),
                              is_measured ? "" : " of input and output", rate_text(rate));
  need.cycles.value /= rate;
  return need;
}

}  // namespace

std::string missing_count(const Subject& subject, int capability) {
  for (const Resource& resource : resources()) {
    if (!resource.is_required()) continue;
    std::string missing = sum_of(subject, counters_on(capability, resource)).missing;
    if (!missing.empty()) return missing;
  }
  return "";
}

std::string name_of(const Limits& limits) {
  return limits.group->family + "/" + limits.subject->variant;
}

Cell size_of(const Group& group) {
  return group.size ? Cell(*group.size) : Cell(Missing{"the family has one size"});
}

Limits limits_of(const Group& group, const Subject& subject, const LaunchFacts& facts) {
  Limits limits{&group, &subject, &facts, {}, sum_of(subject, {"elapsed_cycles_sm"})};
  for (const Resource& resource : resources()) {
    limits.needs.push_back(need_of(resource, subject, facts));
  }
  limits.needs.push_back(memory_need(subject, facts));
  return limits;
}

}  // namespace warpmeter::reports::sections
