// SPDX-License-Identifier: MIT
// How near the launches come to what the device's memory can give: the bandwidth that a copying
// variant (one that its family marks as its ceiling, and that computes nothing) was measured at on
// the same device. The one that moved most bytes counts, and of the others the largest size: small
// ones are partly served by caches.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

struct Share {
  std::string name;
  std::optional<std::int64_t> size;
  double bandwidth = 0;
};

std::string bandwidth_text(double bandwidth) {
  return readable_number(bandwidth, Zeros::keep) + " GB/s";
}

/// Each variant at its largest size, the nearest to the ceiling first.
std::vector<Share> shares_on(const RunRecord& run, std::int64_t device_id) {
  std::map<std::pair<std::string, std::string>, Share> largest;
  for (const Group& group : run.groups) {
    if (group.device_id != device_id) continue;
    for (const Subject& subject : group.subjects) {
      const Figure bandwidth = subject.figure("achieved_bandwidth");
      if (!bandwidth.value) continue;
      Share& share = largest[{group.family, subject.variant}];
      if (group.size < share.size) continue;
      share = {run.name_of(*subject.launches.front()), group.size, *bandwidth.value};
    }
  }
  std::vector<Share> shares;
  for (auto& [key, share] : largest) shares.push_back(std::move(share));
  std::stable_sort(shares.begin(), shares.end(),
                   [](const Share& a, const Share& b) { return a.bandwidth > b.bandwidth; });
  return shares;
}

/// The ceiling that the latest other run measured on the device.
std::optional<Ceiling> earlier_ceiling(const schema::Reader& reader, const RunRecord& run,
                                       std::int64_t device_id) {
  schema::Parameters parameters = run_parameter(run.id);
  parameters.emplace_back(":device", device_id);
  const schema::Rows rows = reader.query(sql::ceiling, parameters);
  if (rows.rows.empty()) return std::nullopt;
  const Row row(rows, 0);
  Ceiling ceiling;
  ceiling.bandwidth = row.number("achieved_bandwidth").value_or(0);
  ceiling.name = row.text("family") + "/" + row.text("variant");
  const auto size = row.integer("size");
  ceiling.source = fmt::format("what {}{} moved in run {}", ceiling.name,
                               size ? " at " + grouped_number(*size) : "", row.text("run_id"));
  return ceiling;
}

void add_device(Document& document, const RunRecord& run, std::int64_t device_id,
                const Ceiling& ceiling) {
  const std::vector<Share> shares = shares_on(run, device_id);
  if (shares.empty()) return;
  const std::string on = run.devices.size() > 1 ? " on " + run.device_name(device_id) : "";
  document.paragraph(
      fmt::format("The ceiling{} is {}: {}. Each variant at its largest size; a share above 100 % "
                  "was served by "
                  "caches.",
                  on, bandwidth_text(ceiling.bandwidth), ceiling.source));
  Plot plot;
  plot.title = "Share of the measured copy bandwidth" + on;
  plot.description = fmt::format("Of {}: {}.", bandwidth_text(ceiling.bandwidth), ceiling.source);
  plot.x.label = "share of the ceiling (%)";
  plot.reference = {ceiling.name, 100};
  plot.data.columns = {Column::text("variant"),
                       Column::number("share", "share of the ceiling", "%", Kind::quotient)};
  Table table;
  table.columns = {Column::text("variant"),
                   Column::number("achieved_bandwidth", "bandwidth", "GB/s", Kind::reading),
                   Column::number("share", "of the ceiling", "%", Kind::quotient)};
  constexpr std::size_t most_bars = 40;
  for (const Share& share : shares) {
    const double percent = 100 * share.bandwidth / ceiling.bandwidth;
    table.rows.push_back({share.name, share.bandwidth, percent});
    if (plot.data.rows.size() < most_bars) plot.data.rows.push_back({share.name, percent});
  }
  document.table(std::move(table));
  if (plot.data.rows.size() > 1) document.plot(std::move(plot));
}

}  // namespace

std::optional<Ceiling> ceiling_of(const RunRecord& run, std::int64_t device_id) {
  std::optional<Ceiling> best;
  double most_bytes = 0;
  for (const Group& group : run.groups) {
    if (group.device_id != device_id) continue;
    for (const Subject& subject : group.subjects) {
      if (!subject.is_ceiling() || subject.launches.front()->computes) continue;
      const double bandwidth = subject.figure("achieved_bandwidth").value.value_or(0);
      const double bytes = bandwidth * subject.figure("duration").value.value_or(0);
      if (bytes <= most_bytes) continue;
      most_bytes = bytes;
      const std::string name = group.family + "/" + subject.variant;
      best = Ceiling{bandwidth, name,
                     fmt::format("what {}{} moved in this run", name,
                                 group.size ? " at " + grouped_number(*group.size) : "")};
    }
  }
  return best;
}

void add_ceiling(Document& document, const Source& source) {
  const RunRecord& run = source.run;
  Document parts;
  for (const DeviceRecord& device : run.devices) {
    std::optional<Ceiling> ceiling = ceiling_of(run, device.id);
    if (!ceiling && !shares_on(run, device.id).empty()) {
      ceiling = earlier_ceiling(source.reader, run, device.id);
    }
    if (ceiling) add_device(parts, run, device.id, *ceiling);
  }
  if (parts.blocks.empty()) return;
  document.heading(2, "Share of the memory's bandwidth");
  document.append(std::move(parts));
}

}  // namespace warpmeter::reports::sections
