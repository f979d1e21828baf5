// SPDX-License-Identifier: MIT
#include "collector/cli/run/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "reports/table/number.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

/// The metrics of the command line that no launch of the run has, each with its reason.
std::vector<std::string> unanswered(const RunRequest& request, const schema::Reader& reader,
                                    std::int64_t run_id) {
  const schema::Rows missing = reader.query(
      "SELECT metric, min(reason) FROM results WHERE run_id = :run GROUP BY metric "
      "HAVING count(value) = 0",
      {{":run", run_id}});
  std::vector<std::string> remarks;
  for (const auto& row : missing.rows) {
    const auto* metric = std::get_if<std::string>(&row[0]);
    const auto* reason = std::get_if<std::string>(&row[1]);
    const auto& named = request.metrics;
    if (metric == nullptr || std::find(named.begin(), named.end(), *metric) == named.end())
      continue;
    remarks.push_back(fmt::format("{} has no value: {}", *metric,
                                  reason != nullptr ? *reason : "no reason is known"));
  }
  return remarks;
}

std::int64_t count_of(const schema::Reader& reader, std::int64_t run_id,
                      const std::string& condition) {
  const schema::Rows rows = reader.query(
      "SELECT count(*) FROM launches WHERE run_id = :run AND " + condition, {{":run", run_id}});
  return std::get<std::int64_t>(rows.rows.at(0).at(0));
}

/// Says what could not be run here, and throws Error{nothing} when that was everything.
void say_what_was_not_run(const RunRequest& request, const schema::Reader& reader,
                          std::int64_t run_id) {
  const schema::Rows missing = reader.query(
      "SELECT family || '/' || variant, min(reason) FROM launches WHERE run_id = :run AND "
      "outcome = 'done' AND reason IS NOT NULL GROUP BY family, variant",
      {{":run", run_id}});
  const bool none_ran = count_of(reader, run_id, "outcome = 'done' AND reason IS NULL") == 0;
  for (const auto& row : missing.rows) {
    const std::string text = fmt::format("{} was not run: {}", std::get<std::string>(row[0]),
                                         std::get<std::string>(row[1]));
    if (none_ran) throw Error(ExitCode::nothing, text);
    remark(request, text);
  }
}

/// The object that a variant's results are compared with; empty: with nothing.
std::string compared_with(const kernels::Variant& variant) {
  if (variant.expected) return variant.expected_from;
  return variant.reference == variant.name ? "" : variant.reference;
}

/// How many of the launches that are compared with something were right.
struct Verified {
  std::string against;
  std::int64_t right = 0, all = 0;
};

std::vector<Verified> verified_of(const run::Choice& choice, std::int64_t run_id,
                                  const schema::Reader& reader) {
  std::vector<Verified> found;
  const schema::Rows rows = reader.query(
      "SELECT family, variant, count(*), sum(verified) FROM launches "
      "WHERE run_id = :run AND (outcome = 'failed' OR reason IS NULL) GROUP BY family, variant "
      "ORDER BY min(launch_id)",
      {{":run", run_id}});
  for (const auto& row : rows.rows) {
    for (const run::Selection& selection : choice.selections) {
      const kernels::Family& family = *selection.family;
      if (family.name != std::get<std::string>(row[0])) continue;
      const kernels::Variant* variant = family.find(std::get<std::string>(row[1]));
      const std::string against = variant == nullptr ? "" : compared_with(*variant);
      if (against.empty()) continue;
      auto place = std::find_if(found.begin(), found.end(),
                                [&](const Verified& known) { return known.against == against; });
      if (place == found.end()) place = found.insert(found.end(), Verified{against});
      place->all += std::get<std::int64_t>(row[2]);
      place->right += std::get<std::int64_t>(row[3]);
    }
  }
  return found;
}

/// True if anything that was asked for has a value. Each launch has its resources, asked for or
/// not.
bool has_answers(const RunRequest& request, const schema::Reader& reader, std::int64_t run_id) {
  const schema::Rows rows =
      reader.query("SELECT DISTINCT metric FROM results WHERE run_id = :run AND value IS NOT NULL",
                   {{":run", run_id}});
  const schema::Catalogue& catalogue = schema::Catalogue::get();
  const bool asks_for_resources = catalogue.names_resource(request.metrics);
  return std::any_of(rows.rows.begin(), rows.rows.end(), [&](const auto& row) {
    const schema::MetricInfo* const info = catalogue.find_metric(std::get<std::string>(row[0]));
    return info == nullptr || !info->is_resource || asks_for_resources;
  });
}

}  // namespace

void say_verified(const RunRequest& request, const run::Choice& choice, std::int64_t run_id) {
  const schema::Reader reader(request.database);
  for (const Verified& one : verified_of(choice, run_id, reader)) {
    remark(request, fmt::format("verified: {} of {} against {}", reports::grouped_number(one.right),
                                reports::counted(one.all, "launch", "launches"), one.against));
  }
}

void check_answers(const RunRequest& request, std::int64_t run_id) {
  const schema::Reader reader(request.database);
  say_what_was_not_run(request, reader, run_id);
  const bool is_verified = count_of(reader, run_id, "verified = 1") > 0;
  if (!is_verified) {
    remark(request, "no result was verified: a family file says what to compare with (reference:)");
  }
  const std::vector<std::string> remarks = unanswered(request, reader, run_id);
  for (const std::string& text : remarks) remark(request, text);
  if (!has_answers(request, reader, run_id)) {
    throw Error(ExitCode::nothing,
                fmt::format("the kernels ran{}, but nothing that was asked for could be measured "
                            "here: choose other --metrics (see: warpmeter list metrics), or run on "
                            "a GPU",
                            is_verified ? " and are right" : ""));
  }
}

}  // namespace warpmeter::cli
