// SPDX-License-Identifier: MIT
#include "reports/gates/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "base/error.h"
#include "reports/compare/groups.h"
#include "reports/gates/launches.h"
#include "reports/gates/places.h"
#include "reports/gates/slowdown.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"
#include "schema/catalogue.h"
#include "schema/figures/figures.h"
#include "schema/figures/kinds.h"

namespace warpmeter::reports {
namespace {

/// Equal means within a billionth; whole numbers are counts and equal exactly. The view
/// expectations has the same rule.
constexpr double tolerance = 1e-9;

// ---- one gate on one launch

/// A metric over requests that a launch does not make has no value and no gate applies to it.
bool does_not_apply(const std::string& metric, const CheckedValue& value) {
  const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
  return info != nullptr && !value.value && !info->undefined.empty() &&
         value.reason == info->undefined;
}

/// The value of a sum; none when a metric of it has none.
std::optional<double> evaluate(const Term& term, const LaunchToCheck& launch) {
  if (term.operation == '#') return term.number;
  if (term.operation == 'm') {
    const auto found = launch.values.find(term.metric);
    return found == launch.values.end() ? std::nullopt : found->second.value;
  }
  const std::optional<double> left = evaluate(*term.left, launch);
  const std::optional<double> right = evaluate(*term.right, launch);
  if (!left || !right) return std::nullopt;
  switch (term.operation) {
    case '+':
      return *left + *right;
    case '-':
      return *left - *right;
    case '*':
      return *left * *right;
    default:
      return *right == 0 ? std::nullopt : std::optional(*left / *right);
  }
}

bool holds(double left, const std::string& relation, double right) {
  const bool are_whole = left == std::floor(left) && right == std::floor(right);
  const double slack = are_whole ? 0 : tolerance * std::max({1.0, std::abs(left), std::abs(right)});
  if (relation == "<=") return left <= right + slack;
  if (relation == ">=") return left >= right - slack;
  if (relation == "<") return left < right - slack;
  if (relation == ">") return left > right + slack;
  const bool equal = std::abs(left - right) <= slack;
  return relation == "==" ? equal : !equal;
}

std::string missing_reason(const Gate& gate, const LaunchToCheck& launch) {
  for (const std::string& metric : gate.metrics) {
    const auto found = launch.values.find(metric);
    if (found == launch.values.end()) {
      return fmt::format("{0} was not measured: measure again, with run --metrics {0}", metric);
    }
    if (!found->second.value) return fmt::format("{}: {}", metric, found->second.reason);
  }
  return "it divides by 0";
}

/// Which blocks stand for all in a value that the gate reads; empty where all were run.
std::string_view estimate_of(const Gate& gate, const LaunchToCheck& launch) {
  for (const std::string& metric : gate.metrics) {
    const auto found = launch.values.find(metric);
    if (found == launch.values.end()) continue;
    const std::string_view estimate = schema::estimate_of(found->second.reason);
    if (!estimate.empty()) return estimate;
  }
  return "";
}

/// None when the gate does not apply to the launch.
std::optional<Finding> judge(const Gate& gate, const LaunchToCheck& launch) {
  if (!launch.was_run) return std::nullopt;
  Finding finding;
  finding.gate = gate.text;
  finding.condition = gate.condition;
  finding.launch = launch.readable_name;
  finding.name = launch.name;
  finding.relation = gate.relation;
  finding.reason = gate.because;
  auto weakest = schema::Grade::measured;
  for (const std::string& metric : gate.metrics) {
    const auto found = launch.values.find(metric);
    if (found == launch.values.end()) continue;
    if (does_not_apply(metric, found->second)) return std::nullopt;
    weakest = std::max(weakest, found->second.grade);
  }
  std::string doubt;
  if (weakest == schema::Grade::ptx) doubt = "it was counted from PTX: the machine code may differ";
  if (const std::string_view estimate = estimate_of(gate, launch); !estimate.empty()) {
    doubt = fmt::format("it is {}: run all of them", estimate);
  }
  finding.measured = evaluate(*gate.left, launch);
  finding.limit = evaluate(*gate.right, launch);
  if (!finding.measured || !finding.limit) {
    finding.outcome = Outcome::inconclusive;
    weakest = schema::Grade::unavailable;
    finding.reason = launch.failure.empty() ? missing_reason(gate, launch) : launch.failure;
  } else if (!doubt.empty()) {
    finding.outcome = Outcome::inconclusive;
    finding.reason = doubt;
  } else {
    finding.outcome =
        holds(*finding.measured, gate.relation, *finding.limit) ? Outcome::holds : Outcome::broken;
  }
  finding.grade = to_string(weakest);
  return finding;
}

// ---- all of them

std::vector<LaunchName> names_of(const std::vector<LaunchToCheck>& launches) {
  std::vector<LaunchName> names;
  for (const LaunchToCheck& launch : launches) names.push_back(launch.name);
  return names;
}

/// The worst finding of repeated launches of a variant.
class WorstFindings {
 public:
  void add(Finding finding) {
    const auto key = std::tuple(finding.kind, finding.gate, finding.launch);
    const auto [place, is_new] = known_.try_emplace(key, findings_.size());
    if (is_new) {
      findings_.push_back(std::move(finding));
    } else if (badness(finding) > badness(findings_[place->second])) {
      findings_[place->second] = std::move(finding);
    }
  }
  std::vector<Finding> take() { return std::move(findings_); }

