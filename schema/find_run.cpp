// SPDX-License-Identifier: MIT
// Which run a person means.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "schema/catalogue.h"
#include "schema/database.h"
#include "schema/store.h"

namespace warpmeter::schema {
namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// The one number that the query gives, or nothing.
std::optional<std::int64_t> first(sqlite3* db, std::string_view sql, std::string_view text) {
  Statement statement(db, sql);
  statement.bind(1, text);
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}

/// "12 (1f2e3d4c, nightly), 11 (5a6b7c8d) and 10 older ones".
std::string runs_there_are(sqlite3* db) {
  constexpr std::int64_t shown = 5;
  Statement statement(db,
                      "SELECT run_id, substr(uuid, 1, 8), label FROM t_run "
                      "ORDER BY started DESC, run_id DESC LIMIT ?");
  statement.bind(1, shown);
  std::vector<std::string> names;
  while (statement.step()) {
    names.push_back(fmt::format("{} ({}{}{})", statement.integer(0), statement.text(1),
                                statement.is_null(2) ? "" : ", ", statement.text(2)));
  }
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  const std::int64_t all = integer_of(db, "SELECT count(*) FROM t_run");
  if (all > shown) text += fmt::format(" and {} older", all - shown);
  return text;
}

std::string nearest_label(sqlite3* db, std::string_view selector) {
  Statement statement(db, "SELECT DISTINCT label FROM t_run WHERE label IS NOT NULL");
  std::vector<std::string> labels;
  while (statement.step()) labels.push_back(statement.text(0));
  return did_you_mean(selector, labels);
}

/// The Nth before the last of those that ended.
std::int64_t counted_back(sqlite3* db, std::int64_t back) {
  const std::int64_t ended =
      integer_of(db, "SELECT count(*) FROM t_run WHERE outcome <> 'running'");
  if (ended == 0) {
    throw Error(ExitCode::nothing,
                "no run has ended yet: wait for the one that is running, or name it by its id");
  }
  if (back >= ended) {
    throw Error(
        ExitCode::usage,
        fmt::format("there is no run last~{}: the database holds {} that ended", back, ended));
  }
  Statement statement(db,
                      "SELECT run_id FROM t_run WHERE outcome <> 'running' "
                      "ORDER BY started DESC, run_id DESC LIMIT 1 OFFSET ?");
  statement.bind(1, back);
  statement.step();
  return statement.integer(0);
}

/// Shorter beginnings of UUIDs mean nothing: a typo in an id would find some run, and a label 'a'
/// is useful.
constexpr std::size_t shortest_prefix = 4;

/// The first of the other runs whose UUID begins as the label does.
std::optional<std::string> uuid_like(sqlite3* db, std::string_view label) {
  if (label.size() < shortest_prefix) return std::nullopt;
  Statement statement(db,
                      "SELECT run_id, uuid FROM t_run "
                      "WHERE substr(uuid, 1, length(?1)) = lower(?1) AND label IS NOT ?1");
  statement.bind(1, label);
  if (!statement.step()) return std::nullopt;
  return fmt::format("{} ({})", statement.integer(0), statement.text(1));
}

/// A merge brings runs whose UUID may begin like a label that was given long before.
void refuse_ambiguous_label(sqlite3* db, std::string_view label) {
  const auto other = uuid_like(db, label);
  if (!other) return;
  throw Error(ExitCode::usage,
              fmt::format("'{}' is a label and begins the UUID of run {}: name the run by its id, "
                          "or write more of the UUID",
                          label, *other));
}

/// A run whose UUID begins so. More than one is an error that names them.
std::optional<std::int64_t> by_uuid(sqlite3* db, std::string_view selector) {
  const bool is_hex = std::all_of(selector.begin(), selector.end(), [](unsigned char c) {
    return std::isxdigit(c) != 0 || c == '-';
  });
  if (selector.size() < shortest_prefix || !is_hex) return std::nullopt;
  Statement statement(db,
                      "SELECT run_id, uuid FROM t_run "
                      "WHERE substr(uuid, 1, length(?1)) = lower(?1) ORDER BY run_id");
  statement.bind(1, selector);
  std::vector<std::string> found;
  std::int64_t id = 0;
  while (statement.step()) {
    id = statement.integer(0);
    found.push_back(statement.text(1));
  }
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    throw Error(ExitCode::usage, fmt::format("'{}' begins the UUIDs of {} runs ({}): write more of "
                                             "it",
                                             selector, found.size(), fmt::join(found, ", ")));
  }
  return id;
}

}  // namespace

void check_label_is_free(sqlite3* db, std::string_view label) {
  const auto other = uuid_like(db, label);
  if (!other) return;
  throw Error(ExitCode::usage,
              fmt::format("the label '{}' begins the UUID of run {} and would not be told from it: "
                          "choose another",
                          label, *other));
}

std::int64_t Reader::find_run(std::string_view selector) const {
  sqlite3* db = db_.get();
  if (integer_of(db, "SELECT count(*) FROM t_run") == 0) {
    throw Error(ExitCode::nothing,
                "the database holds no run: measure one with `warpmeter run` or `warpmeter profile "
                "-m @default ./app`");
  }
  if (selector == "last") return counted_back(db, 0);
  if (selector.starts_with("last~")) {
    if (const auto back = number_in(selector.substr(5))) return counted_back(db, *back);
  }
  if (number_in(selector)) {
    const auto id =
        first(db, "SELECT run_id FROM t_run WHERE run_id = CAST(? AS INTEGER)", selector);
    if (id) return *id;
  }
  // A label that was used again means its latest run, as a branch's name means its latest commit.
  const auto labelled = first(db,
                              "SELECT run_id FROM t_run WHERE label = ? "
                              "ORDER BY started DESC, run_id DESC LIMIT 1",
                              selector);
  if (labelled) {
    refuse_ambiguous_label(db, selector);
    return *labelled;
  }
  if (const auto id = by_uuid(db, selector)) return *id;
  throw Error(ExitCode::usage, fmt::format("there is no run '{}'{} (the runs: {})", selector,
                                           nearest_label(db, selector), runs_there_are(db)));
}

}  // namespace warpmeter::schema
