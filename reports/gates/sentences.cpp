// SPDX-License-Identifier: MIT
#include "reports/gates/sentences.h"

#include "base/with_noun.h"

#include <fmt/format.h>

namespace warpmeter::reports {
namespace {

std::string gates_text(std::size_t count) { return with_noun(count, "check"); }

}  // namespace

std::string summary_of(const Check& check) {
  const std::size_t all = check.findings.size();
  if (all == 0) {
    return fmt::format(
        "There is nothing to check in {}: no gate was given, and the catalogue expects nothing of "
        "its variants at these sizes.",
        check.run_name);
  }
  std::string text = fmt::format("{} of {} on {} {}", check.count(Outcome::holds), gates_text(all),
                                 check.run_name, all == 1 ? "holds" : "hold");
  if (const std::size_t broken = check.count(Outcome::broken); broken > 0) {
    text += fmt::format(", {} {} broken", broken, broken == 1 ? "is" : "are");
  }
  if (const std::size_t open = check.count(Outcome::inconclusive); open > 0) {
    text += fmt::format(", {} {} inconclusive", open, open == 1 ? "is" : "are");
  }
  text += ".";
  for (const std::string& remark : check.remarks) text += " " + remark;
  return text;
}

std::string sentence_of(const Finding& finding) {
  std::string text = finding.launch.empty() ? "" : finding.launch + ": ";
  const bool says_launch = !finding.launch.empty() && !finding.condition.empty();
  text += fmt::format("{} {}", says_launch ? finding.condition : finding.gate,
                      finding.outcome == Outcome::holds    ? "holds"
                      : finding.outcome == Outcome::broken ? "is broken"
                                                           : "is inconclusive");
  if (finding.measured) {
    text += fmt::format(": it is {}", finding.measured_text());
    const std::string by = finding.by_how_much();
    if (!by.empty()) text += ", " + by;
  }
  if (!finding.reason.empty()) text += "; " + finding.reason;
  return text;
}

}  // namespace warpmeter::reports
