// SPDX-License-Identifier: MIT
#include "collector/cli/tables/measured_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reports/record.h"
#include "reports/stalls.h"
#include "reports/table/number.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// A launch that moves less than this part of what a copy moves in the same time is told so.
constexpr double least_of_copy = 0.9;
/// Samples of fewer warps say little: a share of a fifth is then off by a fifth of itself.
constexpr std::int64_t least_samples = 500;
/// A line is reported at which more than this part of a launch's samples wait.
constexpr double least_waiting = 0.2;

/// The variant that shows what memory can do, of the same family and size, on the same device.
constexpr const char* beside_copies =
    "SELECT c.launch_id, c.duration_ns, c.achieved_bandwidth, k.variant AS copy, "
    "max(b.achieved_bandwidth) AS best "
    "FROM comparison c JOIN launches l USING (run_id, launch_id) "
    "JOIN devices d ON d.run_id = l.run_id AND d.device_id = l.device_id AND d.backend = 'cupti' "
    "JOIN launches k ON k.run_id = l.run_id AND k.device_id = l.device_id AND k.family = l.family "
    "AND k.size IS l.size AND k.is_ceiling = 1 AND coalesce(k.flops, 0) = 0 "
    // Variants of a family with other sizes end with those: copy(m=64).
    "AND substr(k.variant, instr(k.variant || '(', '(')) = "
    "substr(l.variant, instr(l.variant || '(', '(')) "
    "JOIN comparison b ON b.launch_id = k.launch_id AND b.achieved_bandwidth > 0 "
    "WHERE c.run_id = :run AND l.outcome = 'done' AND l.is_ceiling = 0 AND "
    "c.achieved_bandwidth > 0 GROUP BY c.launch_id";

std::string figure(double value) { return reports::readable_number(value, reports::Zeros::trim); }

/// The least excess of a line that is reported, as a share of the launch's wavefronts or sectors.
constexpr double least_excess = 0.1;

/// Lines that hardware counted, of launches that the model did not explain, the costliest first;
/// `all_of_launch`: the launch's transactions in shared, or in global memory.
constexpr const char* measured_lines =
    "SELECT n.*, n.access LIKE 'shared %' AS is_shared, s.transactions AS all_of_launch "
    "FROM lines n JOIN (SELECT launch_id, access LIKE 'shared %' AS is_shared, "
    "sum(transactions) AS transactions FROM lines WHERE run_id = :run GROUP BY 1, 2) s "
    "ON s.launch_id = n.launch_id AND s.is_shared = (n.access LIKE 'shared %') "
    "JOIN explanations x ON x.launch_id = n.launch_id AND x.findings IS NULL "
    "WHERE n.run_id = :run AND n.grade = 'measured' AND s.transactions > 0 "
    "ORDER BY n.launch_id, n.excess DESC, n.file, n.line, n.access";

schema::Finding below_copy(const reports::Row& row, double own, double best) {
  schema::Finding finding;
  finding.kind = "below_copy";
  finding.share = 1 - own / best;
  finding.share_of = "its time";
  finding.grade = schema::Grade::measured;
  const double duration = row.number("duration_ns").value_or(0);
  finding.evidence = fmt::format(
      "It moves {} GB/s of what it reads and writes, {} moves {} GB/s, and computes nothing: at "
      "that it would take {} \u00b5s instead of {} \u00b5s.",
      figure(own), row.text("copy"), figure(best), figure(duration * own / best / 1e3),
      figure(duration / 1e3));
  return finding;
}

/// The share of waits that another line or more warps could end: not its turn among those ready.
double waiting_share(const reports::WaitingLine& line) {
  double share = line.waiting_share;
  for (const auto& reason : line.reasons) {
    if (reason.name == "not_selected") share -= reason.share;
  }
  return share / 100;
}

schema::Finding waiting(const reports::WaitingLine& line) {
  schema::Finding finding;
  finding.kind = "waiting";
  finding.file = line.file;
  finding.line = static_cast<int>(line.line);
  finding.text = line.text;
  finding.share = waiting_share(line);
  finding.share_of =
      fmt::format("{} samples of its warps", reports::grouped_number(line.launch_samples));
  finding.grade = schema::Grade::measured;
  finding.evidence = fmt::format("They wait for {}.", line.reasons_text());
  return finding;
}

