// What has no value, and why: one row a reason, not one a value. Metrics that lack a value for the
// same reason in the same launches share a row; launches are named as shortly as is true (all of
// them, a whole family, single variants).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

#include "reports/metrics.h"
#include "reports/sections/sections.h"
#include "reports/sections/sql.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_names = 12;  // of metrics or launches in one cell

using Ids = std::set<std::int64_t>;

std::string listed(const std::vector<std::string>& names, std::string_view what) {
  if (names.size() <= most_names) return fmt::format("{}", fmt::join(names, ", "));
  const std::vector<std::string> first(names.begin(), names.begin() + most_names);
  return fmt::format("{} and {} more {}", fmt::join(first, ", "), names.size() - most_names, what);
}

/// A metric speaks for its counters, where both lack a value for the same reason.
std::vector<std::string> without_inputs(const std::vector<std::string>& names) {
  std::set<std::string> inputs;
  for (const std::string& name : names) inputs.merge(inputs_of(name));
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (!inputs.contains(name)) others.push_back(name);
  }
  return others;
}

/// Launches that ended well: a failed one has no figures that could be missing.
Ids measured_launches(const RunRecord& run) {
  Ids ids;
  for (const LaunchRecord& launch : run.launches) {
    if (!launch.failed) ids.insert(launch.id);
  }
  return ids;
}

/// Counts launches by a name, all of them and those among `ids`.
struct Coverage {
  std::size_t all = 0, among = 0;
  bool whole() const { return among == all; }
};

std::string where(const RunRecord& run, const Ids& measured, const Ids& ids) {
  if (ids == measured) {
    return ids.size() == run.launches.size() ? "every launch" : "every launch that ended well";
  }
  std::map<std::string, Coverage> families, variants;
  for (const LaunchRecord& launch : run.launches) {
    if (!measured.contains(launch.id)) continue;
    for (Coverage* coverage :
         {&families[launch.family], &variants[launch.family + "/" + launch.variant]}) {
      ++coverage->all;
      coverage->among += ids.contains(launch.id) ? 1 : 0;
    }
  }
  std::vector<std::string> names;
  std::set<std::string> named;
  for (const LaunchRecord& launch : run.launches) {
    if (!ids.contains(launch.id)) continue;
    const std::string variant = launch.family + "/" + launch.variant;
    const std::string name = families[launch.family].whole() ? launch.family
                             : variants[variant].whole()     ? variant
                                                             : run.name_of(launch);
    if (named.insert(name).second) names.push_back(name);
  }
  return listed(names, "launches");
}

}  // namespace

void add_unavailable(Document& document, const schema::Reader& reader, const RunRecord& run) {
  const Ids measured = measured_launches(run);
  const schema::Rows rows = reader.query(sql::unavailable, run_parameter(run.id));
  std::map<std::pair<std::string, std::string>, Ids> launches_of;  // by metric and reason
  std::vector<std::pair<std::string, std::string>> order;
  for (const Row& row : each_row(rows)) {
    std::pair<std::string, std::string> key(row.text("metric"), row.text("reason"));
    const std::int64_t launch = row.integer("launch_id").value_or(0);
    if (!measured.contains(launch)) continue;
    Ids& ids = launches_of[key];
    if (ids.empty()) order.push_back(std::move(key));
    ids.insert(launch);
  }
  std::map<std::pair<std::string, Ids>, std::size_t> known;
  std::vector<std::tuple<std::vector<std::string>, std::string, const Ids*>> gathered;
  for (const auto& key : order) {
    const Ids& ids = launches_of[key];
    const auto [place, is_new] = known.try_emplace({key.second, ids}, gathered.size());
    if (is_new) gathered.emplace_back(std::vector<std::string>{}, key.second, &ids);
    std::get<0>(gathered[place->second]).push_back(key.first);
  }
  if (gathered.empty()) return;
  Table table;
  table.columns = {Column::text("what"), Column::text("where"), Column::text("why")};
  for (const auto& [metrics, reason, ids] : gathered) {
    table.rows.push_back(
        {listed(without_inputs(metrics), "figures"), where(run, measured, *ids), reason});
  }
  document.heading(2, "Unavailable");
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
