// SPDX-License-Identifier: MIT
#include "collector/cli/tables/kernel_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "reports/record.h"
#include "schema/figures/figures.h"
#include "schema/figures/kinds.h"

namespace warpmeter::cli {
namespace {

std::string text(const schema::Value& value) {
  const auto* words = std::get_if<std::string>(&value);
  return words != nullptr ? *words : "";
}

std::vector<std::string> names_of(std::span<const ShownMetric> metrics) {
  std::vector<std::string> names;
  for (const ShownMetric& metric : metrics) names.push_back(metric.name);
  return names;
}

/// The places of the metrics among the figures of a kernel's launch before.
struct Places {
  const schema::FigureShape* shape = nullptr;
  std::vector<std::optional<std::size_t>> of_metrics;
};

class Summing {
 public:
  Summing(const schema::Reader& reader, std::int64_t run_id, std::span<const ShownMetric> metrics)
      : reader_(reader),
        run_id_(run_id),
        metrics_(metrics),
        resources_(reports::resources_among(names_of(metrics))),
        kinds_(schema::read_kinds(
            reader, run_id,
            resources_.empty() ? schema::Alike::launches : schema::Alike::resources)) {}

  std::vector<KernelMetrics> run() {
    find_kernels();
    places_.resize(kernels_.size());
    schema::each_launch(reader_, kinds_, [&](const schema::LaunchFigures& launch) { add(launch); });
    add_errors();
    if (!resources_.empty()) add_resources();
    return std::move(kernels_);
  }

 private:
  /// Not of launches that failed.
  void find_kernels() {
    std::map<std::int64_t, std::string> titles;
    reader_.each("SELECT device_id, title FROM devices WHERE run_id = :run", {{":run", run_id_}},
                 [&](const auto& row) { titles[std::get<std::int64_t>(row[0])] = text(row[1]); });
    const bool by_group = !kinds_.alike.empty();
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
    kernel_of_.resize(kinds_.ids.size());
    schema::Parameters parameters = {{":run", run_id_}};
    if (by_group) parameters.emplace_back(":launches", kinds_.first_alike());
    reader_.each(
        fmt::format("SELECT launch_id, kernel, nvtx_range FROM launches WHERE run_id = :run {} "
                    "ORDER BY launch_id",
                    by_group ? "AND launch_id IN (SELECT value FROM json_each(:launches))" : ""),
        parameters, [&](const auto& row) {
          const auto launch = kinds_.find(std::get<std::int64_t>(row[0]));
          if (!launch || kinds_.of(*launch).failed) return;
          const std::string& device = titles[kinds_.of(*launch).device_id];
          const auto [place, is_new] =
              known.try_emplace({device, text(row[1]), text(row[2])}, kernels_.size());
          if (is_new) {
            kernels_.push_back(
                {device, text(row[1]), text(row[2]), std::vector<MetricSum>(metrics_.size())});
          }
          kernel_of_[*launch] = place->second;
        });
    if (!by_group) return;
    for (std::size_t i = 0; i < kernel_of_.size(); ++i) {
      kernel_of_[i] = kernel_of_[kinds_.alike.first[kinds_.alike.groups[i]]];
    }
  }

  void add(const schema::LaunchFigures& launch) {
    if (kinds_.of(launch.launch).failed) return;
    const std::size_t kernel = kernel_of_[launch.launch];
    std::vector<MetricSum>& sums = kernels_[kernel].sums;
    Places& places = places_[kernel];
    if (places.shape != launch.shape) find_places(*launch.shape, places, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto place = places.of_metrics[i];
      if (!place || !launch.shape->figures[*place].has_value()) continue;
      sums[i].add(launch.values[*place], launch.times);
    }
  }

  /// Notes the reasons of the figures, too.
  void find_places(const schema::FigureShape& shape, Places& places,
                   std::vector<MetricSum>& sums) const {
    places = {&shape, {}};
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto place = places.of_metrics.emplace_back(shape.find(metrics_[i].name));
      if (!place) continue;
      const schema::FigureKind& figure = shape.figures[*place];
      sums[i].explain(figure.reason, figure.has_value());
    }
  }

  void add_errors() {
    schema::each_error(
        reader_, run_id_, [&](std::int64_t id, std::string_view metric, double error) {
          const auto launch = kinds_.find(id);
          if (!launch || kinds_.of(*launch).failed) return;
          for (std::size_t i = 0; i < metrics_.size(); ++i) {
            if (metrics_[i].name != metric) continue;
            std::optional<double>& widest = kernels_[kernel_of_[*launch]].sums[i].error;
            widest = std::max(widest.value_or(0), error);
          }
        });
  }

  /// The first launch of each kind of a kernel speaks for all.
  void add_resources() {
    struct Group {
      std::size_t kernel = 0;
      std::uint64_t launches = 0;
    };
    std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> first_of;  // kernel and kind
    std::map<std::int64_t, Group> groups;                                    // by the first
    std::vector<std::int64_t> firsts;
    for (std::size_t i = 0; i < kinds_.ids.size(); ++i) {
      if (kinds_.of(i).failed) continue;
      const auto [first, is_new] =
          first_of.try_emplace({kernel_of_[i], kinds_.places[i]}, kinds_.ids[i]);
      if (is_new) firsts.push_back(kinds_.ids[i]);
      Group& group = groups[first->second];
      group.kernel = kernel_of_[i];
      ++group.launches;
    }
    for (const reports::Resource& resource : reports::resources_of(reader_, firsts, resources_)) {
      const Group& group = groups.at(resource.launch_id);
      for (std::size_t i = 0; i < metrics_.size(); ++i) {
        if (metrics_[i].name != resource.metric) continue;
        MetricSum& sum = kernels_[group.kernel].sums[i];
        sum.explain(resource.reason, resource.value.has_value());
        if (resource.value) sum.add(*resource.value, group.launches);
      }
    }
  }

  const schema::Reader& reader_;
  const std::int64_t run_id_;
  const std::span<const ShownMetric> metrics_;
  const std::vector<std::string> resources_;
  const schema::LaunchKinds kinds_;
  std::vector<std::size_t> kernel_of_;  ///< the place of each launch's kernel
  std::vector<KernelMetrics> kernels_;
  std::vector<Places> places_;  ///< by kernel
};

}  // namespace

void MetricSum::add(double value, std::uint64_t launches) {
  least = values == 0 ? value : std::min(least, value);
  greatest = values == 0 ? value : std::max(greatest, value);
  sum += value * static_cast<double>(launches);
  values += launches;
}

void MetricSum::explain(const std::string& why, bool has_value) {
  is_known = true;
  reason = std::max(reason, why);
  if (has_value) doubt = std::max(doubt, why);
}

std::vector<KernelMetrics> metrics_of_kernels(const schema::Reader& reader, std::int64_t run_id,
                                              std::span<const ShownMetric> metrics) {
  return Summing(reader, run_id, metrics).run();
}

}  // namespace warpmeter::cli
