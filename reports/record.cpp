// SPDX-License-Identifier: MIT
#include "reports/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/variant_name.h"
#include "reports/metrics.h"
#include "reports/sql/sql.h"
#include "reports/statistics.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

/// The record of each kind of launches that have figures of one shape.
class Recording {
 public:
  explicit Recording(RunRecord& run) : run_(run), of_kind_(run.kinds->all.size()) {
    record_of_.resize(run.kinds->ids.size(), none);
  }

  void add(const schema::LaunchFigures& launch) {
    const std::uint32_t place = place_of(launch);
    record_of_[launch.launch] = place;
    LaunchRecord& record = run_.launches[place];
    record.count += launch.times;
    for (std::size_t i = 0; i < launch.values.size(); ++i) {
      if (launch.shape->figures[i].has_value()) {
        record.values[i].add(launch.values[i], launch.times);
      }
    }
  }

  void finish() {
    for (LaunchRecord& record : run_.launches) {
      for (Distribution& values : record.values) values.sort();
      for (auto& [name, figure] : record.resources) figure.values.sort();
    }
  }

  /// The record of a launch; nullptr for one that was written since, or that another spoke for.
  LaunchRecord* of_launch(std::int64_t id) {
    const auto launch = run_.kinds->find(id);
    return launch && record_of_[*launch] != none ? &run_.launches[record_of_[*launch]] : nullptr;
  }

 private:
  std::uint32_t place_of(const schema::LaunchFigures& launch) {
    auto& known = of_kind_[run_.kinds->places[launch.launch]];
    for (const auto& [shape, place] : known) {
      if (shape == launch.shape) return place;
    }
    const auto place = static_cast<std::uint32_t>(run_.launches.size());
    known.emplace_back(launch.shape, place);
    const schema::LaunchKind& kind = run_.kinds->of(launch.launch);
    LaunchRecord& record = run_.launches.emplace_back();
    record.id = run_.kinds->ids[launch.launch];
    record.device_id = kind.device_id;
    record.family = kind.family;
    record.variant = kind.variant;
    record.reason = kind.reason;
    record.size = kind.size;
    record.failed = kind.failed;
    record.verified = kind.verified;
    record.is_ceiling = kind.is_ceiling;
    record.computes = kind.computes;
    record.shape = launch.shape;
    record.values.resize(launch.values.size());
    return place;
  }

  RunRecord& run_;
  std::vector<std::vector<std::pair<const schema::FigureShape*, std::uint32_t>>> of_kind_;
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<std::uint32_t> record_of_;  ///< by the launch's place; `none` where one spoke for it
};

void read_session_shifts(const schema::Reader& reader, std::int64_t run_id, Recording& recording) {
  std::int64_t launch = 0;
  Samples samples;
  const auto finish = [&] {
    LaunchRecord* record = samples.sorted_ns.empty() ? nullptr : recording.of_launch(launch);
    if (record != nullptr) {
      std::sort(samples.sorted_ns.begin(), samples.sorted_ns.end());
      const double median = samples.median();
      const double shift = median > 0 ? session_shift(samples) / median : 0;
      record->session_shift = std::max(record->session_shift, shift);
    }
    samples.sorted_ns.clear();
  };
  reader.each(sql::repeated_samples, run_parameter(run_id),
              [&](std::span<const schema::Value> row) {
                const auto* id = std::get_if<std::int64_t>(&row[0]);
                const auto* duration_ns = std::get_if<double>(&row[1]);
                if (id == nullptr || duration_ns == nullptr) return;
                if (*id != launch) finish();
                launch = *id;
                samples.sorted_ns.push_back(*duration_ns);
              });
  finish();
}

/// The first launch of each record speaks for all.
void read_resources(const schema::Reader& reader, const std::vector<std::string>& metrics,
                    RunRecord& run) {
  if (metrics.empty()) return;
  std::map<std::int64_t, LaunchRecord*> by_id;
  std::vector<std::int64_t> ids;
  for (LaunchRecord& launch : run.launches) {
    by_id[launch.id] = &launch;
    ids.push_back(launch.id);
  }
  for (const Resource& resource : resources_of(reader, ids, metrics)) {
    LaunchRecord& launch = *by_id.at(resource.launch_id);
    ResourceFigure& figure = launch.resources[resource.metric];
    if (resource.value)
      figure.values.add(*resource.value, static_cast<std::uint32_t>(launch.count));
    figure.weakest = resource.grade;
    figure.reason = resource.reason;
  }
}

/// Gathers launches into groups and subjects.
class Grouping {
 public:
  void add(const LaunchRecord& launch) {
    const SubjectKey key{launch.device_id, launch.family, launch.size, launch.variant};
    const auto [place, is_new] = subjects_.try_emplace(key);
    if (is_new) place->second = place_of(launch);
    Subject& subject = groups_[place->second.first].subjects[place->second.second];
    subject.launches.push_back(&launch);
  }
  std::vector<Group> take() { return std::move(groups_); }

