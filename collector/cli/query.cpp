// `warpmeter query`: any SQL that reads, or a view by its name.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "collector/cli/arguments.h"
#include "collector/cli/formats.h"
#include "collector/cli/options.h"
#include "collector/cli/output.h"
#include "reports/table.h"
#include "schema/catalogue.h"
#include "schema/store.h"

namespace warpmeter::cli {
namespace {

struct Query {
  std::string sql, database, format = "table", file;
  std::vector<std::string> parameters;
  std::int64_t limit = INT64_MAX;
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

std::string all_of_view(const std::string& name) {
  const std::vector<std::string> views = view_names();
  if (std::find(views.begin(), views.end(), name) == views.end()) {
    throw Error(ExitCode::usage, fmt::format("there is no view '{}'{} (see: warpmeter list views)",
                                             name, schema::did_you_mean(name, views)));
  }
  return fmt::format("SELECT * FROM {}", name);
}

/// The statement that was meant: standard input when nothing was typed, all of a view for its name.
std::string statement_of(std::string text) {
  if (text.empty() || text == "-") {
    if (text.empty() && isatty(STDIN_FILENO) == 1) {
      throw Error(ExitCode::usage,
                  "query needs SQL or the name of a view (see: warpmeter list views)");
    }
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  if (text.find_first_not_of(" \t\r\n;") == std::string::npos) {
    throw Error(ExitCode::usage, "there is no SQL in the query (see: warpmeter query --help)");
  }
  // "runs;" and the line end of a pipe name the view just as well.
  const std::size_t last = text.find_last_not_of(" \t\r\n;");
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::string word = text.substr(begin, last + 1 - begin);
  if (!is_one_word(word)) return text;
  return all_of_view(word);
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
  const std::string hint = schema::did_you_mean(name, view_names());
  if (hint.empty()) return error;
  std::string improved = message;
  improved.insert(begin + name.size(), hint);
  return {error.code(), improved};
}

schema::Rows answer(const Query& query, const std::string& sql) {
  schema::Parameters parameters;
  for (const std::string& text : query.parameters) parameters.push_back(parameter(text));
  const schema::Reader reader(query.database);
  schema::Rows rows;
  try {
    reader.query_user(
        sql, parameters, [&](const std::vector<std::string>& columns) { rows.columns = columns; },
        [&](const std::vector<schema::Value>& row) {
          if (static_cast<std::int64_t>(rows.rows.size()) >= query.limit) return false;
          rows.rows.push_back(row);
          return true;
        });
  } catch (const Error& error) {
    throw with_nearest_view(error);
  }
  return rows;
}

ExitCode run(const Query& query) {
  refuse_overwriting(query.database, query.file);
  const std::string sql = statement_of(query.sql);
  const schema::Rows rows = answer(query, sql);
  Output output(query.file);
  output.write(rendered(reports::table_from(rows), query.format, query.file));
  output.finish();
  return ExitCode::done;
}

}  // namespace

Command add_query(CLI::App& program) {
  CLI::App& app = add_command(
      program, "query", "Read the database: a view by its name, or any SQL that reads",
      {{"warpmeter query comparison", "the standard metrics of every launch"},
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
  add_repeated(app, "--param", "NAME=VALUE", query->parameters, "The value of :NAME in the SQL");
  add_count(app, "--limit", 1, INT64_MAX, query->limit, "At most N rows");
  return {&app, [query] { return run(*query); }};
}

}  // namespace warpmeter::cli
