#include "collector/cli/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {
namespace {

constexpr std::size_t shown = 5;

struct Candidate {
  std::string variant;
  std::vector<double> values;  ///< as the metrics were asked for
  std::vector<double> costs;   ///< the same so that less is better
};

/// A device by its number and its name: a machine may have several of one name.
using Device = std::pair<std::int64_t, std::string>;

/// Device, family and size: those of one place compete.
using Place = std::tuple<Device, std::string, std::optional<std::int64_t>>;

bool beats(const Candidate& a, const Candidate& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    if (a.costs[i] > b.costs[i]) return false;
    is_better = is_better || a.costs[i] < b.costs[i];
  }
  return is_better;
}

std::vector<Candidate> best_of(std::vector<Candidate> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.costs < b.costs; });
  if (!all.empty() && all.front().costs.size() == 1) {
    while (all.size() > shown && all.back().costs > all[shown - 1].costs) all.pop_back();
    return all;
  }
  std::vector<Candidate> front;
  for (const Candidate& candidate : all) {
    const bool is_beaten = std::any_of(
        all.begin(), all.end(), [&](const Candidate& other) { return beats(other, candidate); });
    if (!is_beaten) front.push_back(candidate);
  }
  return front;
}

std::map<Place, std::vector<Candidate>> candidates(const schema::Reader& reader,
                                                   std::int64_t run_id,
                                                   const std::vector<std::string>& metrics) {
  std::map<Place, std::map<std::string, std::map<std::string, double>>> values;
  const schema::Rows rows = reader.query(
      "SELECT d.ordinal, d.name, r.family, r.size, r.variant, r.metric, avg(r.value) "
      "FROM results r JOIN launches l USING (run_id, launch_id) "
      "JOIN devices d USING (run_id, device_id) "
      "WHERE run_id = :run AND r.value IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6",
      {{":run", run_id}});
  for (const auto& row : rows.rows) {
    const auto* size = std::get_if<std::int64_t>(&row[3]);
    const Place place{{std::get<std::int64_t>(row[0]), std::get<std::string>(row[1])},
                      std::get<std::string>(row[2]),
                      size != nullptr ? std::optional(*size) : std::nullopt};
    values[place][std::get<std::string>(row[4])][std::get<std::string>(row[5])] =
        std::get<double>(row[6]);
  }
  std::map<Place, std::vector<Candidate>> all;
  for (const auto& [place, variants] : values) {
    for (const auto& [variant, known] : variants) {
      Candidate candidate{variant, {}, {}};
      for (const std::string& metric : metrics) {
        const auto found = known.find(metric);
        if (found == known.end()) break;
        const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
        const bool is_higher = info != nullptr && info->is_better_higher;
        candidate.values.push_back(found->second);
        candidate.costs.push_back(is_higher ? -found->second : found->second);
      }
      if (candidate.values.size() == metrics.size()) all[place].push_back(std::move(candidate));
    }
  }
  return all;
}

}  // namespace

void check_best(const std::vector<std::string>& metrics) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  std::vector<std::string> known;
  for (const schema::MetricInfo& info : catalogue.metrics()) known.push_back(info.name);
  for (const schema::CounterInfo& info : catalogue.counters()) known.push_back(info.name);
  for (const std::string& metric : metrics) {
    if (std::find(known.begin(), known.end(), metric) != known.end()) continue;
    throw Error(ExitCode::usage, fmt::format("--best takes metrics, and '{}' is none{} (see: "
                                             "warpmeter list metrics)",
                                             metric, did_you_mean(metric, known)));
  }
}

reports::Table best_table(const schema::Reader& reader, std::int64_t run_id,
                          const std::vector<std::string>& metrics) {
  using reports::Column;
  using reports::Kind;
  const std::map<Place, std::vector<Candidate>> places = candidates(reader, run_id, metrics);
  std::set<Device> devices;
  for (const auto& [place, all] : places) devices.insert(std::get<Device>(place));
  reports::Table table;
  if (devices.size() > 1) table.columns.push_back(Column::text("device"));
  table.columns.insert(table.columns.end(),
                       {Column::text("family"), Column::number("size", "size", "", Kind::exact),
                        Column::text("variant")});
  for (const std::string& metric : metrics) {
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
    table.columns.push_back(Column::number(metric, info != nullptr ? info->heading : metric,
                                           info != nullptr ? info->unit : "", Kind::reading));
  }
  for (const auto& [place, all] : places) {
    const auto& [device, family, size] = place;
    for (const Candidate& candidate : best_of(all)) {
      std::vector<reports::Cell> row;
      if (devices.size() > 1) row.emplace_back(fmt::format("{} ({})", device.second, device.first));
      row.emplace_back(family);
      row.push_back(size ? reports::Cell(*size) : reports::Cell(reports::Missing{"one size"}));
      row.emplace_back(candidate.variant);
      for (const double value : candidate.values) row.emplace_back(value);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace warpmeter::cli
