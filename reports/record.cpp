// SPDX-License-Identifier: MIT
#include "reports/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/variant_name.h"
#include "reports/metrics.h"
#include "reports/sql/sql.h"
#include "reports/statistics.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

void read_session_shifts(const schema::Reader& reader, std::int64_t run_id,
                         std::vector<LaunchRecord>& launches) {
  std::map<std::int64_t, Samples> timed;
  reader.each(sql::repeated_samples, run_parameter(run_id),
              [&](std::span<const schema::Value> row) {
                const auto* launch = std::get_if<std::int64_t>(&row[0]);
                const auto* duration_ns = std::get_if<double>(&row[1]);
                if (launch == nullptr || duration_ns == nullptr) return;
                timed[*launch].sorted_ns.push_back(*duration_ns);
              });
  for (LaunchRecord& launch : launches) {
    const auto samples = timed.find(launch.id);
    if (samples == timed.end()) continue;
    std::sort(samples->second.sorted_ns.begin(), samples->second.sorted_ns.end());
    const double median = samples->second.median();
    if (median > 0) launch.session_shift = reports::session_shift(samples->second) / median;
  }
}

/// The columns of launch_records.sql.
void read_launches(const schema::Reader& reader, RunRecord& run) {
  const auto text = [&](const schema::Value& value) -> std::string_view {
    const auto* held = std::get_if<std::string>(&value);
    if (held == nullptr || held->empty()) return {};
    const auto known = run.texts.find(*held);
    return known != run.texts.end() ? *known : *run.texts.insert(*held).first;
  };
  const auto integer = [](const schema::Value& value) {
    const auto* held = std::get_if<std::int64_t>(&value);
    return held == nullptr ? std::nullopt : std::optional(*held);
  };
  reader.each(sql::launch_records, run_parameter(run.id), [&](std::span<const schema::Value> row) {
    LaunchRecord& launch = run.launches.emplace_back();
    launch.id = integer(row[0]).value_or(0);
    launch.device_id = integer(row[1]).value_or(0);
    launch.family = text(row[2]);
    launch.variant = text(row[3]);
    launch.size = integer(row[4]);
    launch.failed = text(row[5]) != "done";
    launch.verified = integer(row[6]).value_or(0) != 0;
    launch.is_ceiling = integer(row[7]).value_or(0) != 0;
    launch.computes = integer(row[8]).value_or(0) != 0;
    launch.reason = text(row[9]);
  });
}

void read_figures(const schema::Reader& reader, std::int64_t run_id, RunFigures& figures) {
  schema::each_figure(reader, run_id, [&](const schema::Figure& figure) { figures.add(figure); });
  const schema::Rows rows = reader.query(sql::confidences, run_parameter(run_id));
  for (const Row& row : each_row(rows)) {
    figures.add({row.integer("launch_id").value_or(0), "relative_confidence",
                 row.number("relative_confidence"), schema::Grade::measured, ""});
  }
}

void read_resources(const schema::Reader& reader, std::int64_t run_id,
                    std::vector<std::string> metrics, RunFigures& figures) {
  std::erase_if(metrics, [](const std::string& name) {
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(name);
    return info == nullptr || !info->is_resource;
  });
  if (metrics.empty()) return;
  const schema::Rows rows = reader.query(
      sql::checked_values,
      {{":run", run_id}, {":metrics", fmt::format("[\"{}\"]", fmt::join(metrics, "\",\""))}});
  for (const Row& row : each_row(rows)) {
    figures.add({row.integer("launch_id").value_or(0), row.text("metric"), row.number("value"),
                 schema::grade_named(row.text("grade")), row.text("reason")});
  }
}

/// Gathers launches into groups and subjects.
class Grouping {
 public:
  explicit Grouping(const RunFigures& figures) : figures_(figures) {}
  void add(const LaunchRecord& launch) {
    const SubjectKey key{launch.device_id, launch.family, launch.size, launch.variant};
    const auto [place, is_new] = subjects_.try_emplace(key);
    if (is_new) place->second = place_of(launch);
    Subject& subject = groups_[place->second.first].subjects[place->second.second];
    subject.launches.push_back(&launch);
    subject.ids.push_back(launch.id);
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
    subject.figures = &figures_;
    return {group->second, members.size() - 1};
  }

  const RunFigures& figures_;
  std::vector<Group> groups_;
  std::map<GroupKey, std::size_t> known_;
  std::map<SubjectKey, std::pair<std::size_t, std::size_t>> subjects_;
};

std::vector<Group> grouped(const std::vector<LaunchRecord>& launches, const RunFigures& figures) {
  Grouping grouping(figures);
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
  return text;
}

Cell cell_of(const Figure& figure, double scale) {
  if (!figure.value) return Missing{figure.reason};
  Cell cell(*figure.value * scale);
  cell.mark = mark_of(figure.grade);
  if (figure.range) cell.range = Range{figure.range->low * scale, figure.range->high * scale};
  return cell;
}

std::size_t Subject::failures() const {
  return static_cast<std::size_t>(std::count_if(
      launches.begin(), launches.end(), [](const LaunchRecord* launch) { return launch->failed; }));
}

const Figure& Subject::figure(std::string_view metric) const {
  const auto known = known_.find(metric);
  if (known != known_.end()) return known->second;
  return known_.emplace(metric, figures->of(ids, metric)).first->second;
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

schema::Parameters run_parameter(std::int64_t run_id) { return {{":run", run_id}}; }

void require_run(const schema::Reader& reader, std::int64_t run_id) {
  if (reader.query(sql::run, run_parameter(run_id)).rows.empty()) {
    throw Error(
        ExitCode::usage,
        fmt::format("there is no run {}; `warpmeter list runs` shows those there are", run_id));
  }
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
  read_launches(reader, run);
  read_session_shifts(reader, run_id, run.launches);
  read_figures(reader, run_id, *run.figures);
  read_resources(reader, run_id, metrics, *run.figures);
  run.others = other_metrics(run.figures->metrics());
  run.groups = grouped(run.launches, *run.figures);
  return run;
}

std::string RunRecord::name_of(const LaunchRecord& launch) const {
  std::string name = fmt::format("{}/{}", launch.family, launch.variant);
  if (launch.size) name += " at " + grouped_number(*launch.size);
  return devices.size() > 1 ? name + " on " + device_name(launch.device_id) : name;
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
