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

/// A run may have a million of them, so texts are those of RunRecord::texts.
struct LaunchRecord {
  std::int64_t id = 0;
  std::int64_t device_id = 0;
  std::string_view family, variant, reason;
  std::optional<std::int64_t> size;
  bool failed = false, verified = false, is_ceiling = false;
  bool computes = false;  ///< its useful work has floating-point operations
  /// By how much a session moves its time, as a share of it: a standard deviation, of
  /// reports/statistics.h. 0 where one sample, or none, was taken.
  double session_shift = 0;
};

/// One variant at one size on one device.
struct Subject {
  std::string variant;
  std::vector<const LaunchRecord*> launches;  ///< at least one
  std::vector<std::int64_t> ids;              ///< theirs
  const RunFigures* figures = nullptr;        ///< the figures of the run

  bool is_ceiling() const { return launches.front()->is_ceiling; }
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
  std::set<std::string, std::less<>> texts;
  std::vector<LaunchRecord> launches;  ///< in launch order, which is that of their ids
  std::unique_ptr<RunFigures> figures = std::make_unique<RunFigures>();
  std::vector<std::string>
      others;                 ///< metrics beyond the standard ones, as other_metrics gives them
  std::vector<Group> groups;  ///< in launch order; refer to `launches` and `figures`

  /// "family/variant at 1,024"; the device too where there are several.
  std::string name_of(const LaunchRecord& launch) const;
  /// "NVIDIA H200 #1"; "device 1 (model sm_90)" where the title does not tell the devices apart.
  std::string device_name(std::int64_t device_id) const;

  RunRecord() = default;
  RunRecord(const RunRecord&) = delete;
  RunRecord(RunRecord&&) = default;  // the elements of a moved vector stay where they are
};

/// The parameters of every section's SQL: the run.
schema::Parameters run_parameter(std::int64_t run_id);

/// Throws Error{usage} when there is no such run.
void require_run(const schema::Reader& reader, std::int64_t run_id);

/// The launches with their figures; the run exists. Figures of resources are read for the `metrics`
/// that are resources: a run of a million launches has no room for all of them.
RunRecord read_run(const schema::Reader& reader, std::int64_t run_id,
                   const std::vector<std::string>& metrics = {});

}  // namespace warpmeter::reports
