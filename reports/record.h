// SPDX-License-Identifier: MIT
// The content of the database about one run, read once and shared by the sections of a report.
//
// The same variant may have been launched several times at one size (`run --repeat`, a profiled
// program): a Subject gathers those launches, and a Figure is what they say together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/figures.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

/// One row of a query's answer, by column name. Values are absent where the database holds NULL.
class Row {
 public:
  Row(const schema::Rows& rows, std::size_t row) : rows_(&rows), row_(row) {}
  std::optional<double> number(std::string_view column) const;
  std::optional<std::int64_t> integer(std::string_view column) const;
  std::string text(std::string_view column) const;  ///< empty for NULL
  bool flag(std::string_view column) const { return integer(column).value_or(0) != 0; }

 private:
  const schema::Value& value(std::string_view column) const;
  const schema::Rows* rows_;
  std::size_t row_;
};

std::vector<Row> each_row(const schema::Rows& rows);
std::vector<Row> each_row(schema::Rows&&) = delete;  // a Row refers to its Rows

/// The mark behind a value of a grade that the hardware might not repeat to the last count (the
/// marks of schema::grades); empty for the others, and without a grade.
std::string mark_of(std::string_view grade);
/// A sentence for each mark, each with a space before it.
std::string marks_legend(const std::set<std::string>& marks);

/// A figure as it is shown, times `scale`: with its mark and range, or why there is none.
Cell cell_of(const Figure& figure, double scale = 1);

/// One variant at one size on one device.
struct Subject {
  std::string variant;
  LaunchRecords launches;  ///< at least one

  bool is_ceiling() const { return launches.front()->is_ceiling; }
  std::size_t count() const;  ///< the number of launches
  std::size_t failures() const;
  /// Computes each figure once. The reference lives as long as this subject.
  const Figure& figure(std::string_view metric) const;

 private:
  mutable std::map<std::string, Figure, std::less<>> known_;
};

/// One family at one size on one device: what a table compares. Subjects in launch order.
struct Group {
  std::int64_t device_id = 0;
  std::string family;
  std::optional<std::int64_t> size;
  std::string sizes;  ///< the others of a family with several, "m=64, k=8"
  std::vector<Subject> subjects;

  /// "transpose, size 1,024, m=64"; the family alone where it has one size.
  std::string title() const;
  /// "size 1,024, m=64"; empty where it has one size.
  std::string size_text() const;
};

/// Smaller problems first, by all their sizes.
bool is_smaller(const Group& a, const Group& b);

struct DeviceRecord {
  std::int64_t id = 0;
  int ordinal = 0;
  std::string name;
  std::string title;  ///< the name, with its slot where there are several of it
};

struct RunRecord {
  std::int64_t id = 0;
  std::vector<DeviceRecord> devices;
  std::shared_ptr<const schema::LaunchKinds> kinds;
  std::deque<schema::FigureShape> shapes;
  std::vector<LaunchRecord> launches;  ///< by their first launches; refer to `kinds` and `shapes`
  std::vector<std::string> metrics;    ///< every metric of some launch, sorted
  std::vector<std::string>
      others;                 ///< metrics beyond the standard ones, as other_metrics gives them
  std::vector<Group> groups;  ///< in launch order; refer to `launches`

  /// "family/variant at 1,024"; the device too where there are several. `launch`: a LaunchRecord or
  /// a schema::LaunchKind.
  template <class Launch>
  std::string name_of(const Launch& launch) const {
    return name_of(launch.device_id, launch.family, launch.variant, launch.size);
  }
  /// "NVIDIA H200 #1"; "device 1 (model sm_90)" where the title does not tell the devices apart.
  std::string device_name(std::int64_t device_id) const;

  RunRecord() = default;
  RunRecord(const RunRecord&) = delete;
  RunRecord(RunRecord&&) = default;  // the elements of a moved vector stay where they are

 private:
  std::string name_of(std::int64_t device_id, std::string_view family, std::string_view variant,
                      std::optional<std::int64_t> size) const;
};

/// Each family at its largest size, on each device; several groups where none is smaller.
std::vector<const Group*> largest_groups(const std::vector<const Group*>& groups);
std::vector<const Group*> largest_groups(const RunRecord& run);

/// The parameters of every section's SQL: the run.
schema::Parameters run_parameter(std::int64_t run_id);

/// Throws Error{usage} when there is no such run.
void require_run(const schema::Reader& reader, std::int64_t run_id);

/// One resource of a launch, as the view `results` has it.
struct Resource {
  std::int64_t launch_id = 0;
  std::string metric;
  std::optional<double> value;
  schema::Grade grade = schema::Grade::unavailable;
  std::string reason;
};

/// Those of the metrics that are resources.
std::vector<std::string> resources_among(std::vector<std::string> metrics);

/// The resources of some launches: of few, for the view looks each of them up.
std::vector<Resource> resources_of(const schema::Reader& reader,
                                   const std::vector<std::int64_t>& launches,
                                   const std::vector<std::string>& metrics);

/// The launches with their figures; the run exists. Figures of resources are read for the `metrics`
/// that are resources.
RunRecord read_run(const schema::Reader& reader, std::int64_t run_id,
                   const std::vector<std::string>& metrics = {});

}  // namespace warpmeter::reports