 private:
  static std::pair<Outcome, double> badness(const Finding& finding) {
    const bool known = finding.measured && finding.limit;
    return {finding.outcome, known ? std::abs(*finding.measured - *finding.limit) : 0};
  }
  std::map<std::tuple<GateKind, std::string, std::string>, std::size_t> known_;
  std::vector<Finding> findings_;
};

Finding unmatched(const Gate& gate, bool any_selected, const std::vector<LaunchName>& launches) {
  Finding finding;
  finding.outcome = Outcome::inconclusive;
  finding.gate = gate.text;
  finding.relation = gate.relation;
  finding.reason = any_selected
                       ? "it applies to no launch that it selects: none of them makes such "
                         "accesses, or could be "
                         "run there"
                       : fmt::format("it matches no launch of the run{} (see: warpmeter report)",
                                     meant_by(launches, gate.selector));
  return finding;
}

void add_gates(const schema::Reader& reader, const CheckRequest& request,
               const schema::LaunchKinds& kinds, std::vector<LaunchToCheck>& launches,
               WorstFindings& findings) {
  struct Judged {
    std::vector<bool> selected;  ///< by kind
    bool any_selected = false, any_applies = false;
    WorstFindings findings;
  };
  if (request.gates.empty()) return;
  const std::vector<LaunchName> names = names_of(launches);
  std::vector<Judged> judged(request.gates.size());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const Selector selector = settled(request.gates[i].selector, names);
    judged[i].selected.resize(kinds.all.size());
    for (const LaunchToCheck& launch : launches) {
      if (!selector.selects(launch.name)) continue;
      judged[i].selected[launch.kind] = judged[i].any_selected = true;
    }
  }
  each_distinct(reader, request, kinds, launches, [&](const LaunchToCheck& launch) {
    for (std::size_t i = 0; i < judged.size(); ++i) {
      if (!judged[i].selected[launch.kind]) continue;
      if (std::optional<Finding> finding = judge(request.gates[i], launch)) {
        judged[i].any_applies = true;
        judged[i].findings.add(std::move(*finding));
      }
    }
  });
  for (std::size_t i = 0; i < judged.size(); ++i) {
    for (Finding& finding : judged[i].findings.take()) findings.add(std::move(finding));
    if (judged[i].any_applies) continue;
    findings.add(unmatched(request.gates[i], judged[i].any_selected, names));
  }
}

void add_expectations(const schema::Reader& reader, const CheckRequest& request,
                      const schema::LaunchKinds& kinds, const std::vector<LaunchToCheck>& launches,
                      WorstFindings& findings) {
  std::vector<const LaunchToCheck*> by_kind(kinds.all.size());
  for (const LaunchToCheck& launch : launches) by_kind[launch.kind] = &launch;
  const schema::Rows rows = reader.query(sql::expectations, run_parameter(request.run));
  for (const Row& row : each_row(rows)) {
    const auto place = kinds.find(row.integer("launch_id").value_or(0));
    const LaunchToCheck* launch = place ? by_kind[kinds.places[*place]] : nullptr;
    if (launch == nullptr) continue;
    Finding finding;
    finding.kind = GateKind::expectation;
    const std::string verdict = row.text("verdict");
    finding.outcome = verdict == "holds"    ? Outcome::holds
                      : verdict == "broken" ? Outcome::broken
                                            : Outcome::inconclusive;
    finding.relation = row.text("relation");
    finding.measured = row.number("measured");
    finding.limit = row.number("expected");
    finding.gate = fmt::format("{} {} {}", row.text("metric"), finding.relation,
                               exact_number(finding.limit.value_or(0)));
    finding.launch = launch->readable_name;
    finding.name = launch->name;
    finding.grade = row.text("grade");
    finding.reason =
        finding.outcome == Outcome::inconclusive ? row.text("verdict_reason") : row.text("reason");
    findings.add(std::move(finding));
  }
}

/// Leaves the launches that the request selects, whose selectors are settled. Throws where a
/// selector selects none; `unfinished` says why it may be that the run lacks it.
void choose(std::vector<LaunchToCheck>& launches, CheckRequest& request,
            const std::string& unfinished) {
  require_selected(names_of(launches), request.selectors, request.run, unfinished);
  launches.erase(
      std::remove_if(launches.begin(), launches.end(),
                     [&](const LaunchToCheck& launch) { return !request.checks(launch.name); }),
      launches.end());
}

/// A missing part cannot hold: an end of the run, a launch that failed.
void add_what_is_missing(const CheckRequest& request, const std::vector<LaunchToCheck>& launches,
                         const std::string& unfinished, Check& check) {
  const auto add = [&](const char* gate, const LaunchToCheck* launch, const std::string& reason) {
    const std::string name = launch == nullptr ? "" : launch->readable_name;
    if (request.allow_unfinished) {
      check.remarks.push_back(
          fmt::format("Allowed: {}{}{}.", name, name.empty() ? "" : ": ", reason));
      return;
    }
    Finding finding;
    finding.kind = GateKind::run;
    finding.outcome = Outcome::inconclusive;
    finding.gate = gate;
    finding.launch = name;
    if (launch != nullptr) finding.name = launch->name;
    finding.grade = to_string(schema::Grade::unavailable);
    finding.reason = reason;
    check.findings.push_back(std::move(finding));
  };
  if (!unfinished.empty()) add("the run came to its end", nullptr, unfinished);
  std::set<std::string> said;
  for (const Finding& finding : check.findings) {
    const bool counts = finding.kind != GateKind::expectation && finding.outcome != Outcome::holds;
    if (counts) said.insert(finding.launch);
  }
  for (const LaunchToCheck& launch : launches) {
    if (launch.failure.empty() || !said.insert(launch.readable_name).second) continue;
    add("the launch ended well", &launch, launch.failure);
  }
}

std::string name_of_run(const schema::Reader& reader, std::int64_t run) {
  const schema::Rows rows =
      reader.query("SELECT label, device FROM runs WHERE run_id = :run", run_parameter(run));
  const Row row = each_row(rows).at(0);
  const std::string label = row.text("label");
  return fmt::format("run {}{}{}", run, label.empty() ? "" : " (" + label + ")",
                     row.text("device").empty() ? "" : " on " + row.text("device"));
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  constexpr std::string_view names[] = {"holds", "inconclusive", "broken"};
  return names[static_cast<int>(outcome)];
}

std::string_view to_string(GateKind kind) {
  constexpr std::string_view names[] = {"gate", "expectation", "baseline", "run"};
  return names[static_cast<int>(kind)];
}

bool CheckRequest::checks(const LaunchName& launch) const {
  return selectors.empty() ||
         std::any_of(selectors.begin(), selectors.end(),
                     [&](const Selector& selector) { return selector.selects(launch); });
}

std::string Finding::measured_text() const {
  if (!measured) return "";
  return limit ? number_beside(*measured, *limit) : readable_number(*measured, Zeros::trim);
}

std::string Finding::by_how_much() const {
  if (!measured || !limit || outcome == Outcome::holds) return "";
  const double difference = *measured - *limit;
  if (kind == GateKind::baseline) return signed_percent(difference / 100) + " %";
  const std::string text =
      (difference < 0 ? "-" : "+") + readable_number(std::abs(difference), Zeros::trim);
  if (*limit == 0) return text;
  return fmt::format("{} ({} %)", text, signed_percent(difference / std::abs(*limit)));
}

std::size_t Check::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& finding) { return finding.outcome == outcome; }));
}

