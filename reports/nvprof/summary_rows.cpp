// SPDX-License-Identifier: MIT
#include "reports/nvprof/summary_rows.h"

#include <variant>

#include "reports/nvprof/cells.h"
#include "reports/nvprof/kernel_name.h"
#include "reports/nvprof/trace.h"

namespace warpmeter::reports::nvprof {
namespace {

/// Kernels come first, then copies and sets; those that were called most often first.
constexpr const char* gpu_sql =
    "SELECT a.kind, a.name, a.symbol, count(*), sum(a.duration_ns), min(a.duration_ns), "
    "max(a.duration_ns) "
    "FROM activities a "
    "  LEFT JOIN devices d ON d.run_id = a.run_id AND d.title = a.device "
    "WHERE a.run_id = :run AND a.process_id = :process AND a.kind IN ('kernel', 'copy', 'set') "
    "  AND (:device = '' OR d.name || ' (' || d.ordinal || ')' = :device) "
    "GROUP BY a.kind, a.name, a.symbol ORDER BY a.kind DESC, count(*) DESC, a.name";

constexpr const char* calls_sql =
    "SELECT kind, name, NULL, count(*), sum(duration_ns), min(duration_ns), max(duration_ns) "
    "FROM activities WHERE run_id = :run AND process_id = :process AND kind = 'call' "
    "GROUP BY name ORDER BY count(*) DESC, name";

constexpr const char* devices_sql =
    "SELECT DISTINCT d.name || ' (' || d.ordinal || ')' "
    "FROM activities a JOIN devices d ON d.run_id = a.run_id AND d.title = a.device "
    "WHERE a.run_id = :run AND a.process_id = :process ORDER BY d.ordinal";

SummaryRow row_of(const std::vector<schema::Value>& values, bool demangles) {
  SummaryRow row;
  const bool is_kernel = words(values[0]) == "kernel";
  const std::string name = words(values[1]), symbol = words(values[2]);
  row.name = !is_kernel ? name : demangles || symbol.empty() ? kernel_name(name) : symbol;
  row.calls = static_cast<std::uint64_t>(real(values[3]));
  if (std::holds_alternative<std::monostate>(values[4])) return row;
  row.total_ns = real(values[4]);
  row.least_ns = real(values[5]);
  row.greatest_ns = real(values[6]);
  return row;
}

schema::Parameters parameters_of(const SummaryRequest& request) {
  return {{":run", request.run_id}, {":process", request.process_id}};
}

}  // namespace

SummaryPart gpu_rows(const schema::Reader& reader, const SummaryRequest& request,
                     const std::string& device) {
  SummaryPart part{gpu_part, no_kernels, {}};
  schema::Parameters parameters = parameters_of(request);
  parameters.emplace_back(":device", device);
  for (const auto& values : reader.query(gpu_sql, parameters).rows) {
    part.rows.push_back(row_of(values, request.demangles));
  }
  return part;
}

SummaryPart call_rows(const schema::Reader& reader, const SummaryRequest& request) {
  SummaryPart part{call_part, no_calls, {}};
  for (const auto& values : reader.query(calls_sql, parameters_of(request)).rows) {
    SummaryRow row = row_of(values, request.demangles);
    if (is_of_api(row.name, request.apis)) part.rows.push_back(std::move(row));
  }
  return part;
}

std::vector<std::string> devices_of(const schema::Reader& reader, const SummaryRequest& request) {
  std::vector<std::string> devices;
  for (const auto& values : reader.query(devices_sql, parameters_of(request)).rows) {
    devices.push_back(words(values[0]));
  }
  return devices;
}

}  // namespace warpmeter::reports::nvprof