 private:
  using Size = std::optional<std::int64_t>;
  using SubjectKey = std::tuple<std::int64_t, std::string_view, Size, std::string_view>;
  using GroupKey = std::tuple<std::int64_t, std::string_view, Size, std::string>;

  /// The group and the place in it of a subject that is new.
  std::pair<std::size_t, std::size_t> place_of(const LaunchRecord& launch) {
    const std::string sizes = sizes_text(parsed_variant_name(launch.variant));
    const auto [group, is_new] =
        known_.try_emplace({launch.device_id, launch.family, launch.size, sizes}, groups_.size());
    if (is_new) {
      groups_.push_back({launch.device_id, std::string(launch.family), launch.size, sizes, {}});
    }
    auto& members = groups_[group->second].subjects;
    Subject& subject = members.emplace_back();
    subject.variant = launch.variant;
    return {group->second, members.size() - 1};
  }

  std::vector<Group> groups_;
  std::map<GroupKey, std::size_t> known_;
  std::map<SubjectKey, std::pair<std::size_t, std::size_t>> subjects_;
};

std::vector<Group> grouped(const std::vector<LaunchRecord>& launches) {
  Grouping grouping;
  for (const LaunchRecord& launch : launches) grouping.add(launch);
  return grouping.take();
}

}  // namespace

const schema::Value& Row::value(std::string_view column) const {
  const auto found = std::find(rows_->columns.begin(), rows_->columns.end(), column);
  if (found == rows_->columns.end()) {
    throw std::logic_error(fmt::format("a section's SQL has no column '{}'", column));
  }
  return rows_->rows[row_][static_cast<std::size_t>(found - rows_->columns.begin())];
}

std::optional<double> Row::number(std::string_view column) const {
  const schema::Value& held = value(column);
  if (const auto* real = std::get_if<double>(&held)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&held)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<std::int64_t> Row::integer(std::string_view column) const {
  const schema::Value& held = value(column);
  if (const auto* whole = std::get_if<std::int64_t>(&held)) return *whole;
  if (const auto* real = std::get_if<double>(&held)) return static_cast<std::int64_t>(*real);
  return std::nullopt;
}

std::string Row::text(std::string_view column) const {
  const schema::Value& held = value(column);
  if (const auto* text = std::get_if<std::string>(&held)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&held)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&held)) return exact_number(*real);
  return "";
}

std::vector<Row> each_row(const schema::Rows& rows) {
  std::vector<Row> all;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) all.emplace_back(rows, i);
  return all;
}

std::string mark_of(std::string_view grade) {
  for (const schema::GradeInfo& info : schema::grades) {
    if (grade == info.name) return info.mark;
  }
  return "";
}

std::string marks_legend(const std::set<std::string>& marks) {
  const std::string ptx = mark_of(to_string(schema::Grade::ptx));
  const std::string modelled = mark_of(to_string(schema::Grade::modelled));
  std::string text;
  if (marks.contains(ptx)) {
    text += fmt::format(" {} was counted from PTX: the machine code may differ.", ptx);
  }
  if (marks.contains(modelled)) text += fmt::format(" {} is approximate.", modelled);
  const std::string sampled = mark_of(to_string(schema::Grade::sampled));
  if (marks.contains(sampled)) {
    text += fmt::format(
        " {} was estimated from some blocks: ± holds for 95 % of such estimates, where the others "
        "are like them.",
        sampled);
  }
  return text;
}

Cell cell_of(const Figure& figure, double scale) {
  if (!figure.value) return Missing{figure.reason};
  Cell cell(*figure.value * scale);
  cell.mark = mark_of(figure.grade);
  if (figure.error) cell.error = *figure.error * scale;
  if (figure.range) cell.range = Range{figure.range->low * scale, figure.range->high * scale};
  return cell;
}

std::size_t Subject::count() const {
  std::size_t count = 0;
  for (const LaunchRecord* launch : launches) count += launch->count;
  return count;
}

std::size_t Subject::failures() const {
  std::size_t count = 0;
  for (const LaunchRecord* launch : launches) count += launch->failed ? launch->count : 0;
  return count;
}

const Figure& Subject::figure(std::string_view metric) const {
  const auto known = known_.find(metric);
  if (known != known_.end()) return known->second;
  return known_.emplace(metric, figure_of(launches, metric)).first->second;
}

std::string Group::title() const {
  const std::string at = size_text();
  return at.empty() ? family : family + ", " + at;
}

std::string Group::size_text() const {
  std::string text = size ? "size " + grouped_number(*size) : "";
  if (!sizes.empty()) text += (text.empty() ? "" : ", ") + sizes;
  return text;
}

