// SPDX-License-Identifier: MIT
// The headline before any table: at most seven entries, each with the heading that has more.
//
// Entries on the run's faults (disturbed times, not all measured, failures, gaps) and what changed
// keep their places. The rest is what a person would say: of one family three entries (the best
// variant, what limits, what costs most), of several one of each kind a family, as far as there is
// room, the weightiest first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "reports/compare/compare.h"
#include "reports/disturbances.h"
#include "reports/explain/sentences.h"
#include "reports/metrics.h"
#include "reports/sections/best_variant.h"
#include "reports/sections/limits.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"

namespace warpmeter::reports::sections {
namespace {

constexpr std::size_t most_entries = 7, usual_entries = 3;

using Remarks = std::vector<Remark>;

// ---- which variants do best

Remarks best_remarks(const RunRecord& run, const std::vector<BestOfFamily>& best) {
  Remarks remarks;
  for (const BestOfFamily& family : best) {
    remarks.push_back({family.sentence, comparison_title(run, *family.group)});
  }
  for (const std::string& sentence : costliest_of_programs(run)) {
    remarks.push_back({sentence, comparisons_title});
  }
  return remarks;
}

// ---- what limits

Remarks limit_remarks(const Source& source) {
  Remarks remarks;
  for (const FamilyLimit& family : limits_of_families(source)) {
    remarks.push_back({family.text(), limits_title});
  }
  return remarks;
}

// ---- what costs most

struct Costliest {
  const ExplainedLaunch* launch = nullptr;
  bool is_best = false;

