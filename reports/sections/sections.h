// SPDX-License-Identifier: MIT
// The sections of a report. Each adds its blocks to the document, and nothing when there is nothing
// to say.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document.h"
#include "reports/explain/explained.h"
#include "reports/record.h"
#include "schema/store.h"

namespace warpmeter::reports::sections {

struct LimitsOfRun;

struct Expectation {
  std::string name;  ///< "transpose/naive at 1,024"
  std::string metric, relation, verdict, verdict_reason, reason, grade;
  double expected = 0;
  std::optional<double> measured;
};

/// The source of a section.
class Source {
 public:
  Source(const schema::Reader& from, const RunRecord& record, bool with_plots)
      : reader(from), run(record), plots(with_plots) {}

  const schema::Reader& reader;
  const RunRecord& run;
  bool is_interactive = false;  ///< true if a page with scripts shows them
  bool plots;  ///< true if plots can be shown; what only explains a plot is left out else

  /// Each once: of several launches of a variant, the one that does worst. Read when a section
  /// first asks, for there are two.
  const std::vector<Expectation>& expectations() const;

  /// The launches with their first findings; none where the run has none. Read once, too.
  const std::vector<ExplainedLaunch>& explained() const;

  /// Read once; limits.h says what is in them.
  const LimitsOfRun& limits() const;

 private:
  mutable std::optional<std::vector<Expectation>> expectations_;
  mutable std::optional<std::vector<ExplainedLaunch>> explained_;
  mutable std::shared_ptr<const LimitsOfRun> limits_;
};

struct Section {
  std::string_view name;  ///< for --section: "comparison"
  std::string_view meaning;
  bool in_short = false;  ///< true if formats that cannot sort and filter show it, too
  void (*add)(Document& document, const Source& source) = nullptr;
};

/// In the order in which a report shows them.
std::span<const Section> all_sections();

#define SECTION(function, ...) void function(Document& document, const Source& source);
#include "reports/sections/list.h"

/// A sentence on the limit of each family that no remark of the document names.
void add_other_limits(Document& document, const Source& source);

/// A line on what the section of limits lacks, where no launch has a limit.
std::string why_no_limits(const Source& source);

/// The headline, and the best of each family: one screen.
void add_brief(Document& document, const Source& source);

/// The best of each family, a row each; `most` families.
void add_best_table(Document& document, const Source& source, std::size_t most);

/// The highest bandwidth that a run's reader may expect of a device's memory, and where it is from.
struct Ceiling {
  double bandwidth = 0;  ///< GB/s
  std::string name;      ///< "transpose/copy"
  std::string source;    ///< "what transpose/copy at 4,096 moved in this run"
};

/// The ceiling of the run's own launches; nullopt where none of them copies.
std::optional<Ceiling> ceiling_of(const RunRecord& run, std::int64_t device_id);

/// The most single launches of a table: a page is to open at once.
inline constexpr std::size_t most_launches = 2000;

/// Headings that sentences lead to.
inline constexpr const char* findings_title = "What costs most";
inline constexpr const char* doubtful_title = "Not exact";
inline constexpr const char* unavailable_title = "Unavailable";
inline constexpr const char* failures_title = "Failed launches";
inline constexpr const char* comparisons_title = "Variants side by side";
inline constexpr const char* best_title = "The best of each family";
inline constexpr const char* run_title = "The run";
/// The title of a group's table: its family and size, the device too where there are several.
std::string comparison_title(const RunRecord& run, const Group& group);

/// The title of the report, where nothing is before it.
void add_title(Document& document, const Source& source);

/// The plots of the family that `last` is of, on its device.
void add_family_plots(Document& document, const RunRecord& run, const Group& last);

/// Time over transactions, every variant and size a point; nothing for fewer than three.
void add_cost_plot(Document& document, const RunRecord& run);

/// Figures that have no value, or none that is exact, in the same launches for the same reason.
struct Unavailable {
  std::vector<std::string> metrics;
  std::string reason, where;          ///< "every launch", "transpose/copy, smem_square"
  std::vector<std::size_t> launches;  ///< places of records in the run, ascending
  std::size_t count = 0;              ///< the number of launches
};

/// In the order of the metrics.
std::vector<Unavailable> unavailable_figures(const RunRecord& run);

}  // namespace warpmeter::reports::sections