bool is_smaller(const Group& a, const Group& b) {
  const auto others = [](const Group& group) {
    std::vector<long double> numbers;
    const auto name = parsed_variant_name(group.subjects.front().variant);
    for (const auto& [size, value] : name.sizes)
      numbers.push_back(parameter_number(value).value_or(0));
    return numbers;
  };
  return a.size != b.size ? a.size < b.size : others(a) < others(b);
}

std::vector<const Group*> largest_groups(const std::vector<const Group*>& groups) {
  std::map<std::pair<std::string_view, std::int64_t>, const Group*> largest;
  for (const Group* group : groups) {
    const Group*& known = largest[{group->family, group->device_id}];
    if (known == nullptr || is_smaller(*known, *group)) known = group;
  }
  std::vector<const Group*> all = groups;
  std::erase_if(all, [&](const Group* group) {
    return is_smaller(*group, *largest.at({group->family, group->device_id}));
  });
  return all;
}

std::vector<const Group*> largest_groups(const RunRecord& run) {
  std::vector<const Group*> groups;
  for (const Group& group : run.groups) groups.push_back(&group);
  return largest_groups(groups);
}

schema::Parameters run_parameter(std::int64_t run_id) { return {{":run", run_id}}; }

void require_run(const schema::Reader& reader, std::int64_t run_id) {
  if (reader.query("SELECT 1 FROM runs WHERE run_id = :run", run_parameter(run_id)).rows.empty()) {
    throw Error(
        ExitCode::usage,
        fmt::format("there is no run {}; `warpmeter list runs` shows those there are", run_id));
  }
}

std::vector<std::string> resources_among(std::vector<std::string> metrics) {
  std::erase_if(metrics, [](const std::string& name) {
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(name);
    return info == nullptr || !info->is_resource;
  });
  return metrics;
}

std::vector<Resource> resources_of(const schema::Reader& reader,
                                   const std::vector<std::int64_t>& launches,
                                   const std::vector<std::string>& metrics) {
  std::vector<Resource> resources;
  const schema::Rows rows = reader.query(
      sql::resources, {{":launches", fmt::format("[{}]", fmt::join(launches, ","))},
                       {":metrics", fmt::format("[\"{}\"]", fmt::join(metrics, "\",\""))}});
  for (const Row& row : each_row(rows)) {
    resources.push_back({row.integer("launch_id").value_or(0), row.text("metric"),
                         row.number("value"), schema::grade_named(row.text("grade")),
                         row.text("reason")});
  }
  return resources;
}

RunRecord read_run(const schema::Reader& reader, std::int64_t run_id,
                   const std::vector<std::string>& metrics) {
  RunRecord run;
  run.id = run_id;
  const schema::Rows devices = reader.query(sql::devices, run_parameter(run_id));
  for (const Row& row : each_row(devices)) {
    run.devices.push_back({row.integer("device_id").value_or(0),
                           static_cast<int>(row.integer("ordinal").value_or(0)), row.text("name"),
                           row.text("title")});
  }
  const std::vector<std::string> resources = resources_among(metrics);
  run.kinds = std::make_shared<const schema::LaunchKinds>(schema::read_kinds(
      reader, run_id, resources.empty() ? schema::Alike::launches : schema::Alike::resources));
  Recording recording(run);
  run.shapes = schema::each_launch(
      reader, *run.kinds, [&](const schema::LaunchFigures& launch) { recording.add(launch); });
  read_session_shifts(reader, run_id, recording);
  schema::each_error(reader, run_id,
                     [&](std::int64_t launch, std::string_view metric, double error) {
                       LaunchRecord* record = recording.of_launch(launch);
                       if (record == nullptr) return;  // it is alike to one that has these errors
                       double& widest = record->errors[std::string(metric)];
                       widest = std::max(widest, error);
                     });
  read_resources(reader, resources, run);
  recording.finish();
  run.metrics = metrics_of(run.launches);
  run.others = other_metrics(run.metrics);
  run.groups = grouped(run.launches);
  return run;
}

std::string RunRecord::name_of(std::int64_t device_id, std::string_view family,
                               std::string_view variant, std::optional<std::int64_t> size) const {
  std::string name = fmt::format("{}/{}", family, variant);
  if (size) name += " at " + grouped_number(*size);
  return devices.size() > 1 ? name + " on " + device_name(device_id) : name;
}

std::string RunRecord::device_name(std::int64_t device_id) const {
  for (const DeviceRecord& device : devices) {
    if (device.id != device_id) continue;
    const auto alike =
        std::count_if(devices.begin(), devices.end(),
                      [&](const DeviceRecord& other) { return other.title == device.title; });
    return alike == 1 ? device.title : fmt::format("device {} ({})", device.ordinal, device.name);
  }
  return "an unknown device";
}

}  // namespace warpmeter::reports
