// SPDX-License-Identifier: MIT
// `warpmeter push` and `warpmeter pull`: runs to a PostgreSQL server, and back.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/progress.h"
#include "collector/cli/terminal.h"
#include "collector/cli/usage.h"
#include "reports/table/table.h"
#include "schema/server.h"

namespace warpmeter::cli {
namespace {

using reports::Column;
using reports::Kind;

struct Exchange {
  std::string server, database, target, where, format = "table";
  bool migrate = false, roles = false, quiet = false;
  bool names_database = false, has_where = false;  ///< --db, --where were given
};

reports::Table exchange_table(const schema::Exchanged& done, const std::string& place,
                              bool is_push) {
  reports::Table table;
  table.columns = {Column::text("database"),
                   Column::number("added", "runs added", "", Kind::count),
                   Column::number("launches", "launches added", "", Kind::count),
                   Column::number("rows", "rows added", "", Kind::count),
                   Column::number("known", "runs there already", "", Kind::count),
                   Column::number("conflicts", "conflicts", "", Kind::count),
                   Column::number("running", "left while running", "", Kind::count),
                   Column::number("dropped", "of dropped months", "", Kind::count)};
  table.rows.push_back({place, done.added, done.launches, done.rows, done.known,
                        static_cast<std::int64_t>(done.conflicts.size()), done.running,
                        done.dropped});
  if (!is_push) {
    table.columns.pop_back();
    table.rows.front().pop_back();
  }
  return table;
}

/// The table, then what did not go as hoped, one line each. `here` came or went, `there` keeps.
ExitCode told(const Exchange& exchange, const schema::Exchanged& done, const std::string& here,
              const std::string& there) {
  if (!done.migrated.empty() && !exchange.quiet) say(done.migrated + "\n");
  Output output;
  if (!exchange.quiet)
    output.write(rendered(exchange_table(done, there, exchange.target.empty()), exchange.format));
  output.finish();
  for (const std::string& conflict : done.conflicts) {
    say(Colour::red,
        "conflict:", fmt::format(" {}, {}; {} keeps what it has\n", here, conflict, there));
  }
  for (const std::string& remark : done.remarks) say(remark + "\n");
  if (!done.conflicts.empty()) {
    throw Error(ExitCode::file,
                fmt::format("some runs have another content in {}; all others are there", there));
  }
  return ExitCode::done;
}

void expect_server(const Exchange& exchange, const char* command) {
  if (!exchange.server.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{0} needs the server, as postgresql://lab/warpmeter (see: warpmeter {0} "
                          "--help)",
                          command));
}

schema::ServerOptions options_of(const Exchange& exchange, ProgressBar& bar, const char* what) {
  schema::ServerOptions options;
  options.migrate = exchange.migrate;
  options.cancelled = interrupted;
  options.progress = [&bar, what](std::size_t done, std::size_t total) {
    bar.update(done, total, what);
  };
  return options;
}

/// --roles prints, and does nothing else.
void expect_roles_alone(const Exchange& exchange, const CLI::App& app) {
  const char* other = !exchange.server.empty()    ? "a server"
                      : exchange.migrate          ? "--migrate"
                      : exchange.names_database   ? "--db"
                      : app.count("--format") > 0 ? "--format"
                      : exchange.quiet            ? "--quiet"
                                                  : nullptr;
  if (other == nullptr) return;
  throw Error(ExitCode::usage,
              fmt::format("--roles prints SQL and asks no server, so {} does not go with it: "
                          "warpmeter push --roles | psql SERVER",
                          other));
}

/// True if there is something to send. A server is prepared also where nothing was measured.
bool has_database(const Exchange& exchange) {
  std::error_code ignored;
  return !exchange.migrate || exchange.names_database ||
         std::filesystem::exists(exchange.database, ignored);
}

ExitCode push(const Exchange& exchange) {
  if (exchange.roles) {
    Output output;
    output.write(schema::server_roles());
    output.finish();
    return ExitCode::done;
  }
  expect_server(exchange, "push");
  FileClaims files;
  files.read_database(exchange.database);
  catch_interrupts(
      "\nwarpmeter: stopping after this run; the next push goes on (Ctrl-C again stops at once)\n");
  ProgressBar bar(is_terminal(STDERR_FILENO) && !exchange.quiet);
  if (!has_database(exchange)) {
    const std::string did = schema::prepare(exchange.server, options_of(exchange, bar, "push"));
    if (!exchange.quiet) {
      say(fmt::format("{}; there is no database {} here, so nothing was sent\n", did,
                      exchange.database));
    }
    return ExitCode::done;
  }
  const schema::Exchanged done =
      schema::push(exchange.database, exchange.server, options_of(exchange, bar, "push"));
  bar.clear();
  return told(exchange, done, exchange.database, done.server);
}

ExitCode pull(const Exchange& exchange) {
  expect_server(exchange, "pull");
  if (exchange.target.empty()) {
    throw Error(ExitCode::usage, "pull needs -o FILE: the database to create or extend");
  }
  if (exchange.has_where && exchange.where.empty()) {
    throw Error(ExitCode::usage,
                "pull --where needs a condition, as \"family = 'transpose'\"; without it all runs "
                "come");
  }
  FileClaims files;
  files.store(exchange.target, "-o");
  catch_interrupts("\nwarpmeter: stopping; the next pull goes on (Ctrl-C again stops at once)\n");
  ProgressBar bar(is_terminal(STDERR_FILENO) && !exchange.quiet);
  schema::Exchanged done;
  try {
    done = schema::pull(exchange.server, exchange.where, exchange.target,
                        options_of(exchange, bar, "pull"));
  } catch (const Error& error) {
    throw Error(error.code(), naming_other_option(error.what(), "-o"));
  }
  bar.clear();
  return told(exchange, done, done.server, exchange.target);
}

}  // namespace

