// SPDX-License-Identifier: MIT
#include "schema/server/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace warpmeter::schema::server {
namespace {

/// libpq's own words repeat what was typed, password and all.
Error unreadable() {
  return {ExitCode::usage,
          "the name of the server cannot be read: write postgresql://HOST/DATABASE, 'host=HOST "
          "dbname=DATABASE' or service=NAME (in a URL, special characters of a password are "
          "written as %40)"};
}

/// A password with an @ or a slash in it, typed into a URL as it is, ends up here in pieces.
bool is_piece_of_password(std::string_view keyword, std::string_view value) {
  if (keyword == "port") return value.find_first_not_of("0123456789,") != std::string_view::npos;
  return keyword == "host" && value.find('@', 1) != std::string_view::npos;
}

/// Keywords and values as libpq reads them out of what was typed.
std::vector<std::pair<std::string, std::string>> settings_of(const Libpq& libpq,
                                                             const std::string& where) {
  char* words = nullptr;
  PQconninfoOption* options = libpq.PQconninfoParse(where.c_str(), &words);
  if (words != nullptr) libpq.PQfreemem(words);
  if (options == nullptr) throw unreadable();
  std::vector<std::pair<std::string, std::string>> settings;
  bool is_readable = true;
  for (const PQconninfoOption* option = options; option->keyword != nullptr; ++option) {
    if (option->val != nullptr) settings.emplace_back(option->keyword, option->val);
    is_readable &= option->val == nullptr || !is_piece_of_password(option->keyword, option->val);
  }
  libpq.PQconninfoFree(options);
  if (!is_readable) throw unreadable();
  return settings;
}

/// A network that swallows everything is noticed within a minute, unless somebody chose otherwise.
void add_patience(std::vector<std::pair<std::string, std::string>>& settings) {
  constexpr std::pair<const char*, const char*> ours[] = {
      {"connect_timeout", "10"},  {"keepalives_idle", "15"},     {"keepalives_interval", "5"},
      {"keepalives_count", "3"},  {"tcp_user_timeout", "30000"}, {"application_name", "warpmeter"},
      {"client_encoding", "UTF8"}};
  for (const auto& our : ours) {
    const bool is_given = std::any_of(settings.begin(), settings.end(), [&](const auto& setting) {
      return setting.first == our.first;
    });
    if (!is_given) settings.emplace_back(our.first, our.second);
  }
}

/// libpq writes lines; a sentence has none.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n' || c == '\t' || c == '\r') {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else {
      line += c;
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A connection that is being made by a thread of its own. libpq's way without waiting
/// (PQconnectPoll) still waits for the name to be looked up, and leaves the patience with each of
/// several hosts to us.
struct Attempt {
  Settings settings;
  std::mutex mutex;
  std::condition_variable has_ended;
  bool is_abandoned = false;
  std::optional<PGconn*> connection;
};

void make_connection(const Libpq& libpq, Attempt& attempt) {
  std::vector<const char*> keywords, values;
  for (const auto& [keyword, value] : attempt.settings) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  PGconn* made = libpq.PQconnectStartParams(keywords.data(), values.data(), 0);
  // A server that goes away says so twice: what it says on its way is not printed, the failure is.
  // That has to be settled before the server can speak, hence a beginning that waits for nothing,
  // and once more with the patience of libpq's own loop over hosts and addresses.
  libpq.PQsetNoticeProcessor(
      made, [](void*, const char*) {}, nullptr);
  if (libpq.PQstatus(made) != CONNECTION_BAD) libpq.PQreset(made);
  const std::lock_guard lock(attempt.mutex);
  if (attempt.is_abandoned) {
    libpq.PQfinish(made);
  } else {
    attempt.connection = made;
    attempt.has_ended.notify_all();
  }
}

/// nullptr: told to end before there was an answer.
PGconn* connected(const Libpq& libpq, Settings settings, const std::function<bool()>& cancelled) {
  using namespace std::chrono_literals;
  const auto attempt = std::make_shared<Attempt>();
  attempt->settings = std::move(settings);
  std::thread([&libpq, attempt] { make_connection(libpq, *attempt); }).detach();
  std::unique_lock lock(attempt->mutex);
  while (!attempt->connection) {
    attempt->has_ended.wait_for(lock, 50ms);
    if (attempt->connection || !cancelled || !cancelled()) continue;
    attempt->is_abandoned = true;
    return nullptr;
  }
  return *attempt->connection;
}

/// True if libpq refused words that it read, before it asks any server.
bool is_about_words(std::string_view words) {
  for (const std::string_view begin : {"invalid ", "definition of service", "service file",
                                       "syntax error in service file", "could not match"}) {
    if (words.starts_with(begin)) return true;
  }
  // Where no support for something was built in: sslmode value "require" invalid when …
  return has(words, " invalid when ") || has(words, "for connection option \"");
}

/// The server or libpq refused to connect. The words may be in the server's language; the flags are
/// sure.
Error refused(const Libpq& libpq, PGconn* connection, const std::string& name) {
  const std::string words = one_line(libpq.PQerrorMessage(connection));
  if (is_about_words(words)) {
    return {ExitCode::usage, fmt::format("the name of the server cannot be used: {}", words)};
  }
  if (libpq.PQconnectionNeedsPassword(connection) != 0) {
    return {ExitCode::no_hardware,
            fmt::format("{} wants a password: put one into ~/.pgpass or $PGPASSWORD ({})", name,
                        words)};
  }
  const bool is_busy = has(words, "too many connections") || has(words, "too many clients") ||
                       has(words, "connection slots are reserved") ||
                       has(words, "the database system is ");
  const bool about_person = libpq.PQconnectionUsedPassword(connection) != 0 ||
                            has(words, "authentication failed") || has(words, "pg_hba.conf") ||
                            has(words, "role \"") || has(words, "permission denied for database");
  if (about_person && !is_busy && !has(words, "does not exist")) {
    return {ExitCode::no_hardware,
            fmt::format("{} does not let you in: check user and password ({})", name, words)};
  }
  if (has(words, "role \"")) {
    return {ExitCode::no_hardware, fmt::format("{} does not know you ({})", name, words)};
  }
  if (has(words, "expected authentication request") || has(words, "invalid response to SSL")) {
    return {ExitCode::file,
            fmt::format("what answers there is no PostgreSQL: check host and port of {} ({})", name,
                        words)};
  }
  // The server itself answered: its words begin so in every language.
  if (has(words, "FATAL: ")) {
    const bool lacks_database = has(words, "database \"") && has(words, "does not exist");
    return {ExitCode::file,
            lacks_database
                ? fmt::format("{} answers, and has no such database: check its name, or have it "
                              "made with createdb ({})",
                              name, words)
                : fmt::format("{} answers, and takes no connection now ({})", name, words)};
  }
  return {
      ExitCode::file,
      fmt::format("{} cannot be reached: check its name, and whether it is up ({})", name, words)};
}

}  // namespace