using Findings = std::map<std::int64_t, schema::MeasuredFindings>;

schema::Finding excess(const reports::Row& row) {
  const auto count = [&](const char* column) {
    return static_cast<std::uint64_t>(row.integer(column).value_or(0));
  };
  schema::Finding finding;
  finding.kind = "excess_transactions";
  finding.file = row.text("file");
  finding.line = static_cast<int>(count("line"));
  finding.text = row.text("text");
  finding.access = row.text("access");
  finding.requests = count("requests");
  finding.transactions = count("transactions");
  finding.ideal = count("ideal");
  finding.share = static_cast<double>(finding.transactions - finding.ideal) /
                  static_cast<double>(count("all_of_launch"));
  finding.share_of = row.integer("is_shared").value_or(0) != 0 ? "the launch's shared wavefronts"
                                                               : "the launch's global sectors";
  finding.grade = schema::Grade::measured;
  return finding;
}

/// Where the model has looked at the addresses, it has told of these lines and why.
void look_at_lines(const schema::Reader& reader, std::int64_t run_id, Findings& findings) {
  const schema::Rows rows = reader.query(measured_lines, {{":run", run_id}});
  for (const reports::Row& row : reports::each_row(rows)) {
    schema::MeasuredFindings& of_launch = findings[row.integer("launch_id").value_or(0)];
    if (of_launch.looked_for.empty()) of_launch.looked_for.push_back("excess_transactions");
    if (row.integer("excess").value_or(0) <= 0) continue;
    schema::Finding finding = excess(row);
    if (finding.share >= least_excess) of_launch.findings.push_back(std::move(finding));
  }
}

void look_at_times(const schema::Reader& reader, std::int64_t run_id, Findings& findings) {
  const schema::Rows rows = reader.query(beside_copies, {{":run", run_id}});
  for (const reports::Row& row : reports::each_row(rows)) {
    const double own = row.number("achieved_bandwidth").value_or(0);
    const double best = row.number("best").value_or(0);
    schema::MeasuredFindings& of_launch = findings[row.integer("launch_id").value_or(0)];
    of_launch.looked_for.push_back("below_copy");
    if (own < least_of_copy * best) of_launch.findings.push_back(below_copy(row, own, best));
  }
}

void look_at_stalls(const schema::Reader& reader, std::int64_t run_id, Findings& findings) {
  for (const reports::WaitingLine& line : reports::waiting_lines(reader, run_id, 0)) {
    schema::MeasuredFindings& of_launch = findings[line.launch_id];
    const auto is_new = [&](const auto& kinds) {
      return std::none_of(kinds.begin(), kinds.end(),
                          [](const auto& kind) { return kind == "waiting"; });
    };
    if (line.launch_samples < least_samples) {
      if (of_launch.missing.empty()) {
        of_launch.missing.push_back(
            {"waiting",
             fmt::format("fewer than {} samples were taken in so short a launch", least_samples)});
      }
      continue;
    }
    if (is_new(of_launch.looked_for)) of_launch.looked_for.push_back("waiting");
    if (line.line > 0 && waiting_share(line) >= least_waiting) {
      of_launch.findings.push_back(waiting(line));
    }
  }
}

}  // namespace

void add_measured_findings(const std::string& database, std::int64_t run_id) {
  std::vector<schema::Completion> completions;
  {
    const schema::Reader reader(database);
    Findings findings;
    look_at_lines(reader, run_id, findings);
    look_at_times(reader, run_id, findings);
    look_at_stalls(reader, run_id, findings);
    for (auto& [launch_id, measured] : findings) {
      schema::Completion completion;
      completion.launch_id = launch_id;
      completion.measured = std::move(measured);
      completions.push_back(std::move(completion));
    }
  }
  if (!completions.empty()) schema::Store(database).complete_launches(completions);
}

}  // namespace warpmeter::cli
