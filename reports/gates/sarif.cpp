// SPDX-License-Identifier: MIT
#include "reports/gates/sarif.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/gates/sentences.h"
#include "schema/catalogue.h"

namespace warpmeter::reports {
namespace {

std::string description_of(const std::string& metric) {
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  if (const schema::MetricInfo* info = catalogue.find_metric(metric)) return info->description;
  const schema::CounterInfo* counter = catalogue.find_counter(metric);
  return counter != nullptr ? counter->description : "";
}

/// A gate or an expectation, by the metrics that it reads.
SarifRule rule_of_metrics(const Finding& finding) {
  const bool is_gate = finding.kind == GateKind::gate;
  // An expectation is one metric, of whatever name.
  const std::vector<std::string> metrics =
      is_gate ? parse_gate(finding.gate).metrics
              : std::vector<std::string>{finding.gate.substr(0, finding.gate.find(' '))};
  SarifRule rule;
  rule.id = fmt::format("{}/{}", to_string(finding.kind), fmt::join(metrics, "+"));
  rule.text = fmt::format("{} of {} holds.", is_gate ? "Each gate" : "What the catalogue expects",
                          fmt::join(metrics, " and "));
  for (const std::string& metric : metrics) {
    const std::string description = description_of(metric);
    if (!description.empty()) rule.help += fmt::format("{}: {} ", metric, description);
  }
  rule.help += "`warpmeter explain` says why a launch has such a value, and what to change.";
  return rule;
}

SarifRule rule_of(const Finding& finding) {
  if (finding.outcome == Outcome::inconclusive) {
    return {
        "inconclusive", "Each check can be judged.",
        "A check cannot be judged where a launch has no value, one that was counted from PTX, or "
        "one "
        "that was estimated from some of its blocks. "
        "The same holds for a gate that matches no launch, and for an unfinished run. The message "
        "says what to do.",
        SarifLevel::warning};
  }
  if (finding.kind == GateKind::baseline) {
    return {"slowdown", "No launch is slower than in the baseline.",
            "`warpmeter compare` shows the times of both, and how sure the difference is.",
            SarifLevel::error};
  }
  return rule_of_metrics(finding);
}

SarifResult result_of(const Check& check, const Finding& finding) {
  const SarifRule rule = rule_of(finding);
  SarifResult result;
  result.rule = rule.id;
  result.level = rule.level;
  if (finding.outcome == Outcome::inconclusive && finding.kind == GateKind::expectation) {
    result.level = SarifLevel::note;  // nobody asked for it by name
  }
  result.message = sentence_of(finding);
  if (!finding.name.variant.empty()) {
    result.function = fmt::format("{}/{}", finding.name.family, finding.name.variant);
  }
  const bool has_line = !finding.file.empty(), has_kernel = !finding.kernel_file.empty();
  if (has_line) {
    result.place = {finding.file, finding.line, ""};
  } else if (has_kernel) {
    result.place = {finding.kernel_file, finding.kernel_line, ""};
  } else {
    result.place = {check.database, 0, ""};
  }
  if (has_line && has_kernel) {
    result.related = {{finding.kernel_file, finding.kernel_line, "the kernel"}};
  }
  return result;
}

}  // namespace

SarifLog sarif_of(const Check& check) {
  SarifLog log;
  for (const Finding& finding : check.findings) {
    SarifRule rule = rule_of(finding);
    const bool is_known = std::any_of(log.rules.begin(), log.rules.end(),
                                      [&](const SarifRule& known) { return known.id == rule.id; });
    if (!is_known) log.rules.push_back(std::move(rule));
    if (finding.outcome != Outcome::holds) log.results.push_back(result_of(check, finding));
  }
  log.notes.push_back(summary_of(check));
  return log;
}

}  // namespace warpmeter::reports