std::string array_of(std::span<const std::string> texts) {
  std::string array = "{";
  for (const std::string& text : texts) {
    array += array.size() == 1 ? "\"" : ",\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') array += '\\';
      array += c;
    }
    array += '"';
  }
  return array + "}";
}

Connection::Connection(const std::string& where, const std::function<bool()>& cancelled)
    : libpq_(Libpq::get()), connection_(nullptr, libpq_.PQfinish) {
  std::vector<std::pair<std::string, std::string>> settings = settings_of(libpq_, where);
  add_patience(settings);
  connection_.reset(connected(libpq_, std::move(settings), cancelled));
  PGconn* connection = connection_.get();
  if (connection == nullptr) {
    throw Error(ExitCode::nothing, "ended before the server answered; nothing was done");
  }
  const auto text = [](const char* found) { return std::string(found == nullptr ? "" : found); };
  const std::string host = text(libpq_.PQhost(connection)),
                    database = text(libpq_.PQdb(connection));
  name_ = "the server";
  if (!database.empty()) name_ += " " + database;
  if (!host.empty()) name_ += " on " + host;
  if (libpq_.PQstatus(connection) != CONNECTION_OK) throw refused(libpq_, connection, name_);
  constexpr int oldest = 150000;
  const int version = libpq_.PQserverVersion(connection);
  if (version < oldest) {
    throw Error(ExitCode::file, fmt::format("{} is PostgreSQL {}: warpmeter needs 15 or newer",
                                            name_, version / 10000));
  }
  execute("SET client_min_messages = error; SET DateStyle = ISO; SET extra_float_digits = 1");
}

void Connection::execute(const std::string& sql) {
  const Result answer = result(libpq_.PQexec(connection_.get(), sql.c_str()));
  expect(answer.get(), {PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY});
}

void Connection::try_to(const char* sql) noexcept {
  libpq_.PQclear(libpq_.PQexec(connection_.get(), sql));
}

TextRows Connection::query(const std::string& sql, const std::vector<Text>& parameters) {
  std::vector<const char*> values;
  for (const Text& parameter : parameters) {
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  const Result answer =
      result(libpq_.PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()),
                                 nullptr, values.data(), nullptr, nullptr, 0));
  expect(answer.get(), {PGRES_COMMAND_OK, PGRES_TUPLES_OK});
  return rows_of(answer.get());
}

