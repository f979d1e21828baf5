// SPDX-License-Identifier: MIT
// A comparison as people read it: what differs, rounded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/with_noun.h"
#include "reports/compare/compare.h"
#include "reports/compare/findings.h"
#include "reports/compare/rows.h"
#include "reports/document.h"
#include "reports/explain/sentences.h"
#include "reports/record.h"
#include "reports/table/json.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

std::string findings_summary(const Comparison& comparison) {
  if (comparison.findings.empty() && comparison.same_findings == 0) return "";
  std::vector<std::string> parts;
  for (const FindingChange change : {FindingChange::came, FindingChange::went, FindingChange::worse,
                                     FindingChange::better, FindingChange::same}) {
    const auto count =
        change == FindingChange::same
            ? static_cast<std::ptrdiff_t>(comparison.same_findings)
            : std::count_if(comparison.findings.begin(), comparison.findings.end(),
                            [&](const FindingPair& pair) { return pair.change == change; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(change)));
  }
  return fmt::format(" Findings: {}.", fmt::join(parts, ", "));
}

std::string summary(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const Verdict verdict :
       {Verdict::slower, Verdict::faster, Verdict::same, Verdict::unclear}) {
    if (const std::size_t count = comparison.count(verdict); count > 0) {
      parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
    }
  }
  std::string text = counted(comparison.pairs, "pair. ", "pairs. ");
  if (!parts.empty()) text += fmt::format("Times: {}. ", fmt::join(parts, ", "));
  if (comparison.untimed_pairs > 0) {
    text += comparison.pairs == 1
                ? fmt::format("It has no time on either side ({}). ", comparison.untimed_reason)
                : fmt::format("{} of them without a time on either side ({}). ",
                              comparison.untimed_pairs, comparison.untimed_reason);
  }
  if (comparison.counters_compared > 0) {
    const std::size_t changed = comparison.count(Change::changed);
    text +=
        changed == 0
            ? fmt::format("No counter of {} changed{}.",
                          grouped_number(static_cast<std::int64_t>(comparison.counters_compared)),
                          comparison.counters.empty() ? "" : " for certain")
            : fmt::format("{} changed.",
                          counted(changed, "counter or metric", "counters and metrics"));
  } else {
    text += "No counter was read on both sides.";
  }
  text += findings_summary(comparison);
  return text;
}

std::string percent(double ratio) { return signed_percent(ratio - 1, Digits::tenth); }

std::string verdict_text(const TimePair& pair) {
  std::string text(to_string(pair.verdict));
  if (!pair.note.empty()) text += ": " + pair.note;
  return text;
}

