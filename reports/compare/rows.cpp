// SPDX-License-Identifier: MIT
#include "reports/compare/rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "reports/compare/findings.h"
#include "reports/record.h"
#include "reports/table/json.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

constexpr int json_version = 1;

std::vector<Column> row_columns() {
  return {Column::text("kind"),
          Column::text("family"),
          Column::text("variant"),
          Column::number("size", "", "", Kind::exact),
          Column::text("grid"),
          Column::text("block"),
          Column::text("base_is"),
          Column::text("contender_is"),
          Column::text("metric"),
          Column::text("unit"),
          Column::number("base", "", "", Kind::exact),
          Column::number("contender", "", "", Kind::exact),
          Column::number("ratio", "", "", Kind::exact),
          Column::number("ratio_low", "", "", Kind::exact),
          Column::number("ratio_high", "", "", Kind::exact),
          Column::number("p_value", "", "", Kind::exact),
          Column::number("samples_needed", "", "", Kind::exact),
          Column::text("verdict"),
          Column::text("note")};
}

std::vector<Cell> row_start(const char* kind, const PairName& name) {
  return {kind,
          name.family,
          name.variant,
          name.size ? Cell(*name.size) : Cell(Missing{}),
          name.grid,
          name.block,
          name.base.empty() ? Cell(Missing{}) : Cell(name.base),
          name.contender.empty() ? Cell(Missing{}) : Cell(name.contender)};
}

void add_test(Table& table, const TimePair& pair, const TimeTest& test, const char* metric,
              const char* unit, Verdict verdict) {
  std::vector<Cell> row = row_start("time", pair.name);
  for (Cell cell :
       {Cell(metric), Cell(unit), Cell(test.base), Cell(test.contender), Cell(test.ratio),
        Cell(test.interval.low), Cell(test.interval.high), Cell(test.p_value),
        pair.samples_needed ? Cell(static_cast<std::int64_t>(*pair.samples_needed))
                            : Cell(Missing{}),
        Cell(std::string(to_string(verdict))),
        pair.note.empty() ? Cell(Missing{}) : Cell(pair.note)}) {
    row.push_back(std::move(cell));
  }
  table.rows.push_back(std::move(row));
}

Table time_rows(const Comparison& comparison) {
  Table table;
  table.columns = row_columns();
  for (const TimePair& pair : comparison.times) {
    add_test(table, pair, pair.time, "duration", "ns", pair.verdict);
    if (pair.cycles) {
      add_test(table, pair, *pair.cycles, "cycles", "cycles", pair.cycles->verdict);
    }
  }
  return table;
}