TextRows Connection::query_user(const std::string& sql) {
  const Result answer = result(libpq_.PQexecParams(connection_.get(), sql.c_str(), 0, nullptr,
                                                   nullptr, nullptr, nullptr, 0));
  const char* state = libpq_.PQresultErrorField(answer.get(), PG_DIAG_SQLSTATE);
  // Class 42 is a mistake in a statement, 22 and 21 in its values; 42501 is permission.
  const std::string_view code = state == nullptr ? "" : state;
  const bool is_typed =
      code.starts_with("42") || code.starts_with("22") || code.starts_with("21") || code == "25006";
  if (is_typed && code != "42501") {
    const char* words = libpq_.PQresultErrorField(answer.get(), PG_DIAG_MESSAGE_PRIMARY);
    throw Error(ExitCode::usage, one_line(words == nullptr ? "" : words));
  }
  expect(answer.get(), {PGRES_TUPLES_OK});
  return rows_of(answer.get());
}

Text Connection::value(const std::string& sql, const std::vector<Text>& parameters) {
  TextRows rows = query(sql, parameters);
  if (rows.empty() || rows.front().empty()) return std::nullopt;
  return std::move(rows.front().front());
}

void Connection::begin_copy(const std::string& sql) {
  const Result answer = result(libpq_.PQexec(connection_.get(), sql.c_str()));
  expect(answer.get(), {PGRES_COPY_IN});
}

void Connection::put(std::string_view chunk) {
  if (libpq_.PQputCopyData(connection_.get(), chunk.data(), static_cast<int>(chunk.size())) != 1) {
    // Why is in the result, where the server said something before it went.
    const Result answer = result(libpq_.PQgetResult(connection_.get()));
    throw failure(answer.get());
  }
}

void Connection::end_copy() {
  if (libpq_.PQputCopyEnd(connection_.get(), nullptr) != 1) throw lost();
  const Result answer = result(libpq_.PQgetResult(connection_.get()));
  expect(answer.get(), {PGRES_COMMAND_OK});
  while (const Result more = result(libpq_.PQgetResult(connection_.get()))) {
  }
}

void Connection::copy_out(const std::string& sql,
                          const std::function<void(std::string_view)>& on_chunk) {
  const Result answer = result(libpq_.PQexec(connection_.get(), sql.c_str()));
  expect(answer.get(), {PGRES_COPY_OUT});
  while (true) {
    char* chunk = nullptr;
    const int size = libpq_.PQgetCopyData(connection_.get(), &chunk, 0);
    if (size < 0) break;
    const std::unique_ptr<char, void (*)(void*)> held(chunk, libpq_.PQfreemem);
    on_chunk({chunk, static_cast<std::size_t>(size)});
  }
  const Result end = result(libpq_.PQgetResult(connection_.get()));
  expect(end.get(), {PGRES_COMMAND_OK});
  while (const Result more = result(libpq_.PQgetResult(connection_.get()))) {
  }
}

TextRows Connection::rows_of(const PGresult* result) const {
  TextRows rows(static_cast<std::size_t>(libpq_.PQntuples(result)));
  const int columns = libpq_.PQnfields(result);
  for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
    for (int column = 0; column < columns; ++column) {
      Text& text = rows[static_cast<std::size_t>(row)].emplace_back();
      if (libpq_.PQgetisnull(result, row, column) != 0) continue;
      text.emplace(libpq_.PQgetvalue(result, row, column),
                   static_cast<std::size_t>(libpq_.PQgetlength(result, row, column)));
    }
  }
  return rows;
}

void Connection::expect(const PGresult* result,
                        std::initializer_list<ExecStatusType> expected) const {
  const ExecStatusType status = libpq_.PQresultStatus(result);
  if (std::find(expected.begin(), expected.end(), status) == expected.end()) throw failure(result);
}

Error Connection::lost() const {
  return {ExitCode::file,
          fmt::format("{} went away in the middle ({}): say the same again when it is back, what "
                      "was finished is kept",
                      name_, one_line(libpq_.PQerrorMessage(connection_.get())))};
}

Error Connection::failure(const PGresult* result) const {
  if (libpq_.PQstatus(connection_.get()) != CONNECTION_OK) return lost();
  const auto field = [&](int code) {
    const char* text = libpq_.PQresultErrorField(result, code);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(PG_DIAG_SQLSTATE);
  std::string words = one_line(field(PG_DIAG_MESSAGE_PRIMARY));
  if (words.empty()) words = one_line(libpq_.PQerrorMessage(connection_.get()));
  if (state == "42501") {
    return {ExitCode::no_hardware,
            fmt::format("{} does not let you do that ({}): ask its owner for the role "
                        "warpmeter_writer to push, warpmeter_reader to pull (warpmeter push "
                        "--roles)",
                        name_, words)};
  }
  if (state.starts_with("57P") || state.starts_with("08")) return lost();
  return {ExitCode::file, fmt::format("{} refuses: {}", name_, words)};
}

ServerTransaction::ServerTransaction(Connection& server, const char* begin) : server_(&server) {
  server.execute(begin);
}

ServerTransaction::~ServerTransaction() {
  if (server_ != nullptr) server_->try_to("ROLLBACK");
}

void ServerTransaction::commit() {
  server_->execute("COMMIT");
  server_ = nullptr;
}

}  // namespace warpmeter::schema::server
