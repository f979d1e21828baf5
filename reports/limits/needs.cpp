// SPDX-License-Identifier: MIT
#include "reports/limits/needs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/with_noun.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"

namespace warpmeter::reports::limits {

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

std::map<std::int64_t, LaunchFacts> facts_of(const schema::Reader& reader, std::int64_t run,
                                             const std::vector<std::int64_t>& launches) {
  std::map<std::int64_t, LaunchFacts> facts;
  std::map<std::int64_t, std::shared_ptr<Peaks>> peaks;  // by device
  const auto peaks_of = [&](const Row& row) -> std::shared_ptr<Peaks>& {
    std::shared_ptr<Peaks>& of_device = peaks[row.integer("device_id").value_or(0)];
    if (!of_device) of_device = std::make_shared<Peaks>();
    return of_device;
  };
  const schema::Rows measured = reader.query(sql::peaks, run_parameter(run));
  for (const Row& row : each_row(measured)) {
    (*peaks_of(row))[row.text("name")] = row.number("value").value_or(0);
  }
  const schema::Rows rows =
      reader.query(sql::limits, {{":launches", fmt::format("[{}]", fmt::join(launches, ","))}});
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

/// `need` has a count as its cycles.
void divide_by_rate(Need& need, const char* unit, double rate) {
  need.count = need.cycles.value;
  need.unit = unit;
  need.rate = readable_number(rate, Zeros::trim);
  need.evidence = fmt::format("{} at {} a cycle", need.amount(), need.rate);
  need.cycles.value /= rate;
}

Need need_of(const Resource& resource, const Subject& subject, const LaunchFacts& facts) {
  if (!resource.counters.empty()) {
    Need need{resource.name, resource.heading, "",
              sum_of(subject, counters_on(facts.compute_capability, resource))};
    divide_by_rate(need, resource.unit, facts.rates->*resource.rate);
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
  divide_by_rate(
      need, is_measured ? "bytes" : "bytes of input and output",
      facts.card->memory_bytes_per_ns / facts.card->clock_ghz / facts.card->multiprocessors);
  return need;
}

}  // namespace

std::string Need::amount() const {
  const std::string shown = whole_text(count);
  std::string one = unit;  // its noun, before "of" or at the end, without its s
  one.erase(std::min(one.find(" of "), one.size()) - 1, 1);
  return with_noun(shown, one, unit);
}

Sum missing_count(const Subject& subject, int capability) {
  for (const Resource& resource : resources()) {
    if (!resource.is_required()) continue;
    Sum sum = sum_of(subject, counters_on(capability, resource));
    if (!sum.missing.empty()) return sum;
  }
  return {};
}

std::vector<const char*> counters_of_limits(int capability) {
  std::vector<const char*> all;
  for (const Resource& resource : resources()) {
    const std::vector<const char*> counters = counters_on(capability, resource);
    all.insert(all.end(), counters.begin(), counters.end());
  }
  return all;
}

std::vector<std::string> uncounted_resources(const std::vector<const Limits*>& all) {
  std::vector<std::string> names;
  for (const Resource& resource : resources()) {
    const bool is_counted = std::all_of(all.begin(), all.end(), [&](const Limits* limits) {
      return need_named(*limits, resource.name).cycles.missing.empty();
    });
    const std::string name =
        std::string(resource.heading).substr(0, std::string_view(resource.heading).find(':'));
    if (!is_counted && (names.empty() || names.back() != name)) names.push_back(name);
  }
  return names;
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
    limits.needs.back().is_memory = resource.is_memory;
  }
  limits.needs.push_back(memory_need(subject, facts));
  limits.needs.back().is_memory = true;
  return limits;
}

std::optional<double> tensor_operations(const Subject& subject) {
  std::optional<double> all;
  for (const schema::CounterInfo& counter : schema::Catalogue::get().counters()) {
    if (!counter.name.starts_with("tensor_ops_")) continue;
    if (const auto value = subject.figure(counter.name).value) all = all.value_or(0) + *value;
  }
  return all;
}

namespace {

/// True if a launch multiplies matrices on the tensor cores. Where nobody counted their operations,
/// the accesses that feed them say so.
bool uses_tensor_cores(const Subject& subject) {
  if (const auto operations = tensor_operations(subject)) return *operations > 0;
  const Sum sum = sum_of(subject, {"shared_wgmma_requests", "shared_matrix_load_requests"});
  return sum.missing.empty() && sum.value > 0;
}

}  // namespace

const Need& need_named(const Limits& limits, std::string_view column) {
  return *std::find_if(limits.needs.begin(), limits.needs.end(),
                       [&](const Need& need) { return need.column == column; });
}

const Need& most_of(const Limits& limits) {
  return *std::max_element(
      limits.needs.begin(), limits.needs.end(),
      [](const Need& a, const Need& b) { return a.cycles.value < b.cycles.value; });
}

Cell limit_of(const Limits& limits) {
  const Need& most = most_of(limits);
  const Need& memory = limits.needs.back();  // less of it may be known
  if (uses_tensor_cores(*limits.subject) && !need_named(limits, "tensor").cycles.missing.empty()) {
    return Missing{"no rate of the tensor cores is used here"};
  }
  if (most.cycles.value <= 0) return Missing{"nothing was counted"};
  return memory.cycles.missing.empty() ? most.name : most.name + ", or device memory";
}

const Need* second_of(const Limits& limits) {
  const Need& most = most_of(limits);
  const Need* second = nullptr;
  for (const Need& need : limits.needs) {
    if (&need == &most || !need.cycles.missing.empty() || need.cycles.value <= 0) continue;
    if (second == nullptr || need.cycles.value > second->cycles.value) second = &need;
  }
  return second;
}

}  // namespace warpmeter::reports::limits
