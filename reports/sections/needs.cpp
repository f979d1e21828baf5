// SPDX-License-Identifier: MIT
#include "reports/sections/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {

const std::vector<Resource>& resources() {
  static const std::vector<Resource> all = {
      {"issue", "issue slots", "warp instructions", &Rates::warp_instructions, {"inst_executed"}},
      {"fp32",
       "FP32",
       "operations of threads",
       &Rates::fp32,
       {"flop_sp_add", "flop_sp_mul", "flop_sp_fma"}},
      {"fp64",
       "FP64",
       "operations of threads",
       &Rates::fp64,
       {"flop_dp_add", "flop_dp_mul", "flop_dp_fma"}},
      {"fp16",
       "FP16",
       "instructions of threads",
       &Rates::fp16,
       {"flop_hp_add", "flop_hp_mul", "flop_hp_fma"}},
      {"load_store",
       "load/store units",
       "requests",
       &Rates::load_store_requests,
       {"global_load_requests", "global_store_requests", "local_load_requests",
        "local_store_requests", "shared_load_requests", "shared_store_requests",
        "shared_atomic_requests", "shared_matrix_load_requests", "shared_matrix_store_requests",
        "global_atomic_requests", "global_reduction_requests"},
       true},
      {"shared",
       "shared memory",
       "wavefronts",
       &Rates::shared_wavefronts,
       {"shared_load_wavefronts", "shared_store_wavefronts", "shared_atomic_wavefronts",
        "shared_matrix_load_wavefronts", "shared_matrix_store_wavefronts",
        "shared_wgmma_wavefronts"},
       true},
      {"l1",
       "L1",
       "sectors",
       &Rates::l1_sectors,
       {"global_load_sectors", "global_store_sectors", "local_load_sectors", "local_store_sectors"},
       true},
  };
  return all;
}

Sum sum_of(const Subject& subject, const std::vector<const char*>& counters) {
  Sum sum;
  for (const char* counter : counters) {
    const Figure& figure = subject.figure(counter);
    if (!figure.value) {
      return {0, "",
              figure.reason.empty() ? std::string(counter) + " was not counted" : figure.reason};
    }
    sum.value += *figure.value;
    sum.mark = std::max(sum.mark, mark_of(figure.grade));
  }
  return sum;
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
  const schema::Rows rows = source.reader.query(sql::limits, run_parameter(source.run.id));
  for (const Row& row : each_row(rows)) {
    LaunchFacts& one = facts[row.integer("launch_id").value_or(0)];
    const auto capability = static_cast<int>(row.integer("compute_capability").value_or(0));
    one.device = row.text("device");
    one.compute_capability = capability;
    one.rates = rates_of(capability);
    one.card = row.text("backend") == "model" ? card_of(capability) : card_named(one.device);
    const auto read = row.number("useful_bytes_read"), written = row.number("useful_bytes_written");
    if (read && written) one.useful_bytes = *read + *written;
    one.peaks = peaks_of(row);
  }
  return facts;
}

namespace {

std::string whole_text(double value) { return grouped_number(std::llround(value)); }
std::string rate_text(double rate) { return readable_number(rate, Zeros::trim); }

Need need_of(const Resource& resource, const Subject& subject, const Rates& rates) {
  const double rate = rates.*resource.rate;
  Need need{resource.heading, "", sum_of(subject, resource.counters)};
  need.evidence = fmt::format("{} {} at {} a cycle", whole_text(need.cycles.value), resource.unit,
                              rate_text(rate));
  need.cycles.value /= rate;
  return need;
}

/// Device memory: its own counters where there are some, else the bytes of input and output, each
/// once, which is the least with cold caches.
Need memory_need(const Subject& subject, const LaunchFacts& facts) {
  Need need{"device memory", "", {}};
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

std::string missing_count(const Subject& subject) {
  for (const Resource& resource : resources()) {
    std::string missing = sum_of(subject, resource.counters).missing;
    if (!missing.empty()) return missing;
  }
  return "";
}

Limits limits_of(const Group& group, const Subject& subject, const LaunchFacts& facts) {
  Limits limits{&group, &subject, &facts, {}};
  for (const Resource& resource : resources()) {
    limits.needs.push_back(need_of(resource, subject, *facts.rates));
  }
  limits.needs.push_back(memory_need(subject, facts));
  return limits;
}

}  // namespace warpmeter::reports::sections
