// SPDX-License-Identifier: MIT
#include "collector/cli/tables/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/with_noun.h"
#include "collector/cli/tables/findings_sarif.h"
#include "collector/cli/tables/lines_tables.h"
#include "collector/cli/tables/profile_tables.h"
#include "reports/record.h"
#include "reports/table/json.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"

namespace warpmeter::cli {
namespace {

using reports::Cell;
using reports::Column;
using reports::Kind;
using reports::Table;

/// "transpose_tiled, grid 64 x 64 x 1, block 16 x 16 x 1"
std::string title_of(const schema::Launch& launch) {
  const auto& g = launch.grid;
  const auto& b = launch.block;
  const std::string shared = launch.dynamic_shared_bytes > 0
                                 ? fmt::format(", {} of dynamic shared memory",
                                               with_noun(launch.dynamic_shared_bytes, "byte"))
                                 : "";
  return fmt::format("{}, grid {} x {} x {}, block {} x {} x {}{}", launch.variant, g[0], g[1],
                     g[2], b[0], b[1], b[2], shared);
}

Cell cell_of(const std::optional<double>& number) {
  return number ? Cell(*number) : Cell(reports::Missing{});
}

Cell text_or_missing(const std::string& text) {
  return text.empty() ? Cell(reports::Missing{}) : Cell(text);
}

/// Metrics of a launch, or of all; `id`: 0 for all.
Table metrics_table(const schema::Reader& reader, const ModelAnswer& answer, std::int64_t id,
                    bool for_people) {
  Table table;
  if (!for_people) {
    table.columns = {Column::number("launch_id", "", "", Kind::exact), Column::text("variant")};
  }
  table.columns.insert(table.columns.end(),
                       {Column::text("metric"), Column::number("value", "", "", Kind::quotient),
                        Column::text("unit"), Column::text("grade"), Column::text("reason")});
  const schema::Rows rows = reader.query(
      "SELECT launch_id, variant, metric, value, unit, grade, reason FROM results "
      "WHERE run_id = :run AND (:id = 0 OR launch_id = :id) ORDER BY launch_id",
      {{":run", answer.run_id}, {":id", id}});
  // People see what they asked for; a program gets the counters behind it as well.
  const std::vector<ShownMetric> shown = shown_metrics(answer.metrics);
  for (const reports::Row& row : reports::each_row(rows)) {
    const auto value = row.number("value");
    const std::string metric = row.text("metric");
    const auto asked = std::find_if(shown.begin(), shown.end(),
                                    [&](const ShownMetric& each) { return each.name == metric; });
    const bool is_shown = asked != shown.end() && (!asked->where_any || value != 0.0);
    if (for_people && (!is_shown || (!value && answer.is_default))) continue;
    const schema::MetricInfo* info = schema::Catalogue::get().find_metric(metric);
    if (asked == shown.end() && info != nullptr && info->is_resource) continue;
    std::vector<Cell> cells;
    if (!for_people) cells = {row.integer("launch_id").value_or(0), row.text("variant")};
    const bool is_count = value && *value == static_cast<double>(static_cast<std::int64_t>(*value));
    cells.insert(cells.end(),
                 {metric, is_count ? Cell(static_cast<std::int64_t>(*value)) : cell_of(value),
                  text_or_missing(row.text("unit")), row.text("grade"),
                  text_or_missing(row.text("reason"))});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// By their places in the source.
Table findings_of(const ModelAnswer& answer, std::size_t first, std::size_t count,
                  bool for_people) {
  std::vector<ShownFinding> shown;
  for (std::size_t i = first; i < first + count && i < answer.outcomes.size(); ++i) {
    const auto of_launch = shown_findings(answer.outcomes[i]);
    shown.insert(shown.end(), of_launch.begin(), of_launch.end());
  }
  return findings_table(shown, {.launch = !for_people, .ptx_line = true});
}

/// The coverage of a launch's findings: never a bare "no mistake".
std::string checked_text(const model::SessionOutcome& outcome, bool is_verbose) {
  const bool is_clean = outcome.findings.empty();
  const auto& block = outcome.launch.block;
  return fmt::format("{} in this launch ({}, {} threads each, this input): {}",
                     is_clean ? "Nothing was found of what was looked for" : "Looked for",
                     outcome.checked.blocks.empty() ? "all blocks" : outcome.checked.blocks,
                     block[0] * block[1] * block[2],
                     coverage_text(outcome.checked, {}, is_verbose));
}

/// The same for programs.
Table checked_table(const ModelAnswer& answer) {
  Table table;
  table.columns = {Column::text("variant"),
                   Column::number("mistakes", "", "", Kind::count),
                   Column::number("remarks", "", "", Kind::count),
                   Column::text("blocks"),
                   Column::text("looked_for"),
                   Column::text("not_looked_for")};
  for (const model::SessionOutcome& outcome : answer.outcomes) {
    const auto remarks = std::count_if(outcome.findings.begin(), outcome.findings.end(),
                                       [](const auto& finding) { return finding.is_remark(); });
    table.rows.push_back(
        {outcome.launch.variant, static_cast<std::int64_t>(outcome.findings.size()) - remarks,
         static_cast<std::int64_t>(remarks),
         outcome.checked.blocks.empty() ? "all" : outcome.checked.blocks,
         fmt::format("{}", fmt::join(model::check::looked_for(), "; ")),
         fmt::format("{}", fmt::join(model::check::not_looked_for(outcome.checked), "; "))});
  }
  return table;
}

std::string sarif_of(const ModelAnswer& answer) {
  std::vector<ShownFinding> shown;
  for (const model::SessionOutcome& outcome : answer.outcomes) {
    const auto of_launch = shown_findings(outcome);
    shown.insert(shown.end(), of_launch.begin(), of_launch.end());
  }
  reports::SarifLog log = findings_sarif(shown, false);
  for (const model::SessionOutcome& outcome : answer.outcomes) {
    const std::string name = title_of(outcome.launch);
    log.notes.push_back(fmt::format("{}: {}", name, checked_text(outcome, answer.verbose)));
    if (outcome.launch.outcome == schema::LaunchOutcome::failed) {
      log.failures.push_back(fmt::format("{} failed: {}", name, outcome.launch.reason));
    }
  }
  return reports::render_sarif(log);
}

/// Counters that differ between blocks, of those that were run. The grid's cost if the others cost
/// no less, and no more, than those: a block that is left out may.
Table ranges_table(const ModelAnswer& answer, std::size_t first, std::size_t count,
                   bool for_people) {
  Table table;
  if (!for_people) table.columns = {Column::text("variant")};
  table.columns.insert(
      table.columns.end(),
      {Column::text("counter"), Column::number("block_least", "least of a block", "", Kind::count),
       Column::number("block_most", "most of a block", "", Kind::count),
       Column::number("grid_low", "grid, if all cost the least", "", Kind::count),
       Column::number("grid_high", "grid, if all cost the most", "", Kind::count)});
  const auto whole = [](double number) { return static_cast<std::int64_t>(std::llround(number)); };
  for (std::size_t i = first; i < first + count && i < answer.outcomes.size(); ++i) {
    for (const model::Estimate::Range& range : answer.outcomes[i].ranges) {
      std::vector<Cell> cells;
      if (!for_people) cells.emplace_back(answer.outcomes[i].launch.variant);
      cells.insert(cells.end(), {range.counter, whole(range.least), whole(range.most),
                                 whole(range.low), whole(range.high)});
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

/// "32 registers and 56 bytes of local memory a thread, …: occupancy 50 % at most, limited by
/// registers."
std::string resources_text(const schema::Reader& reader, std::int64_t id) {
  const schema::Rows rows = reader.query(
      "SELECT registers, local_bytes, static_shared_bytes, theoretical_occupancy, "
      "occupancy_limiter, resources_reason FROM launches WHERE launch_id = :id",
      {{":id", id}});
  const reports::Row row = reports::each_row(rows).at(0);
  const auto count = [&](std::string_view column) {
    return reports::grouped_number(row.integer(column).value_or(0));
  };
  std::string text;
  if (row.integer("registers")) {
    text = with_noun(count("registers"), "register");
    if (row.integer("local_bytes")) {
      text += fmt::format(" and {} of local memory", with_noun(count("local_bytes"), "byte"));
    }
    text += fmt::format(" a thread, {} of static shared memory a block",
                        with_noun(count("static_shared_bytes"), "byte"));
  }
  const auto occupancy = row.number("theoretical_occupancy");
  if (!occupancy) {
    const std::string why = fmt::format("occupancy not known: {}", row.text("resources_reason"));
    return text.empty() ? fmt::format("Registers and {}.", why) : fmt::format("{}; {}.", text, why);
  }
  const std::string limiter = row.text("occupancy_limiter");
  return fmt::format("{}; theoretical occupancy {} %{}.", text,
                     reports::readable_number(*occupancy, reports::Zeros::trim),
                     limiter == "none" ? "" : ", limited by " + limiter);
}

std::vector<std::int64_t> launch_ids(const schema::Reader& reader, std::int64_t run_id) {
  std::vector<std::int64_t> ids;
  const schema::Rows rows = reader.query(
      "SELECT launch_id FROM launches WHERE run_id = :run ORDER BY launch_id", {{":run", run_id}});
  for (const auto& row : rows.rows) ids.push_back(std::get<std::int64_t>(row.at(0)));
  return ids;
}

/// Tables for people leave out a column that says nothing.
void drop_empty_column(Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name != name) continue;
    const bool is_empty = std::all_of(table.rows.begin(), table.rows.end(),
                                      [&](const auto& row) { return row[i].missing(); });
    if (!is_empty) return;
    const auto at = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    return;
  }
}

reports::Document document_of(const schema::Reader& reader, const ModelAnswer& answer) {
  reports::Document document;
  const std::vector<std::int64_t> ids = launch_ids(reader, answer.run_id);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const model::SessionOutcome& outcome = answer.outcomes.at(i);
    const schema::Launch& launch = outcome.launch;
    document.heading(2, title_of(launch));
    if (answer.check) {
      Table findings = findings_of(answer, i, 1, true);
      if (!findings.rows.empty()) document.table(std::move(findings));
      document.paragraph(checked_text(outcome, answer.verbose));
    }
    if (!outcome.coverage.empty()) {
      document.paragraph(fmt::format(
          "Estimated from {}.{}", outcome.coverage,
          outcome.ranges.empty()
              ? " Those of one part cost the same; those left out may not."
              : " Blocks differ; the bounds hold if those left out cost no less and no more than "
                "those that ran:"));
      if (!outcome.ranges.empty()) document.table(ranges_table(answer, i, 1, true));
    }
    if (launch.outcome == schema::LaunchOutcome::failed) {
      document.paragraph(fmt::format("failed: {}", launch.reason));
      continue;
    }
    document.paragraph(resources_text(reader, ids[i]));
    Table metrics = metrics_table(reader, answer, ids[i], true);
    drop_empty_column(metrics, "reason");
    document.table(std::move(metrics));
    if (!answer.lines) continue;
    Table lines = lines_table(reader, answer.run_id, ids[i], true);
    if (lines.rows.empty()) {
      document.paragraph("No line reads or writes shared or global memory.");
    } else {
      document.table(std::move(lines));
    }
  }
  return document;
}

}  // namespace

std::vector<ShownFinding> shown_findings(std::span<const model::check::Finding> findings,
                                         const std::string& launch) {
  std::vector<ShownFinding> shown;
  for (const model::check::Finding& finding : findings) {
    ShownFinding& row = shown.emplace_back();
    row.launch = launch;
    row.finding = to_string(finding.defect);
    if (finding.place.line > 0) {
      row.place = fmt::format("{}:{}", finding.file, finding.place.line);
    }
    row.is_remark = finding.is_remark();
    row.ptx_line = finding.place.ptx_line;
    row.times = finding.times;
    row.message = finding.message;
    if (finding.other_line > 0) {
      row.other = fmt::format("{}:{}", finding.other_file, finding.other_line);
    }
  }
  return shown;
}

std::vector<ShownFinding> shown_findings(const model::SessionOutcome& outcome) {
  return shown_findings(outcome.findings, outcome.launch.variant);
}

std::string render_answer(const schema::Reader& reader, const ModelAnswer& answer,
                          const std::string& format, std::size_t width) {
  if (format == "markdown") return reports::document_markdown(document_of(reader, answer));
  if (format == "table") return reports::document_text(document_of(reader, answer), width);
  if (format == "html") return reports::document_html(document_of(reader, answer));
  if (format == "sarif") return sarif_of(answer);
  if (format == "csv") {
    if (answer.check) {
      return reports::render_csv(findings_of(answer, 0, answer.outcomes.size(), false));
    }
    return reports::render_csv(answer.lines ? lines_table(reader, answer.run_id, 0, false)
                                            : metrics_table(reader, answer, 0, false));
  }
  std::string text = "{\n\"results\": ";
  text += reports::json_array(metrics_table(reader, answer, 0, false), "  ");
  if (answer.lines) {
    text +=
        ",\n\"lines\": " + reports::json_array(lines_table(reader, answer.run_id, 0, false), "  ");
  }
  const bool is_estimate = std::any_of(answer.outcomes.begin(), answer.outcomes.end(),
                                       [](const auto& each) { return !each.coverage.empty(); });
  if (is_estimate) {
    text += ",\n\"ranges\": " +
            reports::json_array(ranges_table(answer, 0, answer.outcomes.size(), false), "  ");
  }
  if (answer.check) {
    text += ",\n\"findings\": " +
            reports::json_array(findings_of(answer, 0, answer.outcomes.size(), false), "  ");
    text += ",\n\"checked\": " + reports::json_array(checked_table(answer), "  ");
  }
  return text + "\n}\n";
}

}  // namespace warpmeter::cli