  const ExplainedFinding& finding() const { return launch->findings.front(); }
  /// Those of the best variants last, else the costliest first.
  bool operator<(const Costliest& other) const {
    const auto weight = [](const Costliest& one) {
      const ExplainedFinding& finding = one.finding();
      return std::tuple(one.is_best, finding.ideal - finding.transactions, -finding.share);
    };
    return weight(*this) < weight(other);
  }
};

/// The costliest launch of each variant, by its first finding.
std::vector<Costliest> costliest_launches(const Source& source,
                                          const std::vector<BestOfFamily>& best) {
  std::map<std::pair<std::string, std::string>, Costliest> variants;
  for (const ExplainedLaunch& launch : source.explained()) {
    // That warps wait is how every kernel is, and no fault by itself.
    if (launch.findings.empty() || launch.findings.front().kind == "waiting") continue;
    Costliest one{&launch, std::any_of(best.begin(), best.end(), [&](const BestOfFamily& family) {
                    return family.has(launch.name.family, launch.name.variant);
                  })};
    const auto [place, is_new] =
        variants.try_emplace({launch.name.family, launch.name.variant}, one);
    if (!is_new && one < place->second) place->second = one;
  }
  std::vector<Costliest> all;
  for (const auto& [variant, one] : variants) all.push_back(one);
  std::stable_sort(all.begin(), all.end());
  return all;
}

/// Variants of which the same is to be said share a sentence.
Remarks finding_remarks(const Source& source, const std::vector<BestOfFamily>& best) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;
  for (const Costliest& one : costliest_launches(source, best)) {
    const ExplainedFinding& finding = one.finding();
    const std::string figures = finding_figures(finding);
    const std::string what = finding_clause(finding) + (figures.empty() ? "" : ", " + figures);
    const auto found =
        std::find_if(said.begin(), said.end(), [&](const auto& s) { return s.first == what; });
    if (found == said.end()) {
      said.push_back({what, {one.launch->title}});
    } else {
      found->second.push_back(one.launch->title);
    }
  }
  Remarks remarks;
  for (const auto& [what, titles] : said) {
    remarks.push_back(
        {fmt::format("What costs {} most: {}.", listed(titles), what), findings_title});
  }
  return remarks;
}

/// Where there are no findings: that nothing was found, or was not looked for.
Remarks without_findings(const Source& source) {
  std::int64_t clean = 0, unknown = 0, failed = 0;
  std::string reason;
  for (const ExplainedLaunch& launch : source.explained()) {
    if (launch.failed) {
      failed += launch.launches;
    } else if (launch.is_clean()) {
      clean += launch.launches;
    } else if (!launch.reason.empty()) {
      if (unknown == 0) reason = launch.reason;
      unknown += launch.launches;
    } else {
      return {};
    }
  }
  if (unknown > 0) {
    const std::string of = clean + failed == 0 ? "any launch"
                                               : reports::counted(static_cast<std::size_t>(unknown),
                                                                  "launch", "launches");
    return {
        {fmt::format("The costliest accesses were not looked for in {} ({}).", of, reason), ""}};
  }
  if (clean == 0) return {};
  return {{fmt::format("Of what `warpmeter explain` looks for, nothing was found in {}.",
                       failed > 0 ? "the launches that ended well" : "any launch"),
           ""}};
}

// ---- what changed

std::string times_text(const Comparison& comparison) {
  const std::size_t faster = comparison.count(Verdict::faster);
  const std::size_t slower = comparison.count(Verdict::slower);
  if (comparison.times.empty()) return "";
  if (faster + slower == 0) return ", no time is faster or slower";
  return fmt::format(", {} faster and {} slower", reports::counted(faster, "time is", "times are"),
                     slower);
}

/// The change that is the largest share of what was there.
const CounterPair* largest(const std::vector<CounterPair>& pairs) {
  const auto change = [](const CounterPair& pair) {
    if (pair.change != Change::changed) return -1.0;
    return pair.base == 0 ? HUGE_VAL : std::abs(pair.contender / pair.base - 1);
  };
  const auto found = std::max_element(
      pairs.begin(), pairs.end(),
      [&](const CounterPair& a, const CounterPair& b) { return change(a) < change(b); });
  return found == pairs.end() || change(*found) < 0 ? nullptr : &*found;
}

/// The variants of a run at their sizes on their devices.
using Launched =
    std::set<std::tuple<std::string, std::string, std::string, std::optional<std::int64_t>>>;

Launched launched_in(const schema::Reader& reader, std::int64_t run,
                     const schema::LaunchKinds& kinds) {
  std::map<std::int64_t, std::string> devices;
  const schema::Rows rows = reader.query(sql::devices, run_parameter(run));
  for (const Row& row : each_row(rows)) {
    devices[row.integer("device_id").value_or(0)] = row.text("title") + "\n" + row.text("backend");
  }
  Launched launched;
  for (const schema::LaunchKind& kind : kinds.all) {
    launched.emplace(devices[kind.device_id], kind.family, kind.variant, kind.size);
  }
  return launched;
}

/// The last run before this one that launched the same variants at the same sizes on the same
/// devices, and no others. Its kinds are added to the run's.
std::optional<std::int64_t> earlier_run(const Source& source, schema::KindsByRun& kinds) {
  const schema::Reader& reader = source.reader;
  kinds[source.run.id] = source.run.kinds;
  const Launched mine = launched_in(reader, source.run.id, *source.run.kinds);
  const schema::Rows rows = reader.query(sql::earlier_runs, run_parameter(source.run.id));
  for (const Row& row : each_row(rows)) {
    const std::int64_t run = row.integer("run_id").value_or(0);
    const auto of_run =
        std::make_shared<const schema::LaunchKinds>(schema::read_kinds(reader, run));
    if (launched_in(reader, run, *of_run) != mine) continue;
    kinds[run] = of_run;
    return run;
  }
  return std::nullopt;
}

Remarks change_remarks(const Source& source) {
  CompareRequest request;
  const std::optional<std::int64_t> found = earlier_run(source, request.kinds);
  if (!found) return {};
  const std::int64_t earlier = *found;
  request.names = {std::to_string(earlier), std::to_string(source.run.id)};
  Comparison comparison;
  try {
    comparison = compare(source.reader, request);
  } catch (const Error& error) {
    if (error.code() == ExitCode::nothing) return {};  // no launch of one geometry
    throw;
  }
  if (comparison.counters_compared == 0 && comparison.times.empty()) return {};
  const std::string since = "Since " + run_name(source.reader, earlier) + ",";
  const std::string command = fmt::format("`warpmeter compare {} {}`", earlier, source.run.id);
  const CounterPair* most = largest(comparison.counters);
  std::string text;
  if (most == nullptr) {
    text =
        comparison.counters_compared == 0
            ? " no counter could be compared"
            : fmt::format(" no counter of {} changed",
                          grouped_number(static_cast<std::int64_t>(comparison.counters_compared)));
  } else {
    text = fmt::format(" {} changed, most {} of {}, from {} to {}",
                       reports::counted(comparison.count(Change::changed), "counter or metric",
                                        "counters and metrics"),
                       most->metric, most->name.text(), readable_number(most->base, Zeros::trim),
                       readable_number(most->contender, Zeros::trim));
  }
  return {{fmt::format("{}{}{} ({}).", since, text, times_text(comparison), command), ""}};
}

// ---- what is not there

Remarks failure_remarks(const Source& source) {
  Remarks remarks;
  const std::string felt = felt_in_words(disturbances_of(source.reader, source.run.id));
  if (!felt.empty()) {
    remarks.push_back(
        {fmt::format("Something may have disturbed the times: {}.", felt), run_title});
  }
  const std::string why = why_unfinished(source.reader, source.run.id);
  if (!why.empty()) {
    remarks.push_back({fmt::format("Not all was measured: {}.", why), run_title});
  }
  std::vector<std::string> names;
  std::size_t failed = 0;
  for (const LaunchRecord& launch : source.run.launches) {
    if (!launch.failed) continue;
    failed += launch.count;
    std::string name = source.run.name_of(launch);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (failed == 0) return remarks;
  remarks.push_back(
      {fmt::format("{} of {} failed: {}.", grouped_number(static_cast<std::int64_t>(failed)),
                   reports::counted(source.run.kinds->ids.size(), "launch", "launches"),
                   listed(names)),
       failures_title});
  return remarks;
}

/// A metric whose counters are all there has no value because there is nothing to divide by.
bool is_undefined(const RunRecord& run, const Unavailable& gap) {
  return std::all_of(gap.metrics.begin(), gap.metrics.end(), [&](const std::string& metric) {
    const std::set<std::string> inputs = inputs_of(metric);
    return !inputs.empty() &&
           std::all_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
             return run.launches[gap.launches.front()].has_value(input);
           });
  });
}

