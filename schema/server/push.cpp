// SPDX-License-Identifier: MIT
// Runs to the server: what it lacks is asked once, then each run goes in one transaction by COPY.
//
//   content   what is the run, and what does it name?     (run_content.h, reads SQLite)
//   names     learn their numbers there                   (names_there.h, own transactions)
//   reserve   numbers for the run and its launches        (functions.sql, own transaction)
//   begin     the UUID is taken; another writer of the same run waits here, and learns that it is
//             there
//   copy      table by table, then the transaction is committed
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>

#include "base/temporary.h"
#include "base/with_noun.h"
#include "schema/database.h"
#include "schema/embedded.h"
#include "schema/merge/conflict.h"
#include "schema/server.h"
#include "schema/server/connection.h"
#include "schema/server/copy_rows.h"
#include "schema/server/known_digests.h"
#include "schema/server/names_there.h"
#include "schema/server/run_content.h"
#include "schema/server/runs_here.h"
#include "schema/server/server_schema.h"
#include "schema/server/text_there.h"

namespace warpmeter::schema {
namespace server {
namespace {

struct RunHere {
  std::int64_t id = 0;
  std::string uuid, outcome, label, started;
};

std::vector<RunHere> runs_here(sqlite3* db) {
  Statement statement(db,
                      "SELECT run_id, uuid, outcome, label, started FROM t_run ORDER BY run_id");
  std::vector<RunHere> runs;
  while (statement.step()) {
    runs.push_back({statement.integer(0), statement.text(1), statement.text(2), statement.text(3),
                    statement.text(4)});
  }
  return runs;
}

struct RunThere {
  std::int64_t id = 0;
  std::string digest, label;
  bool is_dropped = false;  ///< its month was taken off the server
};

std::int64_t integer_in(const Text& text) {
  std::int64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

/// Those of the runs that the server has, in one question.
std::map<std::string, RunThere> runs_there(Connection& server, const std::vector<RunHere>& runs) {
  std::vector<std::string> uuids;
  for (const RunHere& run : runs) uuids.push_back(text_there(run.uuid));
  std::map<std::string, RunThere> there;
  for (const auto& row :
       server.query("SELECT p.uuid, p.run_id, p.digest, coalesce(r.label, ''), r.run_id IS NULL "
                    "FROM warpmeter.t_pushed p LEFT JOIN warpmeter.t_run r ON r.run_id = p.run_id "
                    "WHERE p.uuid = ANY ($1::text[])",
                    {array_of(uuids)})) {
    there[text_here(*row[0])] = {integer_in(row[1]), *row[2], text_here(*row[3]), row[4] == "t"};
  }
  return there;
}

class Pusher {
 public:
  Pusher(sqlite3* db, std::string database, KnownDigests& digests, Connection& server,
         Exchanged& result)
      : db_(db),
        database_(std::move(database)),
        digests_(digests),
        server_(server),
        shapes_(db),
        content_(db, shapes_),
        names_(db, server, shapes_),
        result_(result) {}

  void push(const RunHere& run) {
    const RunContent content = content_.read(run.id);
    digests_.learn(run.uuid, content.digest);
    names_.learn(content);
    const TextRows reserved =
        server_.query("SELECT run_id, first_launch FROM warpmeter.reserve($1, $2)",
                      {text_there(run.started), std::to_string(content.launches)});
    run_there_ = integer_in(reserved.at(0).at(0));
    distance_ = integer_in(reserved.at(0).at(1)) - content.first_launch;
    ServerTransaction transaction(server_);
    if (server_.value("SELECT warpmeter.begin_run($1, $2, $3)",
                      {text_there(run.uuid), std::to_string(run_there_), content.digest}) != "t") {
      ++result_.known;  // another one was faster
      return;
    }
    copy_rows(shapes_.run, content, run.id);
    for (const TableShape& table : shapes_.of_run) copy_rows(table, content, run.id);
    for (const TableShape& table : shapes_.of_launch) copy_rows(table, content, run.id);
    transaction.commit();
    ++result_.added;
    result_.launches += content.launches;
    result_.rows += content.rows;
    rows_of_month_[run_there_ / 1'000'000'000] += content.rows;
  }

  void compare(const RunHere& run, const RunThere& there) {
    if (there.is_dropped) {
      ++result_.dropped;
      return;
    }
    if (there.label != run.label) {
      result_.remarks.push_back(
          fmt::format("run {} ({}) has the label '{}' here and keeps '{}' there", run.id, run.uuid,
                      run.label, there.label));
    }
    const std::string difference = difference_from(run, there);
    if (difference.empty()) {
      ++result_.known;
    } else {
      result_.conflicts.push_back(fmt::format("run {} ({}): {}", run.id, run.uuid, difference));
    }
  }

  /// The difference, in words; empty: nothing.
  std::string difference_from(const RunHere& run, const RunThere& there) {
    std::optional<std::string> digest = digests_.of(run.uuid);
    if (!digest) {
      digest = content_.read(run.id).digest;
      digests_.learn(run.uuid, *digest);
    }
    if (digest == there.digest) return "";
    const TemporaryFolder folder;
    const std::string path = folder.path() / "run.db";
    RunsHere copy(server_, path);
    copy.take(there.id);
    // Nothing: the digest was made by a version that knew other columns.
    return conflict_between(shapes_, {copy.database(), there.id, result_.server},
                            {db_, run.id, database_});
  }

  /// The planner has to know of very many new rows before somebody asks.
  void tell_planner() {
    constexpr std::int64_t many = 100'000;
    for (const auto& [month, rows] : rows_of_month_) {
      if (rows < many) continue;
      server_.query("SELECT warpmeter.refresh_statistics($1)", {std::to_string(month)});
    }
  }

 private:
  void copy_rows(const TableShape& table, const RunContent& content, std::int64_t run_id) {
    Statement read(db_, fmt::format("SELECT {} FROM {} WHERE {}", fmt::join(table.columns, ", "),
                                    table.name, rows_of_run(table, content)));
    read.bind(1, run_id);
    if (!read.step()) return;
    const std::vector<Kind> kinds = kinds_of(db_, table.name, table.columns);
    std::vector<Reference> references;
    for (const std::string& column : table.columns) references.push_back(reference_of(column));
    RowsThere rows(server_, table.name, table.columns);
    do {
      rows.begin_row();
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const int column = static_cast<int>(i);
        if (references[i] == Reference::none || read.is_null(column)) {
          rows.put(read, column, kinds[i]);
        } else {
          rows.put(number_there(references[i], read.integer(column)));
        }
      }
    } while (read.step());
    rows.finish();
  }

  std::int64_t number_there(Reference reference, std::int64_t number) const {
    if (reference == Reference::run) return run_there_;
    if (reference == Reference::launch) return number + distance_;
    return names_.number_there(reference, number);
  }

  sqlite3* db_;
  std::string database_;  ///< its name
  KnownDigests& digests_;
  Connection& server_;
  Shapes shapes_;
  ContentReader content_;
  NamesThere names_;
  Exchanged& result_;
  std::int64_t run_there_ = 0, distance_ = 0;
  std::map<std::int64_t, std::int64_t> rows_of_month_;
};

}  // namespace
}  // namespace server

Exchanged push(const std::string& database, const std::string& where,
               const ServerOptions& options) {
  using namespace server;
  const Handle db = open_untouched(database);
  execute(db.get(), "BEGIN");  // all of it at one moment
  Connection connection(where, options.cancelled);
  Exchanged result;
  result.server = connection.name();
  if (options.migrate) result.migrated = migrate(connection);
  check_version(connection);
  if (!has_own_views(connection)) {
    result.remarks.push_back(
        "the views there are those of another build of warpmeter; push --migrate replaces them");
  }
  KnownDigests digests(database);
  const std::vector<RunHere> runs = runs_here(db.get());
  const std::map<std::string, RunThere> known = runs_there(connection, runs);
  Pusher pusher(db.get(), database, digests, connection, result);
  std::size_t done = 0;
  for (const RunHere& run : runs) {
    if (options.cancelled && options.cancelled()) break;
    if (options.progress) options.progress(done, runs.size());
    ++done;
    if (run.outcome == "running") {
      ++result.running;
    } else if (const auto there = known.find(run.uuid); there != known.end()) {
      pusher.compare(run, there->second);
    } else {
      pusher.push(run);
    }
  }
  pusher.tell_planner();
  digests.keep();
  if (result.dropped > 0) {
    result.remarks.push_back(
        fmt::format("{} of a month that was taken off the server, and not sent again",
                    with_noun(result.dropped, "run is", "runs are")));
  }
  return result;
}

std::string prepare(const std::string& where, const ServerOptions& options) {
  using namespace server;
  Connection connection(where, options.cancelled);
  const std::string did = migrate(connection);
  return did.empty() ? fmt::format("{} is prepared already", connection.name()) : did;
}

std::string_view server_roles() { return embedded::server_roles; }

}  // namespace warpmeter::schema
