// SPDX-License-Identifier: MIT
// The expected cost of each variant, and whether it holds. A report leads with the number that hold
// and names those that do not; the full list, with its reasons in words, comes last.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "reports/sections/sections.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"

namespace warpmeter::reports::sections {
namespace {

int severity(std::string_view verdict) {
  return verdict == "broken" ? 2 : verdict == "inconclusive" ? 1 : 0;
}

std::vector<Expectation> read_expectations(const schema::Reader& reader, const RunRecord& run) {
  std::map<std::tuple<std::int64_t, std::string, std::string, std::string, double>, std::size_t>
      known;
  std::vector<Expectation> expectations;
  const schema::Rows rows = reader.query(sql::expectations, run_parameter(run.id));
  for (const Row& row : each_row(rows)) {
    const std::int64_t id = row.integer("launch_id").value_or(0);
    const auto found = run.kinds->find(id);
    if (!found) continue;  // it was written since the launches were read
    const schema::LaunchKind& launch = run.kinds->of(*found);
    Expectation expectation{run.name_of(launch),        row.text("metric"),
                            row.text("relation"),       row.text("verdict"),
                            row.text("verdict_reason"), row.text("reason"),
                            row.text("grade"),          row.number("expected").value_or(0),
                            row.number("measured")};
    const auto [place, is_new] =
        known.try_emplace({launch.device_id, expectation.name, expectation.metric,
                           expectation.relation, expectation.expected},
                          expectations.size());
    if (is_new) {
      expectations.push_back(std::move(expectation));
    } else if (severity(expectation.verdict) > severity(expectations[place->second].verdict)) {
      expectations[place->second] = std::move(expectation);
    }
  }
  return expectations;
}

std::string expected_text(const Expectation& expectation) {
  return expectation.relation + " " + readable_number(expectation.expected, Zeros::trim);
}

Cell measured_cell(const Expectation& expectation) {
  if (!expectation.measured) return Missing{};
  Cell cell(*expectation.measured);
  cell.mark = mark_of(expectation.grade);
  return cell;
}

std::string verdict_text(const Expectation& expectation) {
  return expectation.verdict_reason.empty()
             ? expectation.verdict
             : expectation.verdict + ": " + expectation.verdict_reason;
}

Table table_of(const std::vector<Expectation>& expectations, int least_severity) {
  Table table;
  table.columns = {Column::text("variant"),
                   Column::text("metric"),
                   Column::text("expected"),
                   Column::number("measured", "", "", Kind::quotient),
                   Column::text("verdict", "", Kind::verdict),
                   Column::text("because")};
  for (const Expectation& expectation : expectations) {
    if (severity(expectation.verdict) < least_severity) continue;
    table.rows.push_back({expectation.name, expectation.metric, expected_text(expectation),
                          measured_cell(expectation), verdict_text(expectation),
                          expectation.reason});
  }
  return table;
}

std::string summary_of(const std::vector<Expectation>& expectations) {
  int count[3] = {};
  for (const Expectation& expectation : expectations) ++count[severity(expectation.verdict)];
  const auto verb = [](int n) { return n == 1 ? "is" : "are"; };
  std::string text =
      fmt::format("{} of {} {}", count[0], expectations.size(),
                  expectations.size() == 1 ? "expectation holds" : "expectations hold");
  if (count[2] > 0) text += fmt::format(", {} {} broken", count[2], verb(count[2]));
  if (count[1] > 0) text += fmt::format(", {} {} inconclusive", count[1], verb(count[1]));
  return text + ".";
}

}  // namespace

const std::vector<Expectation>& Source::expectations() const {
  if (!expectations_) expectations_ = read_expectations(reader, run);
  return *expectations_;
}

void add_expectations(Document& document, const Source& source) {
  const std::vector<Expectation>& expectations = source.expectations();
  if (expectations.empty()) return;
  document.heading(2, "Expectations");
  std::string summary = summary_of(expectations);
  const std::string why = why_unfinished(source.reader, source.run.id);
  if (!why.empty()) summary += fmt::format(" Not all was measured: {}.", why);
  document.paragraph(summary);
  Table table = table_of(expectations, 1);
  if (!table.rows.empty()) document.table(std::move(table));
}

void add_every_expectation(Document& document, const Source& source) {
  const std::vector<Expectation>& expectations = source.expectations();
  if (expectations.empty()) return;
  document.heading(2, "Every expectation and its reason");
  document.table(table_of(expectations, 0));
}

}  // namespace warpmeter::reports::sections
