// SPDX-License-Identifier: MIT
// The migrations themselves make the expected definitions: those of today's version when warpmeter
// is built, those of an older one in memory. Then the texts of the definitions are compared, where
// they differ without their comments and spaces. A text decides more than the columns do: a CHECK,
// a generated column or a conflict clause is in it and nowhere else.
#include "schema/own_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/words.h"
#include "schema/embedded.h"
#include "schema/view_sql.h"
#include "schema/watch.h"

namespace warpmeter::schema {
namespace {

/// A definition without comments, and with one space where there may be any.
std::string plain(std::string_view sql) {
  std::string text;
  text.reserve(sql.size());
  bool space = false;
  const auto is_word = [](char c) { return is_of_word(c) || c == '"' || c == '\''; };
  const auto put = [&](std::string_view part) {
    if (space && !text.empty() && is_word(text.back()) && is_word(part.front())) text += ' ';
    space = false;
    text += part;
  };
  while (!sql.empty()) {
    const char c = sql.front();
    std::size_t length = 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      space = true;
    } else if (sql.starts_with("--")) {
      length = std::min(sql.find('\n'), sql.size());
      space = true;
    } else if (sql.starts_with("/*")) {
      const std::size_t end = sql.find("*/", 2);
      length = end == std::string_view::npos ? sql.size() : end + 2;
      space = true;
    } else if (c == '\'' || c == '"' || c == '`' || c == '[') {
      // A doubled quote inside is two texts side by side here, which compares as well.
      const std::size_t end = sql.find(c == '[' ? ']' : c, 1);
      length = end == std::string_view::npos ? sql.size() : end + 1;
      put(sql.substr(0, length));
    } else {
      put(sql.substr(0, 1));
    }
    sql.remove_prefix(length);
  }
  while (text.ends_with(';')) text.pop_back();
  return text;
}

struct Definition {
  std::string type, sql;
  bool is(std::string_view other_type, const std::string& other) const {
    return type == other_type && (sql == other || plain(sql) == plain(other));
  }
};
using Definitions = std::map<std::string, Definition>;  // by name

Definitions todays_tables() {
  return {
#include "schema/definitions.inc"
  };
}

/// The tables and indexes of a version of the tables.
const Definitions& tables_at(std::size_t version) {
  static std::mutex mutex;
  static std::map<std::size_t, Definitions> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(version);
  if (!is_new) return place->second;
  if (version == embedded::migrations().size()) return place->second = todays_tables();
  sqlite3* opened = nullptr;
  sqlite3_open(":memory:", &opened);
  Handle db = no_handle();
  db.reset(opened);
  for (const embedded::File& file : embedded::migrations().first(version)) {
    execute(db.get(), file.text);
  }
  Statement statement(db.get(), "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (statement.step()) {
    place->second[statement.text(0)] = {statement.text(1), statement.text(2)};
  }
  return place->second;
}

const Definitions& our_views() {
  static const Definitions views = [] {
    Definitions all;
    for (const auto files : {embedded::private_views(), embedded::public_views()}) {
      for (const embedded::File& file : files) {
        // As SQLite keeps it: without what stands before it and the semicolon.
        const std::string text = view_sql(file.text);
        const std::size_t begin = text.find("\nCREATE VIEW") + 1, end = text.rfind(';');
        all[std::string(file.name)] = {"view", text.substr(begin, end - begin)};
      }
    }
    return all;
  }();
  return views;
}

/// Names that are warpmeter's: of private tables and views, and of the public ones.
bool is_ours(const std::string& name) {
  return name.starts_with("t_") || name.starts_with("v_") || our_views().contains(name);
}

/// Columns as they are, in any order: it makes some queries faster and changes none.
bool is_plain_index(sqlite3* db, const std::string& table, const std::string& name) {
  Statement list(db,
                 "SELECT 1 FROM pragma_index_list(?) WHERE name = ? AND NOT \"unique\" AND NOT "
                 "partial");
  list.bind(1, table);
  list.bind(2, name);
  if (!list.step()) return false;
  Statement expression(db, "SELECT 1 FROM pragma_index_xinfo(?) WHERE cid = -2");
  expression.bind(1, name);
  return !expression.step();
}

/// Names from such a file are not for a terminal, and less for a shell.
std::string shown(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, 60)) {
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return text;
}

struct Fault {
  std::string what, type, name;
};

