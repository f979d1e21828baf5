// SPDX-License-Identifier: MIT
#include "reports/gates/slowdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/compare/groups.h"
#include "reports/compare/times.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"

namespace warpmeter::reports {
namespace {

const LaunchGroup* partner(const std::vector<LaunchGroup>& groups, const LaunchGroup& of) {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const LaunchGroup& group) {
    return group.family == of.family && group.variant == of.variant && group.size == of.size &&
           group.geometry() == of.geometry() && group.ordinal == of.ordinal;
  });
  return found == groups.end() ? nullptr : &*found;
}

/// `groups`: all of its run.
LaunchName name_of(const LaunchGroup& group, const std::vector<LaunchGroup>& groups) {
  const bool is_one_of_several =
      std::any_of(groups.begin(), groups.end(),
                  [&](const LaunchGroup& other) { return other.title != group.title; });
  return {group.family, group.variant, group.size,       group.grid,
          group.block,  group.title,   is_one_of_several};
}

std::string gate_text(const Baseline& baseline) {
  return fmt::format("slow-down against {} <= {} %", baseline.name,
                     readable_number(100 * baseline.max_slowdown, Zeros::trim));
}

Finding finding_on(const Baseline& baseline, const LaunchName& name, std::string launch) {
  Finding finding;
  finding.kind = GateKind::baseline;
  finding.gate = gate_text(baseline);
  finding.launch = std::move(launch);
  finding.name = name;
  finding.relation = "<=";
  finding.grade = to_string(schema::Grade::measured);
  return finding;
}

/// Why a pair has no comparable times; empty when it has.
std::string why_not_timed(const LaunchGroup& base, const LaunchGroup& now) {
  if (base.device != now.device) {
    return fmt::format("the baseline was measured on {}, this run on {}", base.device, now.device);
  }
  if (base.samples.sorted_ns.empty()) return "the baseline has no time";
  if (now.samples.sorted_ns.empty()) return "this run has no time";
  if (base.caches != now.caches) return "one was timed with a cold cache and one with a warm one";
  if (base.samples.median() <= 0) return "the baseline took no time that the clock could show";
  return "";
}

/// The measured value and the limit are the slow-down in per cent.
void judge(Finding& finding, const TimePair& pair, double max_slowdown) {
  const double most = 1 + max_slowdown;
  finding.measured = 100 * (pair.time.ratio - 1);
  finding.limit = 100 * max_slowdown;
  const std::vector<double> times = {pair.time.base, pair.time.contender};
  const DurationUnit unit = duration_unit(times);
  finding.reason =
      fmt::format("{0} {1} against {2} {1}", readable_number(times[1] / unit.in_ns, Zeros::keep),
                  unit.symbol, readable_number(times[0] / unit.in_ns, Zeros::keep));
  if (!pair.note.empty()) finding.reason += "; " + pair.note;
  if (pair.verdict == Verdict::slower && pair.time.ratio > most) {
    finding.outcome = Outcome::broken;
  } else if (pair.time.ratio <= most &&
             (pair.verdict != Verdict::unclear || pair.time.interval.high <= most)) {
    finding.outcome = Outcome::holds;
  } else {
    finding.outcome = Outcome::inconclusive;
    finding.reason += fmt::format("; the slow-down is between {} and {} %",
                                  signed_percent(pair.time.interval.low - 1, Digits::tenth),
                                  signed_percent(pair.time.interval.high - 1, Digits::tenth));
  }
}

/// A baseline that lacks launches lets every slow-down of these pass.
void add_unfinished(const CheckRequest& request, Check& check) {
  const Baseline& baseline = *request.baseline;
  const std::string why = why_unfinished(*baseline.reader, baseline.run);
  if (why.empty()) return;
  const std::string reason = fmt::format("of the baseline, {}", why);
  if (request.allow_unfinished) {
    check.remarks.push_back(fmt::format("Allowed: {}.", reason));
    return;
  }
  Finding finding;
  finding.kind = GateKind::baseline;
  finding.outcome = Outcome::inconclusive;
  finding.gate = gate_text(baseline);
  finding.grade = to_string(schema::Grade::unavailable);
  finding.reason = reason;
  check.findings.push_back(std::move(finding));
}

}  // namespace

void add_slowdowns(const schema::Reader& reader, const CheckRequest& request, Check& check) {
  const Baseline& baseline = *request.baseline;
  add_unfinished(request, check);
  const std::vector<LaunchGroup> before =
      read_groups(*baseline.reader, std::vector<std::int64_t>{baseline.run});
  const std::vector<LaunchGroup> now = read_groups(reader, std::vector<std::int64_t>{request.run});
  ReadableNames names;
  for (const LaunchGroup& group : now) names.add(name_of(group, now));
  std::vector<GroupPair> pairs;
  std::vector<Finding> timed;
  bool any = false, on_another_gpu = false;
  for (const LaunchGroup& group : now) {
    const LaunchName name = name_of(group, now);
    if (!request.checks(name)) continue;
    const LaunchGroup* base = partner(before, group);
    if (base == nullptr) {
      check.remarks.push_back(fmt::format("{} is not in {}.", names.of(name), baseline.name));
      continue;
    }
    if (base->launches == 0) {
      check.remarks.push_back(fmt::format("{} failed in {}: there is nothing to be slower than.",
                                          names.of(name), baseline.name));
      continue;
    }
    any = true;
    if (base->device == group.device && base->uuids != group.uuids) on_another_gpu = true;
    Finding finding = finding_on(baseline, name, names.of(name));
    const std::string why = why_not_timed(*base, group);
    if (group.launches == 0) {
      finding.outcome = Outcome::broken;
      finding.reason = "it worked in the baseline and failed here: " + group.failure;
      check.findings.push_back(std::move(finding));
    } else if (!why.empty()) {
      finding.outcome = Outcome::inconclusive;
      finding.reason = why;
      check.findings.push_back(std::move(finding));
    } else {
      pairs.push_back({{group.family, group.variant, group.grid, group.block, group.size, "", ""},
                       base,
                       &group});
      timed.push_back(std::move(finding));
    }
  }
  if (on_another_gpu) {
    check.remarks.push_back(
        "The baseline was measured on another GPU of the same model; two of them may differ by "
        "some per cent.");
  }
  // A limit below the effect that compare asks for asks for less.
  Thresholds thresholds;
  thresholds.significance = baseline.significance;
  thresholds.least_effect = std::min(thresholds.least_effect, baseline.max_slowdown);
  const std::vector<TimePair> tested = test_times(pairs, thresholds);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    judge(timed[i], tested[i], baseline.max_slowdown);
    check.findings.push_back(std::move(timed[i]));
  }
  if (any) return;
  Finding finding;
  finding.kind = GateKind::baseline;
  finding.outcome = Outcome::inconclusive;
  finding.gate = gate_text(baseline);
  finding.reason = "the baseline and the run have no launch in common";
  check.findings.push_back(std::move(finding));
}

}  // namespace warpmeter::reports
