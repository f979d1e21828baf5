// SPDX-License-Identifier: MIT
// Runs from the server. They come into temporary databases with the server's numbers, which are
// merged into the target: what merge promises (a run whole or not at all, known ones compared, a
// killed one completed by the next) holds here too.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/temporary.h"
#include "base/words.h"
#include "schema/database.h"
#include "schema/merge/merge.h"
#include "schema/server.h"
#include "schema/server/connection.h"
#include "schema/server/run_content.h"
#include "schema/server/runs_here.h"
#include "schema/server/server_schema.h"
#include "schema/server/text_there.h"
#include "schema/store.h"

namespace warpmeter::schema {
namespace server {
namespace {

struct WantedRun {
  std::int64_t id = 0;
  std::string uuid, digest;
};

const ViewInfo& view_of(std::string_view name) {
  for (const ViewInfo& view : views()) {
    if (view.name == name) return view;
  }
  throw std::logic_error("no such view");
}

bool has_column(const ViewInfo& view, const std::string& column) {
  return std::any_of(view.columns.begin(), view.columns.end(),
                     [&](const ColumnInfo& info) { return info.name == column; });
}

/// Is the word in the text, by itself? Names of SQL do not mind their case.
bool names(const std::string& text, const std::string& word) {
  std::string found;
  for (const char c : text + " ") {
    if (is_of_word(c)) {
      found += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      if (found == word) return true;
      found.clear();
    }
  }
  return false;
}

/// The runs for which the condition holds, or that of one of their launches. A condition on a
/// column of several views means that of `runs`, but for the device, of which each launch has its
/// own. A view that the condition does not name costs nothing.
std::string selection(const std::string& condition) {
  const ViewInfo &runs = view_of("runs"), &launches = view_of("launches"),
                 &comparison = view_of("comparison");
  std::vector<std::string> columns;
  bool has_launches = false, has_comparison = false;
  for (const ColumnInfo& column : launches.columns) {
    const bool is_device = column.name == "device" || column.name == "backend";
    if (has_column(runs, column.name) && !is_device) continue;
    if (!names(condition, column.name)) continue;
    columns.push_back(is_device ? fmt::format("coalesce(l.{0}, r.{0}) AS {0}", column.name)
                                : "l." + column.name);
    has_launches = true;
  }
  for (const ColumnInfo& column : comparison.columns) {
    if (has_column(runs, column.name) || has_column(launches, column.name)) continue;
    if (!names(condition, column.name)) continue;
    columns.push_back("c." + column.name);
    has_comparison = has_launches = true;
  }
  std::string sql = "SELECT DISTINCT x.run_id, x.uuid FROM (SELECT ";
  std::vector<std::string> own;
  for (const ColumnInfo& column : runs.columns) {
    const bool is_device = column.name == "device" || column.name == "backend";
    if (is_device && has_launches && names(condition, column.name)) continue;
    own.push_back("r." + column.name);
  }
  sql += fmt::format("{}", fmt::join(own, ", "));
  if (!columns.empty()) sql += fmt::format(", {}", fmt::join(columns, ", "));
  sql += " FROM runs r";
  if (has_launches) sql += " LEFT JOIN launches l ON l.run_id = r.run_id";
  if (has_comparison) sql += " LEFT JOIN comparison c ON c.launch_id = l.launch_id";
  sql += ") x";
  // A line of its own ends a comment in what was typed.
  if (!condition.empty()) sql += fmt::format(" WHERE ({}\n)", condition);
  return sql;
}

std::vector<WantedRun> wanted_runs(Connection& server, const std::string& condition) {
  const ServerTransaction reading(server, "BEGIN READ ONLY");
  std::map<std::string, std::string> digests;
  TextRows found;
  try {
    found = server.query_user(selection(condition));
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    throw Error(ExitCode::usage,
                fmt::format("--where is not understood: {} (its columns: warpmeter list views)",
                            error.what()));
  }
  std::vector<std::string> uuids;
  for (const auto& row : found) uuids.push_back(row[1].value_or(""));
  std::vector<WantedRun> runs;
  for (const auto& row : server.query("SELECT run_id, uuid, digest FROM warpmeter.t_pushed "
                                      "WHERE uuid = ANY ($1::text[]) ORDER BY run_id",
                                      {array_of(uuids)})) {
    WantedRun& run = runs.emplace_back();
    std::from_chars(row[0]->data(), row[0]->data() + row[0]->size(), run.id);
    run.uuid = text_here(*row[1]);
    run.digest = *row[2];
  }
  return runs;
}

/// Those that the target has with the same content need not come again.
std::vector<WantedRun> missing_runs(const std::string& target, std::vector<WantedRun> wanted,
                                    Exchanged& result) {
  std::error_code ignored;
  if (!std::filesystem::exists(target, ignored)) return wanted;
  const Handle db = open_for_writing(target);  // as merge will: the same refusals, before anything
  const Shapes shapes(db.get());
  ContentReader content(db.get(), shapes);
  std::vector<WantedRun> missing;
  for (WantedRun& run : wanted) {
    Statement known(db.get(), "SELECT run_id FROM t_run WHERE uuid = ?");
    known.bind(1, run.uuid);
    if (known.step() && content.read(known.integer(0)).digest == run.digest) {
      ++result.known;
    } else {
      missing.push_back(std::move(run));
    }
  }
  return missing;
}

void add(const MergedSource& merged, Exchanged& result) {
  result.added += merged.added;
  result.launches += merged.launches;
  result.rows += merged.rows;
  result.known += merged.known;
  result.conflicts.insert(result.conflicts.end(), merged.conflicts.begin(), merged.conflicts.end());
  result.remarks.insert(result.remarks.end(), merged.remarks.begin(), merged.remarks.end());
}

}  // namespace
}  // namespace server

Exchanged pull(const std::string& where, const std::string& condition, const std::string& target,
               const ServerOptions& options) {
  using namespace server;
  Connection connection(where, options.cancelled);
  Exchanged result;
  result.server = connection.name();
  check_version(connection);
  std::vector<WantedRun> wanted = wanted_runs(connection, condition);
  if (wanted.empty()) {
    throw Error(ExitCode::nothing, condition.empty()
                                       ? fmt::format("{} has no run yet", result.server)
                                       : fmt::format("{} has no run for which that holds: {}",
                                                     result.server, condition));
  }
  const std::vector<WantedRun> missing = missing_runs(target, std::move(wanted), result);
  std::size_t done = 0;
  while (done < missing.size() && !(options.cancelled && options.cancelled())) {
    // A few hundred megabytes at a time; what is merged stays, whatever happens then.
    constexpr std::int64_t rows_at_once = 2'000'000;
    const TemporaryFolder folder;
    const std::string path = folder.path() / "runs.db";
    std::int64_t rows = 0;
    {
      RunsHere runs(connection, path);
      while (done < missing.size() && rows < rows_at_once &&
             !(options.cancelled && options.cancelled())) {
        if (options.progress) options.progress(done, missing.size());
        rows += runs.take(missing[done++].id);
      }
    }
    const std::vector<std::string> sources = {path};
    MergeOptions naming;
    naming.source_name = result.server;
    add(merge(sources, target, naming).front(), result);
  }
  return result;
}

}  // namespace warpmeter::schema