Command add_push(CLI::App& program, const std::vector<std::string>& words) {
  CLI::App& app = add_command(
      program, "push", "Send runs to a lab's PostgreSQL server",
      {{"warpmeter push --migrate postgresql://lab/warpmeter",
        "prepares the server, once, by its owner"},
       {"warpmeter push postgresql://lab/warpmeter", "what this database has and the server lacks"},
       {"warpmeter push service=lab --db monday.db", "a service of ~/.pg_service.conf"},
       {"warpmeter push --roles", "SQL that makes a role that adds runs, and one that reads"}});
  auto exchange = std::make_shared<Exchange>();
  add_text(app, "SERVER", "", exchange->server,
           "The server as libpq knows it; put a password in ~/.pgpass");
  add_database(app, exchange->database, "The database; it stays as it is");
  add_flag(app, "--migrate", exchange->migrate,
           "First prepare the server, or bring it to this version");
  add_flag(app, "--roles", exchange->roles, "Print the roles' SQL, and send nothing");
  add_format(app, exchange->format);
  add_flag(app, "-q,--quiet", exchange->quiet, "Print only what went wrong");
  return {&app, [exchange, &app, words] {
            exchange->names_database =
                std::any_of(words.begin(), words.end(),
                            [](const std::string& word) { return word.starts_with("--db"); });
            if (exchange->roles) expect_roles_alone(*exchange, app);
            return push(*exchange);
          }};
}

Command add_pull(CLI::App& program) {
  CLI::App& app = add_command(
      program, "pull", "Bring runs from a lab's PostgreSQL server",
      {{"warpmeter pull postgresql://lab/warpmeter --where \"family = 'transpose'\" -o lab.db",
        "whole runs that have such a launch"},
       {"warpmeter pull service=lab --where \"started > '2026-11' AND host = 'lab7'\" -o lab7.db",
        "some machine's"}});
  auto exchange = std::make_shared<Exchange>();
  add_text(app, "SERVER", "", exchange->server, "The server as libpq knows it");
  add_text(app, "--where", "SQL", exchange->where,
           "Runs for which this holds; columns of runs, launches and comparison");
  add_text(app, "-o,--output", "FILE", exchange->target, "The database to create or extend");
  add_format(app, exchange->format);
  add_flag(app, "-q,--quiet", exchange->quiet, "Print only what went wrong");
  return {&app, [exchange, &app] {
            exchange->has_where = app.count("--where") > 0;
            return pull(*exchange);
          }};
}

}  // namespace warpmeter::cli