Table time_table(const Comparison& comparison) {
  std::vector<double> durations;
  bool in_cycles = false;
  for (const TimePair& pair : comparison.times) {
    durations.push_back(pair.time.base);
    durations.push_back(pair.time.contender);
    in_cycles = in_cycles || pair.cycles;
  }
  const DurationUnit unit = duration_unit(durations);
  Table table;
  const std::string symbol(unit.symbol);
  table.columns = {Column::text("launch"), Column::number("base", "", symbol, Kind::reading),
                   Column::number("contender", "", symbol, Kind::reading),
                   Column::number("change", "", "%", Kind::text),
                   Column::number("interval", "95 % interval", "%", Kind::text)};
  if (in_cycles) table.columns.push_back(Column::number("cycles", "in cycles", "%", Kind::text));
  table.columns.push_back(Column::number("p_value", "p", "", Kind::text));
  table.columns.push_back(Column::text("verdict"));
  for (const TimePair& pair : comparison.times) {
    const TimeTest& time = pair.time;
    std::vector<Cell> row = {
        pair.name.text(), time.base / unit.in_ns, time.contender / unit.in_ns, percent(time.ratio),
        fmt::format("{} to {}", percent(time.interval.low), percent(time.interval.high))};
    if (in_cycles) row.push_back(pair.cycles ? Cell(percent(pair.cycles->ratio)) : Cell(Missing{}));
    row.push_back(time.p_value < 1e-4 ? "< 0.0001" : fmt::format("{:.4f}", time.p_value));
    row.push_back(verdict_text(pair));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Cell count_cell(double value, const std::optional<Range>& spread, const std::string& grade) {
  Cell cell(value);
  cell.range = spread;
  cell.mark = mark_of(grade);
  return cell;
}

Cell change_in_percent(const CounterPair& pair) {
  if (pair.base == 0) return Missing{"the base is 0"};
  return signed_percent(pair.contender / pair.base - 1);
}

Table counter_table(const Comparison& comparison) {
  Table table;
  table.columns = {Column::text("launch"),
                   Column::text("counter or metric"),
                   Column::text("unit"),
                   Column::number("base", "", "", Kind::quotient),
                   Column::number("contender", "", "", Kind::quotient),
                   Column::number("change", "", "%", Kind::text),
                   Column::text("verdict")};
  for (const CounterPair& pair : comparison.counters) {
    std::string verdict(to_string(pair.change));
    if (!pair.note.empty()) verdict += ": " + pair.note;
    table.rows.push_back({pair.name.text(), pair.metric, pair.unit,
                          count_cell(pair.base, pair.base_spread, pair.base_grade),
                          count_cell(pair.contender, pair.contender_spread, pair.contender_grade),
                          change_in_percent(pair), std::move(verdict)});
  }
  return table;
}

/// The cost of a finding: transactions, or of the launch as a whole a share.
Cell cost_cell(const std::optional<ExplainedFinding>& finding) {
  if (!finding) return Missing{};
  if (finding->transactions > 0) return grouped_number(finding->transactions);
  return finding->share > 0 ? Cell(readable_number(finding->share, Zeros::trim) + " %")
                            : Cell(Missing{});
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell(Missing{}) : Cell(text); }

Table finding_table(const Comparison& comparison) {
  Table table;
  table.columns = {Column::text("launch"),
                   Column::text("change", "", Kind::verdict),
                   Column::text("finding"),
                   Column::text("line"),
                   Column::text("access"),
                   Column::number("base", "", "transactions", Kind::text),
                   Column::number("contender", "", "transactions", Kind::text)};
  for (const FindingPair& pair : comparison.findings) {
    const ExplainedFinding& finding = pair.contender ? *pair.contender : *pair.base;
    table.rows.push_back({pair.name.text(), std::string(to_string(pair.change)),
                          kind_in_words(finding.kind), text_cell(finding.place()),
                          text_cell(array_of(finding)), cost_cell(pair.base),
                          cost_cell(pair.contender)});
  }
  return table;
}

/// Pairs that are unknown for one reason, together.
void add_unknown_limits(Document& document, const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> names;  // by reason
  for (const LimitPair& pair : comparison.limits) {
    if (!pair.needs.empty()) continue;
    auto known = std::find_if(names.begin(), names.end(),
                              [&](const auto& one) { return one.first == pair.sentence; });
    if (known == names.end()) known = names.insert(names.end(), {pair.sentence, {}});
    known->second.push_back(pair.name.text());
  }
  for (const auto& [reason, pairs] : names) {
    document.remark(
        {fmt::format("Nobody knows what limits {}: {}.",
                     pairs.size() == 1 ? pairs.front() : with_noun(pairs.size(), "pair"), reason),
         ""});
  }
}

std::string limits_text(const Comparison& comparison) {
  std::string text =
      "The model has no clock. It counts the cycles that each resource needs at the rate that "
      "NVIDIA documents; the resource that needs the most is the limit.";
  if (!comparison.uncounted.empty()) {
    text += fmt::format(" These have no count here, and may need more: {}.",
                        fmt::join(comparison.uncounted, ", "));
  }
  return text;
}

/// A sentence a pair; pairs without a difference have one together.
void add_limits(Document& document, const Comparison& comparison) {
  constexpr std::size_t most_sentences = 40;
  if (comparison.limits.empty()) return;
  document.heading(2, "Limits");
  if (std::any_of(comparison.limits.begin(), comparison.limits.end(),
                  [](const LimitPair& pair) { return !pair.needs.empty(); })) {
    document.paragraph(limits_text(comparison));
  }
  std::size_t sentences = 0, alike = 0;
  for (const LimitPair& pair : comparison.limits) {
    if (pair.needs.empty()) continue;
    if (pair.is_alike && comparison.pairs > 1) {
      ++alike;
    } else if (sentences++ < most_sentences) {
      document.remark({fmt::format("{}: {}", pair.name.text(), pair.sentence), ""});
    }
  }
  if (sentences > most_sentences) {
    document.remark({counted(sentences - most_sentences, "more pair has", "more pairs have") +
                         " a sentence: `compare --format json` has all.",
                     ""});
  }
  if (alike > 0) {
    document.remark({counted(alike, "pair needs", "pairs need") +
                         " the same on both sides of each resource that has a count.",
                     ""});
  }
  add_unknown_limits(document, comparison);
}

Document document_of(const Comparison& comparison) {
  Document document;
  document.heading(1,
                   fmt::format("{} against {}", comparison.contender.name, comparison.base.name));
  document.facts({{{"side", "measured"},
                   {"base", fmt::format("{}: {}", comparison.base.name, comparison.base.about)},
                   {"contender", fmt::format("{}: {}", comparison.contender.name,
                                             comparison.contender.about)}}});
  std::string text = summary(comparison);
  for (const std::string& remark : comparison.remarks) text += " " + remark;
  document.paragraph(text);
  if (!comparison.times.empty()) {
    document.heading(2, "Times");
    document.paragraph(fmt::format(
        "Medians; above 0 % the contender is slower. A change needs a p-value of at most {:.6g} "
        "(Mann–Whitney U and the shift between sessions, corrected for the number of rows) and "
        "{:.6g} % or a tick of the clock, whichever is more. Several runs of one side are compared "
        "together with --by label.",
        comparison.thresholds.significance, 100 * comparison.thresholds.least_effect));
    document.table(time_table(comparison));
  }
  add_limits(document, comparison);
  if (!comparison.counters.empty()) {
    document.heading(2, "Counters that differ");
    document.table(counter_table(comparison));
  }
  if (!comparison.findings.empty()) {
    document.heading(2, "Findings");
    document.paragraph(
        "What warpmeter explain finds in the launches of both sides, and what differs: it came or "
        "went, or stayed and costs more (worse) or less (better) than before.");
    document.table(finding_table(comparison));
  }
  if (!comparison.leftovers.empty()) {
    document.heading(2, "Not compared");
    Table table;
    table.columns = {Column::text("what"), Column::text("why")};
    for (const Leftover& leftover : comparison.leftovers) {
      table.rows.push_back({leftover.what, leftover.reason});
    }
    document.table(std::move(table));
  }
  return document;
}

}  // namespace

std::string render(const Comparison& comparison, Format format, std::size_t width) {
  if (format == Format::csv) return csv_of(comparison);
  if (format == Format::json) return json_of(comparison);
  const Document document = document_of(comparison);
  if (format == Format::html) return document_html(document);
  return format == Format::table ? document_text(document, width) : document_markdown(document);
}

}  // namespace warpmeter::reports
