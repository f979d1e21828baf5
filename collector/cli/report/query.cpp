// SPDX-License-Identifier: MIT
// `warpmeter query`: any SQL that reads, or a view by its name.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "base/output.h"
#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/interrupt.h"
#include "collector/cli/options.h"
#include "collector/cli/pager.h"
#include "reports/table/stream.h"
#include "reports/table/table.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct Query {
  std::string sql, database, format = "table", file, where, order;
  std::vector<std::string> columns, parameters;
  std::int64_t limit = INT64_MAX;
  double timeout = 0;
  bool no_pager = false;
  bool reads_input() const { return sql.empty() || sql == "-"; }
  bool refines() const { return !where.empty() || !order.empty() || !columns.empty(); }
};

std::vector<std::string> view_names() {
  std::vector<std::string> names;
  for (const schema::ViewInfo& view : schema::views()) names.push_back(view.name);
  return names;
}

bool is_one_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

/// The SELECT of a view with the request's parts. The parts are SQL that somebody typed: a line of
/// its own ends a comment in them.
std::string select_from_view(const std::string& name, const Query& query) {
  const std::vector<std::string> views = view_names();
  if (std::find(views.begin(), views.end(), name) == views.end()) {
    throw Error(ExitCode::usage,
                fmt::format("there is no view '{}'{} (there are {}; see: warpmeter list views)",
                            name, did_you_mean(name, views), fmt::join(views, ", ")));
  }
  std::string sql =
      query.columns.empty() ? "SELECT *" : fmt::format("SELECT {}", fmt::join(query.columns, ", "));
  sql += " FROM " + name;
  if (!query.where.empty()) sql += fmt::format(" WHERE ({}\n)", query.where);
  if (!query.order.empty()) sql += fmt::format(" ORDER BY {}\n", query.order);
  return sql;
}

std::string typed_text(const Query& query) {
  if (!query.reads_input()) return query.sql;
  if (query.sql.empty() && isatty(STDIN_FILENO) == 1) {
    throw Error(ExitCode::usage,
                "query needs SQL or the name of a view (see: warpmeter list views)");
  }
  std::string text;
  // One more than a statement can have is refused where it is run.
  for (char c = 0; text.size() <= schema::longest_statement && std::cin.get(c);) text += c;
  return text;
}

/// The statement that was meant: standard input when nothing was typed, all of a view for its name.
std::string statement_of(const Query& query) {
  const std::string text = typed_text(query);
  if (text.find_first_not_of(" \t\r\n;") == std::string::npos) {
    throw Error(ExitCode::usage, "there is no SQL in the query (see: warpmeter query --help)");
  }
  // "runs;" and the line end of a pipe name the view just as well.
  const std::size_t last = text.find_last_not_of(" \t\r\n;");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::string word = text.substr(begin, last + 1 - begin);
  // VACUUM is a statement of one word: what it may not do is SQLite's to say.
  const bool is_statement = schema::is_keyword_of_sql(word) && !query.refines();
  if (is_one_word(word) && !is_statement) return select_from_view(word, query);
  if (query.refines()) {
    throw Error(ExitCode::usage,
                "--where, --order and --columns go with the name of a view: SQL says them itself");
  }
  return text;
}

/// SQLite's words for a missing table get the views that it may have been.
Error with_nearest_view(const Error& error) {
  const std::string message = error.what();
  constexpr std::string_view marker = "no such table: ";
  const std::size_t found = message.find(marker);
  if (found == std::string::npos) return error;
  const std::size_t begin = found + marker.size();
  const auto end =
      std::find_if_not(message.begin() + static_cast<std::ptrdiff_t>(begin), message.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const std::string name(message.begin() + static_cast<std::ptrdiff_t>(begin), end);
  const std::string hint = did_you_mean(name, view_names());
  if (hint.empty()) return error;
  std::string improved = message;
  improved.insert(begin + name.size(), hint);
  return {error.code(), improved};
}

/// A mistake in a part of the statement that we put together is told with the whole.
Error with_statement(const Error& error, const Query& query, std::string sql) {
  if (!query.refines() || error.code() != ExitCode::usage) return error;
  std::replace(sql.begin(), sql.end(), '\n', ' ');
  return {error.code(), fmt::format("{}; the statement: {}", error.what(), sql)};
}

ExitCode run(const Query& query) {
  FileClaims files;
  files.read_database(query.database);
  if (query.reads_input()) files.read("/dev/stdin", "the query on standard input");
  const Destination destination = files.write(query.file, "-o");
  const std::string sql = statement_of(query);
  schema::Parameters parameters;
  for (const std::string& text : query.parameters) parameters.push_back(parameter(text));
  schema::QueryLimits limits;
  if (query.timeout > 0) limits.time = std::chrono::duration<double>(query.timeout);
  limits.cancelled = interrupted;
  const schema::Reader reader(query.database);

  std::unique_ptr<Answer> answer;
  reports::RowStream rows(
      *reports::parse_format(query.format), table_width(query.file),
      [&](std::string_view text) { return answer->write(shown(text, query.format, query.file)); });
  std::int64_t count = 0;
  try {
    reader.query_user(
        sql, parameters,
        [&](const std::vector<std::string>& columns) {
          rows.columns(columns);
          // The statement is good: only now does a pager take the screen.
          answer = std::make_unique<Answer>(destination, !query.no_pager);
        },
        [&](const std::vector<schema::Value>& row) {
          return ++count <= query.limit && rows.row(row);
        },
        limits);
  } catch (const Error& error) {
    rows.break_off();
    throw with_statement(with_nearest_view(error), query, sql);
  }
  if (interrupted()) {
    rows.break_off();
  } else {
    rows.finish();
  }
  answer->finish();
  return ExitCode::done;
}

}  // namespace

Command add_query(CLI::App& program) {
  CLI::App& app = add_command(
      program, "query", "Read the database: a view by its name, or any SQL that reads",
      {{"warpmeter query comparison", "the standard metrics of every launch"},
       {"warpmeter query comparison --where \"family='transpose'\" --order duration_ns", "some"},
       {"warpmeter query \"SELECT avg(value) FROM results WHERE metric = :m\" --param m=ipc",
        "a parameter"},
       {"warpmeter query results --format csv -o results.csv", "for a spreadsheet"},
       {"warpmeter query < question.sql", "SQL from standard input"}});
  auto query = std::make_shared<Query>();
  add_text(app, "SQL", "", query->sql,
           "SQL, or a view (warpmeter list views); else standard input");
  add_database(app, query->database);
  add_format(app, query->format);
  add_text(app, "-o,--output", "FILE", query->file, "Write there instead of standard output");
  add_text(app, "--where", "SQL", query->where, "With a view: only rows for which this holds");
  add_text(app, "--order", "SQL", query->order, "With a view: the order, as duration_ns DESC");
  add_list(app, "--columns", "NAME", query->columns, "With a view: only these columns");
  add_repeated(app, "--param", "NAME=VALUE", query->parameters, "The value of :NAME in the SQL");
  add_count(app, "--limit", 1, INT64_MAX, query->limit, "At most N rows");
  add_seconds(app, "--timeout", query->timeout,
              "Stop after that long, and exit with 3 (default: never)");
  add_flag(app, "--no-pager", query->no_pager, "On a terminal, do not page ($PAGER)");
  return {&app, [query] { return run(*query); }};
}

}  // namespace warpmeter::cli
