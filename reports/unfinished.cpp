// SPDX-License-Identifier: MIT
#include "reports/unfinished.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

/// "after 4 of 6 launches"; runs of old versions and of other people's programs have no plan.
std::string how_far(std::int64_t launches, std::optional<std::int64_t> planned) {
  if (planned) {
    return fmt::format("after {} of {}", grouped_number(launches),
                       counted(static_cast<std::size_t>(*planned), "launch", "launches"));
  }
  if (launches == 0) return "before its first launch";
  return "after " + counted(static_cast<std::size_t>(launches), "launch", "launches");
}

}  // namespace

std::string run_name(const schema::Reader& reader, std::int64_t run, const RunNames& names) {
  if (const auto known = names.find(run); known != names.end()) return known->second;
  const schema::Rows rows =
      reader.query("SELECT label FROM runs WHERE run_id = :run", run_parameter(run));
  const std::string label = printable(each_row(rows).at(0).text("label"));
  return label.empty() ? fmt::format("run {}", run) : fmt::format("run {} ({})", run, label);
}

std::string why_unfinished(const schema::Reader& reader, std::int64_t run, const RunNames& names) {
  // Launches are counted for a run that lacks some.
  const schema::Rows outcomes =
      reader.query("SELECT outcome FROM runs WHERE run_id = :run", run_parameter(run));
  if (each_row(outcomes).at(0).text("outcome") == "done") return "";
  const schema::Rows rows = reader.query(sql::run, run_parameter(run));
  const Row row = each_row(rows).at(0);
  const std::string outcome = row.text("outcome");
  const std::int64_t launches = row.integer("launches").value_or(0);
  const std::optional<std::int64_t> planned = row.integer("planned_launches");
  if (outcome == "done") return "";
  const std::string name = run_name(reader, run, names);
  if (outcome == "running") {
    return fmt::format("{} has not ended, {}: it is being measured on {}, or was killed there",
                       name, how_far(launches, planned), printable(row.text("host")));
  }
  // Each launch was tried where all of them are there, the failed ones among them.
  const bool tried_all = planned ? launches >= *planned : row.flag("failed_launches");
  if (outcome == "failed" && tried_all) return "";
  return fmt::format("{} {} {}: {}", name,
                     outcome == "failed" ? "was ended by an error" : "was interrupted",
                     how_far(launches, planned), printable(row.text("reason")));
}

std::vector<std::string> unfinished(const schema::Reader& reader,
                                    std::span<const std::int64_t> runs, const RunNames& names) {
  std::vector<std::string> sentences;
  for (const std::int64_t run : runs) {
    std::string sentence = why_unfinished(reader, run, names);
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  return sentences;
}

}  // namespace warpmeter::reports
