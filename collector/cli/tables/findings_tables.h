// SPDX-License-Identifier: MIT
// The findings of --check of `run`, `model` and `profile`, as one table and in one sentence.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/model/check/coverage.h"
#include "reports/table/table.h"

namespace warpmeter::cli {

struct ShownFinding {
  std::string launch;  ///< its variant; for programs that read the table
  std::string finding, place;
  bool is_remark = false;  ///< worth a look, but no mistake by itself
  std::optional<std::int64_t> ptx_line;
  std::uint64_t times = 1;
  std::string message;
  std::string other;  ///< the other place that the message names: "reduce.cu:9"; may be empty
};

/// Columns that only some tables have.
struct FindingColumns {
  bool launch = false, ptx_line = false;
};

reports::Table findings_table(std::span<const ShownFinding> findings,
                              const FindingColumns& columns);

/// The kinds that were looked for and those that were not: the kinds in short, and what of this
/// launch or program was left unseen (`gaps`, and as `coverage` says); or with is_verbose all of
/// both lists.
std::string coverage_text(const model::check::Coverage& coverage, std::vector<std::string> gaps,
                          bool is_verbose);

struct FindingCount {
  std::size_t mistakes = 0, remarks = 0;
};
FindingCount count_of(std::span<const ShownFinding> findings);
/// "--check found 2 mistakes and 1 remark; fix the lines named above". At least one of them is
/// a mistake.
std::string found_text(const FindingCount& count, bool are_named = true);

}  // namespace warpmeter::cli