class Inspection {
 public:
  Inspection(sqlite3* db, std::string path)
      : db_(db),
        path_(std::move(path)),
        tables_(tables_at(static_cast<std::size_t>(integer_of(db, "PRAGMA user_version")))) {}

  bool inspect(const std::function<bool(sqlite3*)>& says_current) {
    Statement statement(db_, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema");
    while (statement.step()) {
      look_at(statement.text(0), statement.text(1), statement.text(2), statement.text(3));
    }
    for (const auto& [name, definition] : tables_) {
      if (!seen_.contains(name))
        faults_.push_back({fmt::format("the {} {} is missing", definition.type, name), "", ""});
    }
    if (!faults_.empty()) refuse(faults_);
    if (!view_faults_.empty() && says_current(db_)) refuse(view_faults_);
    return view_faults_.empty();
  }

 private:
  void look_at(const std::string& type, const std::string& name, const std::string& table,
               const std::string& sql) {
    const std::string low = lower_case(name), of = lower_case(table);
    if (type == "trigger") {
      if (!is_ours(of)) return;
      faults_.push_back({fmt::format("the trigger {} on {}", shown(name), shown(of)), type, name});
    } else if (type == "index") {
      if (!sql.empty() && is_ours(of) && !is_as_made(tables_, type, low, sql) &&
          (tables_.contains(low) || !is_plain_index(db_, table, name))) {
        faults_.push_back({fmt::format("the index {} on {}", shown(name), shown(of)), type, name});
      }
    } else if (is_ours(low)) {
      const bool may_be_a_view = type == "view" && !low.starts_with("t_");
      if (is_as_made(may_be_a_view ? our_views() : tables_, type, low, sql)) return;
      (may_be_a_view ? view_faults_ : faults_)
          .push_back({fmt::format("the {} {}, which warpmeter makes in another way or not at all",
                                  type, shown(low)),
                      type, name});
    }
  }

  bool is_as_made(const Definitions& made, const std::string& type, const std::string& name,
                  const std::string& sql) {
    const auto found = made.find(name);
    if (found == made.end()) return false;
    seen_.insert(name);  // or it is there and differs, which is said
    return found->second.is(type, sql);
  }

  /// The remedy of a fault; empty where nothing simple does. A view is made again by the next
  /// command, a table without its definition is lost.
  std::string remedy(const Fault& fault) const {
    const bool is_plain = std::all_of(fault.name.begin(), fault.name.end(), is_of_word);
    if (!is_plain || fault.name.empty() || fault.type == "table") return "";
    return fmt::format("undo it with: sqlite3 {} \"DROP {} {}\"", path_,
                       fault.type == "trigger" ? "TRIGGER"
                       : fault.type == "view"  ? "VIEW"
                                               : "INDEX",
                       fault.name);
  }

  [[noreturn]] void refuse(const std::vector<Fault>& faults) const {
    constexpr std::size_t most = 3;
    std::string list;
    for (std::size_t i = 0; i < std::min(faults.size(), most); ++i) {
      list += (i == 0 ? "" : "; ") + faults[i].what;
    }
    if (faults.size() > most) list += fmt::format("; and {} more", faults.size() - most);
    const std::string undo = remedy(faults.front());
    throw Error(ExitCode::file,
                fmt::format("{} was changed by something else than warpmeter and is not read ({}): "
                            "use a copy that was not, or {}",
                            path_, list, undo.empty() ? "ask who made this one" : undo));
  }

  sqlite3* db_;
  std::string path_;
  const Definitions& tables_;
  std::set<std::string> seen_;
  std::vector<Fault> faults_, view_faults_;
};

}  // namespace

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void distrust(sqlite3* db) {
  const std::pair<int, int> settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                          {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                          {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                          {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                          {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                                          {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}};
  for (const auto& [setting, value] : settings) sqlite3_db_config(db, setting, value, nullptr);
  keep_listed_modules(db);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, longest_text);
  sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM attaches its copy
  sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
  execute(db, "PRAGMA cell_size_check = ON");
}

bool refuse_changed_objects(sqlite3* db, const std::string& path,
                            const std::function<bool(sqlite3*)>& says_current) {
  return Inspection(db, path).inspect(says_current);
}

bool has_all_views(sqlite3* db) {
  std::size_t found = 0;
  Statement statement(db, "SELECT name FROM sqlite_schema WHERE type = 'view'");
  while (statement.step()) found += our_views().count(lower_case(statement.text(0)));
  return found == our_views().size();
}

}  // namespace warpmeter::schema
