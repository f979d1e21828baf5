// SPDX-License-Identifier: MIT
#include "collector/run/launch_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace warpmeter::run {

using kernels::Family;
using kernels::Variant;

schema::Launch describe(const Family& family, const Variant& variant, std::int64_t size,
                        const Geometry& geometry) {
  schema::Launch record;
  record.family = family.name;
  record.variant = variant.name;
  if (family.has_sizes()) record.size = size;
  record.kernel = variant.entry;
  record.set_geometry(geometry);
  if (variant.work) {
    const kernels::Work work = variant.work(size);
    record.useful_bytes_read = work.bytes_read;
    record.useful_bytes_written = work.bytes_written;
    record.flops = work.flops;
  }
  record.is_ceiling = family.is_ceiling(variant.name);
  for (const kernels::Expectation& expectation : variant.expectations) {
    const auto& sizes = expectation.sizes;
    if (!sizes.empty() && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) continue;
    record.expectations.push_back({expectation.metric, std::string(symbol(expectation.relation)),
                                   expectation.value, expectation.reason});
  }
  return record;
}

schema::Launch repetition(const schema::Launch& first) {
  schema::Launch record = first;
  if (record.timing) record.timing_reason = "timed once, with the first repetition";
  record.timing.reset();
  record.lines.clear();
  record.instructions.clear();
  record.power.clear();
  return record;
}

std::vector<schema::Counter> unavailable(const std::vector<std::string>& counters,
                                         const std::string& reason) {
  std::vector<schema::Counter> all;
  for (const std::string& name : counters) {
    all.push_back({name, std::nullopt, schema::Grade::unavailable, reason});
  }
  return all;
}

std::string range_name(const schema::Launch& record, std::string_view phase) {
  const std::string size = record.size ? fmt::format(" {}", *record.size) : "";
  return fmt::format("{}/{}{}: {}", record.family, record.variant, size, phase);
}

}  // namespace warpmeter::run
