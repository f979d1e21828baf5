// SPDX-License-Identifier: MIT
#include "reports/nvprof/memory.h"

#include <fmt/format.h>

#include "reports/nvprof/cells.h"
#include "reports/nvprof/units.h"

namespace warpmeter::reports::nvprof {
namespace {

constexpr const char* migrations_sql =
    "SELECT d.name || ' (' || a.device_ordinal || ')', a.name, count(*), avg(a.bytes), "
    "min(a.bytes), max(a.bytes), total(a.bytes), total(a.duration_ns) "
    "FROM activities a "
    "  JOIN devices d ON d.run_id = a.run_id AND d.title = a.device "
    "WHERE a.run_id = :run AND a.process_id = :process "
    "  AND (a.kind = 'migration' OR a.kind = 'page fault' AND a.device IS NOT NULL) "
    "GROUP BY a.device_ordinal, d.name, a.name "
    "ORDER BY a.device_ordinal, a.name = '[Unified Memory Memcpy HtoD]' DESC, "
    "  a.name = '[Unified Memory Memcpy DtoH]' DESC, a.kind";

constexpr const char* faults_sql =
    "SELECT count(*) FROM activities WHERE run_id = :run AND process_id = :process "
    "AND kind = 'page fault' AND device IS NULL";

std::string shown(const std::string& name) {
  if (name == "[Unified Memory Memcpy HtoD]") return "Host To Device";
  if (name == "[Unified Memory Memcpy DtoH]") return "Device To Host";
  if (name == "[Unified Memory Memcpy DtoD]") return "Device To Device";
  return "Gpu page fault groups";
}

}  // namespace

std::string managed_text(const schema::Reader& reader, std::int64_t run_id,
                         std::int64_t process_id) {
  const schema::Parameters which = {{":run", run_id}, {":process", process_id}};
  std::string text, device;
  for (const auto& row : reader.query(migrations_sql, which).rows) {
    if (words(row[0]) != device) {
      device = words(row[0]);
      text += fmt::format(
          "Device \"{}\"\n   Count  Avg Size  Min Size  Max Size  Total Size  Total Time  Name\n",
          device);
    }
    const std::string name = shown(words(row[1]));
    const bool has_bytes = name != "Gpu page fault groups";
    const auto size = [&](double bytes) { return has_bytes ? size_text(bytes) : "-"; };
    text += fmt::format("{:>8.0f}  {:>8}  {:>8}  {:>8}  {:>10}  {:>10}  {}\n", real(row[2]),
                        size(real(row[3])), size(real(row[4])), size(real(row[5])),
                        has_bytes ? total_size_text(real(row[6])) : "-",
                        total_time_text(real(row[7])), name);
  }
  const double faults = real(reader.query(faults_sql, which).rows.front().front());
  if (faults > 0) text += fmt::format("Total CPU Page faults: {:.0f}\n", faults);
  return text;
}

}  // namespace warpmeter::reports::nvprof
