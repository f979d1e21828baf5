// SPDX-License-Identifier: MIT
#include "reports/compare/run_before_last.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "base/error.h"
#include "reports/record.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports {
namespace {

/// Family, variant, size and backend of the launches of a run.
using Launched =
    std::set<std::tuple<std::string, std::string, std::optional<std::int64_t>, std::string>>;

/// `kinds`: those of known runs; those of this one are added.
Launched launched_in(const schema::Reader& reader, std::int64_t run, schema::KindsByRun& kinds,
                     bool failed_too) {
  auto& of_run = kinds[run];
  if (!of_run) {
    of_run = std::make_shared<const schema::LaunchKinds>(schema::read_kinds(reader, run));
  }
  std::map<std::int64_t, std::string> backends;
  const schema::Rows devices = reader.query(sql::devices, run_parameter(run));
  for (const Row& row : each_row(devices)) {
    backends[row.integer("device_id").value_or(0)] = row.text("backend");
  }
  Launched launched;
  for (const schema::LaunchKind& kind : of_run->all) {
    if (kind.failed && !failed_too) continue;
    launched.emplace(kind.family, kind.variant, kind.size, backends[kind.device_id]);
  }
  return launched;
}

}  // namespace

std::string run_before_last(const schema::Reader& reader, schema::KindsByRun& kinds) {
  const std::int64_t last = reader.find_run("last");
  const schema::Rows rows = reader.query(
      "SELECT run_id FROM runs WHERE outcome <> 'running' AND run_id <> :last "
      "ORDER BY started DESC, run_id DESC",
      {{":last", last}});
  if (rows.rows.empty()) return "last~1";  // which says how many runs there are
  const Launched of_last = launched_in(reader, last, kinds, true);
  for (const Row& row : each_row(rows)) {
    const std::int64_t run = row.integer("run_id").value_or(0);
    const Launched of_run = launched_in(reader, run, kinds, false);
    if (std::any_of(of_run.begin(), of_run.end(),
                    [&](const auto& launch) { return of_last.contains(launch); })) {
      return std::to_string(run);
    }
    kinds.erase(run);
  }
  const schema::Rows launched = reader.query(
      "SELECT DISTINCT family || '/' || variant || ' on ' || backend AS launched FROM launches "
      "WHERE run_id = :last ORDER BY launch_id LIMIT 1",
      {{":last", last}});
  throw Error(
      ExitCode::nothing,
      fmt::format(
          "no earlier run has launches of run {}{}: measure them again, or name two runs: "
          "warpmeter compare BASE CONTENDER (see: warpmeter runs)",
          last,
          launched.rows.empty() ? "" : fmt::format(" ({}, …)", Row(launched, 0).text("launched"))));
}

}  // namespace warpmeter::reports
