// SPDX-License-Identifier: MIT
// `check`: do gates, the catalogue's expectations and the limit of a slow-down against a baseline
// hold?
//
// Every answer is one of three. A broken gate is broken; what has no value, or one that the machine
// code may not share, is inconclusive; a gate that matches no launch is inconclusive too and never
// passes. So is a run that did not come to its end, or a launch of it that failed: what is missing
// may be what breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/gates/expression.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::reports {

enum class Outcome { holds, inconclusive, broken };
std::string_view to_string(Outcome outcome);

/// A baseline to be no slower than: a run of this database or another one.
struct Baseline {
  const schema::Reader* reader = nullptr;
  std::int64_t run = 0;
  std::string name;             ///< "main.db, run 3"
  double max_slowdown = 0;      ///< 0.03 is 3 %
  double significance = 0.001;  ///< that a slow-down needs; of all launches together
};

struct CheckRequest {
  std::int64_t run = 0;
  std::vector<Gate> gates;
  bool expectations = true;
  std::optional<Baseline> baseline;
  std::vector<Selector> selectors;  ///< the selectors of the launches that are checked; empty: all
  bool allow_unfinished = false;    ///< judge what is there, and remark on what is not

  bool checks(const LaunchName& launch) const;
};

enum class GateKind { gate, expectation, baseline, run };
std::string_view to_string(GateKind kind);

/// One gate on one launch; of repeated launches the one that does worst.
struct Finding {
  GateKind kind = GateKind::gate;
  Outcome outcome = Outcome::holds;
  std::string gate;       ///< "gst_efficiency >= 90", with the selector that was typed
  std::string condition;  ///< the same without one; empty: there is none
  std::string launch;     ///< "transpose/naive at 1,024"; empty when nothing matched
  LaunchName name;
  /// Left and right of the relation; of a baseline the slow-down in per cent.
  std::optional<double> measured, limit;
  std::string relation;
  std::string grade;
  std::string reason;  ///< why it is inconclusive; else why it is expected
  std::string file;    ///< the source line that costs most, where it is known
  std::int64_t line = 0;
  std::string kernel_file;  ///< the line in which its kernel begins, where it is known
  std::int64_t kernel_line = 0;

  /// "99.9996": what was measured, with digits that tell it from the limit; empty without values.
  std::string measured_text() const;
  /// "by 6 (+300 %)"; empty without values.
  std::string by_how_much() const;
};

struct Check {
  std::int64_t run = 0;
  std::string run_name;
  std::string database;           ///< the file that holds the run
  std::vector<Finding> findings;  ///< broken ones first
  std::vector<std::string> remarks;

  std::size_t count(Outcome outcome) const;
  /// Broken when anything is; inconclusive when a gate, the baseline or the run is, or nothing was
  /// concluded. Expectations that nobody asked for by name cannot make the person's own gates
  /// inconclusive.
  Outcome outcome() const;
};

/// The request's selectors become those that they stand for (require_selected()). Throws
/// Error{usage} when a selector matches no launch of the run; Error{nothing} when the run
/// has not come to its end, so that the launch may be one that it lacks.
Check check(const schema::Reader& reader, CheckRequest& request);

enum class CheckFormat { table, markdown, csv, json, github, junit, sarif };
std::string render(const Check& check, CheckFormat format, std::size_t width = 0);

}  // namespace warpmeter::reports