/// "gld_throughput has", "gld_throughput and gst_throughput have"
std::string have(const Unavailable& gap) {
  return listed(gap.metrics) + (gap.metrics.size() == 1 ? " has" : " have");
}

/// The words of a reason that ask for a GPU: the model has no such figure of any kernel.
constexpr std::string_view on_a_gpu = "; run on a GPU for ";

bool needs_gpu(const Unavailable& gap) { return gap.reason.find(on_a_gpu) != std::string::npos; }

/// "16 figures need a GPU; the section Unavailable says why.": many names say less than their
/// number. Nothing where they are few.
std::string figures_of_a_gpu(const std::vector<Unavailable>& gaps) {
  constexpr std::size_t most_named = 4;
  std::set<std::string> figures;
  for (const Unavailable& gap : gaps) {
    if (needs_gpu(gap)) figures.insert(gap.metrics.begin(), gap.metrics.end());
  }
  if (figures.size() <= most_named) return "";
  const auto others = static_cast<std::size_t>(
      std::count_if(gaps.begin(), gaps.end(), [](const auto& gap) { return !needs_gpu(gap); }));
  return fmt::format("{} figures need a GPU{}; the section {} says why.", figures.size(),
                     others == 0
                         ? ""
                         : fmt::format(", others lack a value for {}",
                                       reports::counted(others, "other reason", "other reasons")),
                     unavailable_title);
}

/// The reason for which most is missing, and the other one, or how many others there are.
Remarks unavailable_remarks(const RunRecord& run) {
  std::vector<Unavailable> gaps = unavailable_figures(run);
  std::erase_if(gaps, [&](const Unavailable& gap) { return is_undefined(run, gap); });
  if (gaps.empty()) return {};
  if (std::string text = figures_of_a_gpu(gaps); !text.empty()) {
    return {{std::move(text), unavailable_title}};
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Unavailable& a, const Unavailable& b) {
    return a.count * a.metrics.size() > b.count * b.metrics.size();
  });
  const auto place = [](const Unavailable& gap) {
    return gap.where.starts_with("every launch") ? "" : " in " + gap.where;
  };
  std::string text =
      fmt::format("{} no value{}: {}", have(gaps[0]), place(gaps[0]), gaps[0].reason);
  if (gaps.size() == 2) {
    const std::string& reason = gaps[1].reason;
    text += fmt::format("; {} none{}: {}", have(gaps[1]), place(gaps[1]),
                        reason.substr(0, reason.find("; ")));
  } else if (gaps.size() > 2) {
    text += fmt::format("; other figures have none for {} other reasons", gaps.size() - 1);
  }
  return {{text + ".", unavailable_title}};
}

void take(Remarks& from, std::size_t count, Remarks& to) {
  for (std::size_t i = 0; i < std::min(count, from.size()); ++i) to.push_back(std::move(from[i]));
}

}  // namespace

void add_headline(Document& document, const Source& source) {
  Remarks last = change_remarks(source);
  for (Remarks more : {failure_remarks(source), unavailable_remarks(source.run)}) {
    take(more, more.size(), last);
  }
  const std::vector<BestOfFamily> families = best_of_families(source.run);
  Remarks best = best_remarks(source.run, families), found = finding_remarks(source, families);
  if (found.empty()) found = without_findings(source);
  Remarks limits = limit_remarks(source);
  // Each family has a claim to its best variant and its limit, and a finding to the rest.
  const std::size_t room = std::min(most_entries - last.size(),
                                    std::max(usual_entries, best.size() + limits.size() + 1));
  const std::size_t of_limits = std::min(limits.size(), std::max<std::size_t>(room / 3, 1));
  const std::size_t others = room - of_limits;
  const std::size_t of_best =
      std::max(others - others / 2, others - std::min(others, found.size()));
  Remarks all;
  take(best, of_best, all);
  take(limits, room - std::min(room, all.size() + std::min(others - all.size(), found.size())),
       all);
  take(found, room - all.size(), all);
  take(last, last.size(), all);
  if (all.empty()) return;
  add_title(document, source);
  document.heading(2, "In short");
  for (Remark& remark : all) document.remark(std::move(remark));
}

}  // namespace warpmeter::reports::sections
