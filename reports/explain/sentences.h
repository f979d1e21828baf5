// SPDX-License-Identifier: MIT
// A finding and its remedies in words. Code stands between backticks.
#pragma once

#include <string>
#include <vector>

#include "reports/explain/explained.h"

namespace warpmeter::reports {

/// "shared load of `tile`: 8 transactions a request, 1 is possible (3.7 million too many, 88 % of
/// the launch's shared wavefronts). Half a warp …"
std::string finding_sentence(const ExplainedFinding& finding);

/// The same up to its first full stop, for a line: without evidence.
std::string finding_headline(const ExplainedFinding& finding);

/// "bank conflicts"; a kind of a later version by its name.
std::string kind_in_words(const std::string& kind);

/// The name and the place of a finding, for a sentence on something else: "bank conflicts at
/// kernels/transpose.cu:44 (shared load of `tile`)".
std::string finding_clause(const ExplainedFinding& finding);

/// "8 transactions a request, 1 is possible (3.7 million too many, 88 % of the launch's shared
/// wavefronts)"; empty where there are no figures.
std::string finding_figures(const ExplainedFinding& finding);

/// For a line under a row: "kernels/transpose.cu:44 bank conflicts: 8 transactions a request, 1 is
/// possible; tile[16][17]: 2", the last where a change is advised.
std::string finding_in_short(const ExplainedFinding& finding);

/// A line each remedy that is advised: "`tile[16][17]` (a word of padding a row): 2, the other
/// accesses of `tile` 1,048,576 instead of 524,288".
std::vector<std::string> advice(const ExplainedFinding& finding, const ExplainedLaunch& launch);

/// "transactions a request": what one access costs, as remedies are compared by.
std::string unit_of(const ExplainedFinding& finding);

/// "8", "1.25": of a request; the whole count where there are no requests.
std::string cost_text(const ExplainedFinding& finding, std::int64_t transactions);

}  // namespace warpmeter::reports