Outcome Check::outcome() const {
  if (count(Outcome::broken) > 0) return Outcome::broken;
  const bool own = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind != GateKind::expectation;
  });
  const bool open = std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.outcome == Outcome::inconclusive &&
           (!own || finding.kind != GateKind::expectation);
  });
  return open || findings.empty() ? Outcome::inconclusive : Outcome::holds;
}

Check check(const schema::Reader& reader, CheckRequest& request) {
  // Asked first: a run that ends meanwhile is then called unfinished, not finished with a part.
  const std::string unfinished = why_unfinished(reader, request.run);
  const schema::LaunchKinds kinds = kinds_to_check(reader, request);
  std::vector<LaunchToCheck> launches = launches_to_check(reader, request.run, kinds);
  choose(launches, request, unfinished);
  WorstFindings findings;
  add_gates(reader, request, kinds, launches, findings);
  if (request.expectations) add_expectations(reader, request, kinds, launches, findings);

  Check result;
  result.run = request.run;
  result.run_name = name_of_run(reader, request.run);
  result.findings = findings.take();
  if (request.baseline) add_slowdowns(reader, request, result);
  add_what_is_missing(request, launches, unfinished, result);
  add_places(reader, request.run, result.findings);
  std::stable_sort(result.findings.begin(), result.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.outcome > b.outcome; });
  return result;
}

}  // namespace warpmeter::reports