Table counter_rows(const Comparison& comparison) {
  Table table;
  table.columns = row_columns();
  for (const CounterPair& pair : comparison.counters) {
    std::vector<Cell> row = row_start("counter", pair.name);
    row.insert(row.end(), {Cell(pair.metric), pair.unit.empty() ? Cell(Missing{}) : Cell(pair.unit),
                           Cell(pair.base), Cell(pair.contender),
                           pair.base == 0 ? Cell(Missing{}) : Cell(pair.contender / pair.base),
                           Cell(Missing{}), Cell(Missing{}), Cell(Missing{}), Cell(Missing{}),
                           Cell(std::string(to_string(pair.change))),
                           pair.note.empty() ? Cell(Missing{}) : Cell(pair.note)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table finding_rows(const Comparison& comparison) {
  Table table;
  table.columns = row_columns();
  const auto exact = [](const std::optional<ExplainedFinding>& finding, bool is_counted) -> Cell {
    if (!finding) return Missing{};
    return is_counted ? Cell(finding->transactions) : Cell(finding->share);
  };
  for (const FindingPair& pair : comparison.findings) {
    const ExplainedFinding& finding = pair.contender ? *pair.contender : *pair.base;
    const bool is_counted = finding.transactions > 0;
    std::string note = finding.place();
    if (const std::string array = array_of(finding); !array.empty()) {
      note += (note.empty() ? "" : ", ") + array;
    }
    std::vector<Cell> row = row_start("finding", pair.name);
    row.insert(row.end(), {Cell(finding.kind), Cell(is_counted ? "transactions" : "%"),
                           exact(pair.base, is_counted), exact(pair.contender, is_counted),
                           Cell(Missing{}), Cell(Missing{}), Cell(Missing{}), Cell(Missing{}),
                           Cell(Missing{}), Cell(std::string(to_string(pair.change))),
                           note.empty() ? Cell(Missing{}) : Cell(note)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// A row for each resource that limits a side; one without values where it is unknown.
Table limit_rows(const Comparison& comparison) {
  Table table;
  table.columns = row_columns();
  const auto add = [&](const LimitPair& pair, Cell resource, Cell unit, Cell base, Cell contender,
                       Cell ratio, const char* verdict) {
    std::vector<Cell> row = row_start("limit", pair.name);
    for (Cell cell : {std::move(resource), std::move(unit), std::move(base), std::move(contender),
                      std::move(ratio), Cell(Missing{}), Cell(Missing{}), Cell(Missing{}),
                      Cell(Missing{}), Cell(verdict), Cell(pair.sentence)}) {
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  };
  for (const LimitPair& pair : comparison.limits) {
    for (const NeedPair& need : pair.needs) {
      add(pair, need.resource, need.unit, need.base, need.contender,
          need.base == 0 ? Cell(Missing{}) : Cell(need.contender / need.base),
          need.contender < need.base   ? "less"
          : need.contender > need.base ? "more"
                                       : "same");
    }
    if (pair.needs.empty()) {
      add(pair, Missing{}, Missing{}, Missing{}, Missing{}, Missing{}, "unknown");
    }
  }
  return table;
}

Table leftover_rows(const Comparison& comparison) {
  Table table;
  table.columns = {Column::text("what"), Column::text("why")};
  for (const Leftover& leftover : comparison.leftovers) {
    table.rows.push_back({leftover.what, leftover.reason});
  }
  return table;
}

std::string json_side(const Side& side) {
  return json_text(
      nlohmann::json{{"name", side.name}, {"runs", side.runs}, {"measured", side.about}});
}

}  // namespace

std::string json_of(const Comparison& comparison) {
  nlohmann::json counts;
  counts["significance"] = comparison.thresholds.significance;
  counts["least_effect"] = comparison.thresholds.least_effect;
  counts["pairs"] = comparison.pairs;
  counts["untimed_pairs"] = comparison.untimed_pairs;
  counts["counters_compared"] = comparison.counters_compared;
  for (const Verdict verdict :
       {Verdict::slower, Verdict::faster, Verdict::same, Verdict::unclear}) {
    counts[std::string(to_string(verdict))] = comparison.count(verdict);
  }
  counts["changed"] = comparison.count(Change::changed);
  return fmt::format(
      "{{\n  \"schema_version\": {},\n  \"base\": {},\n  \"contender\": {},\n  \"summary\": {},\n"
      "  \"remarks\": {},\n  \"times\": {},\n  \"counters\": {},\n  \"findings\": {},\n  "
      "\"limits\": {},\n  "
      "\"not_compared\": "
      "{}\n}}\n",
      json_version, json_side(comparison.base), json_side(comparison.contender), counts.dump(),
      json_text(nlohmann::json(comparison.remarks)), json_array(time_rows(comparison), "  "),
      json_array(counter_rows(comparison), "  "), json_array(finding_rows(comparison), "  "),
      json_array(limit_rows(comparison), "  "), json_array(leftover_rows(comparison), "  "));
}

std::string csv_of(const Comparison& comparison) {
  Table all = time_rows(comparison);
  Table counters = counter_rows(comparison);
  for (auto& row : counters.rows) all.rows.push_back(std::move(row));
  Table findings = finding_rows(comparison);
  for (auto& row : findings.rows) all.rows.push_back(std::move(row));
  Table limits = limit_rows(comparison);
  for (auto& row : limits.rows) all.rows.push_back(std::move(row));
  return render_csv(all);
}

}  // namespace warpmeter::reports
