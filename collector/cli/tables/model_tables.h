// SPDX-License-Identifier: MIT
// The output of `warpmeter model`: the metrics of each launch, and its source lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collector/cli/tables/findings_tables.h"
#include "collector/model/session/session.h"
#include "reports/document.h"
#include "schema/store.h"

namespace warpmeter::cli {

struct ModelAnswer {
  std::vector<model::SessionOutcome>
      outcomes;  ///< the outcomes of the launches, in the order of their ids
  std::int64_t run_id = 0;
  std::vector<std::string> metrics;  ///< the requested metrics, counters, @sets
  bool is_default = true;            ///< nobody asked: those without a value are left out
  bool lines = false;
  bool check = false;
  bool verbose = false;  ///< with all that was and was not looked for
};

/// The findings of --check in a launch, by its place in the source.
std::vector<ShownFinding> shown_findings(const model::SessionOutcome& outcome);
std::vector<ShownFinding> shown_findings(std::span<const model::check::Finding> findings,
                                         const std::string& launch);

/// In a format by name; `width` is the terminal's, 0: none. csv holds one table: the findings
/// where they were asked for, else the lines, else the metrics.
std::string render_answer(const schema::Reader& reader, const ModelAnswer& answer,
                          const std::string& format, std::size_t width);

}  // namespace warpmeter::cli
