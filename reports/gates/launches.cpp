// SPDX-License-Identifier: MIT
#include "reports/gates/launches.h"

#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>

#include "reports/record.h"
#include "reports/sql/sql.h"
#include "schema/figures/figures.h"

namespace warpmeter::reports {
namespace {

std::set<std::string> metrics_of(const CheckRequest& request) {
  std::set<std::string> metrics;
  for (const Gate& gate : request.gates) metrics.insert(gate.metrics.begin(), gate.metrics.end());
  return metrics;
}

std::vector<std::string> resources_among(const std::set<std::string>& metrics) {
  return reports::resources_among(std::vector<std::string>(metrics.begin(), metrics.end()));
}

class DistinctValues {
 public:
  DistinctValues(const schema::Reader& reader, const CheckRequest& request,
                 const schema::LaunchKinds& kinds, std::vector<LaunchToCheck>& launches)
      : reader_(reader), kinds_(kinds), metrics_(metrics_of(request)), by_kind_(kinds.all.size()) {
    for (LaunchToCheck& launch : launches) by_kind_[launch.kind].launch = &launch;
    read_resources();
  }

  void each(const std::function<void(const LaunchToCheck& launch)>& judge) {
    schema::each_launch(reader_, kinds_, [&](const schema::LaunchFigures& figures) {
      const std::uint32_t kind = kinds_.places[figures.launch];
      OfKind& own = by_kind_[kind];
      if (own.launch == nullptr) return;
      const Places& places = places_of(*figures.shape);
      key_.assign(reinterpret_cast<const char*>(&kind), sizeof kind);
      const schema::FigureShape* shape = figures.shape;
      const auto address = reinterpret_cast<std::uintptr_t>(shape);
      key_.append(reinterpret_cast<const char*>(&address), sizeof address);
      for (const std::size_t place : places) {
        key_.append(reinterpret_cast<const char*>(&figures.values[place]), sizeof(double));
      }
      if (key_ == own.latest) return;
      own.latest = key_;
      if (!known_.insert(key_).second) return;
      own.launch->values = own.resources;
      for (const std::size_t place : places) {
        const schema::FigureKind& figure = shape->figures[place];
        own.launch->values[figure.metric] = {
            figure.has_value() ? std::optional(figures.values[place]) : std::nullopt, figure.grade,
            figure.reason};
      }
      judge(*own.launch);
    });
  }

 private:
  using Places = std::vector<std::size_t>;
  struct OfKind {
    LaunchToCheck* launch = nullptr;
    std::map<std::string, CheckedValue, std::less<>> resources;
    std::string latest;  ///< the key of the launch before
  };

  /// The kinds are alike in what resources follow from, so the first launch speaks for all.
  void read_resources() {
    const std::vector<std::string> resources = resources_among(metrics_);
    if (resources.empty()) return;
    std::vector<std::int64_t> first;
    for (const schema::LaunchKind& kind : kinds_.all) first.push_back(kind.first);
    for (Resource& one : resources_of(reader_, first, resources)) {
      const auto launch = kinds_.find(one.launch_id);
      by_kind_[kinds_.places[*launch]].resources[one.metric] = {one.value, one.grade, one.reason};
    }
  }

  /// The figures of a shape that gates read.
  const Places& places_of(const schema::FigureShape& shape) {
    const auto [own, is_new] = places_.try_emplace(&shape);
    if (!is_new) return own->second;
    for (std::size_t i = 0; i < shape.figures.size(); ++i) {
      if (metrics_.contains(shape.figures[i].metric)) own->second.push_back(i);
    }
    return own->second;
  }

  const schema::Reader& reader_;
  const schema::LaunchKinds& kinds_;
  std::set<std::string> metrics_;
  std::vector<OfKind> by_kind_;
  std::map<const schema::FigureShape*, Places> places_;
  std::unordered_set<std::string> known_;
  std::string key_;
};

}  // namespace

schema::LaunchKinds kinds_to_check(const schema::Reader& reader, const CheckRequest& request) {
  const bool has_resources = !resources_among(metrics_of(request)).empty();
  return schema::read_kinds(reader, request.run,
                            has_resources ? schema::Alike::resources : schema::Alike::launches);
}

std::vector<LaunchToCheck> launches_to_check(const schema::Reader& reader, std::int64_t run,
                                             const schema::LaunchKinds& kinds) {
  std::map<std::int64_t, std::string> titles;
  const schema::Rows rows = reader.query(sql::devices, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    titles[row.integer("device_id").value_or(0)] = row.text("title");
  }
  std::set<std::string> devices;
  for (const schema::LaunchKind& kind : kinds.all) devices.insert(titles[kind.device_id]);
  std::vector<LaunchToCheck> launches;
  ReadableNames names;
  for (const schema::LaunchKind& kind : kinds.all) {
    LaunchToCheck& launch = launches.emplace_back();
    launch.kind = launches.size() - 1;
    launch.name = {kind.family, kind.variant,           kind.size,         kind.grid,
                   kind.block,  titles[kind.device_id], devices.size() > 1};
    names.add(launch.name);
    if (kind.failed) {
      launch.failure = "the launch failed: " + kind.reason;
    } else {
      launch.was_run = kind.reason.empty();
    }
  }
  for (LaunchToCheck& launch : launches) launch.readable_name = names.of(launch.name);
  return launches;
}

void each_distinct(const schema::Reader& reader, const CheckRequest& request,
                   const schema::LaunchKinds& kinds, std::vector<LaunchToCheck>& launches,
                   const std::function<void(const LaunchToCheck& launch)>& judge) {
  DistinctValues(reader, request, kinds, launches).each(judge);
}

}  // namespace warpmeter::reports
