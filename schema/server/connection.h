// SPDX-License-Identifier: MIT
// A connection to a PostgreSQL server: its errors as sentences, without the password that came with
// the server's name. For this folder only.
//
// Error{usage}        what was typed is no name of a server, or no condition
// Error{no_hardware}  no libpq here, a wrong password, no permission
// Error{file}         no such server or database, it went away, it refuses
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "schema/server/libpq.h"

namespace warpmeter::schema::server {

/// Texts, as PostgreSQL writes its values; nothing for NULL.
using Text = std::optional<std::string>;
using TextRows = std::vector<std::vector<Text>>;

/// A list as one parameter, for `unnest($1::text[])` and `= ANY ($1::text[])`.
std::string array_of(std::span<const std::string> texts);

class Connection {
 public:
  /// `where`: whatever libpq takes, a URL or "host=… dbname=…", service=… among it. Where
  /// `cancelled` says so before the server has answered, it is left alone at once: Error{nothing}.
  explicit Connection(const std::string& where, const std::function<bool()>& cancelled = {});

  /// "warpmeter on lab", for messages.
  const std::string& name() const { return name_; }

  /// Statements without parameters, one after the other.
  void execute(const std::string& sql);
  /// One statement with $1, $2, …
  TextRows query(const std::string& sql, const std::vector<Text>& parameters = {});
  /// As query; what PostgreSQL says against the statement is Error{usage} in its words.
  TextRows query_user(const std::string& sql);
  /// The first value of the first row; nothing when it is NULL or there is none.
  Text value(const std::string& sql, const std::vector<Text>& parameters = {});

  // COPY, both ways in chunks.
  void begin_copy(const std::string& sql);
  void put(std::string_view chunk);
  void end_copy();
  /// `on_chunk` gets each chunk of a COPY … TO STDOUT; a chunk is whole rows.
  void copy_out(const std::string& sql, const std::function<void(std::string_view)>& on_chunk);

  /// Says a statement to the server, and forgets what it answers: to undo after a failure.
  void try_to(const char* sql) noexcept;

 private:
  using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;
  Result result(PGresult* result) const { return {result, libpq_.PQclear}; }
  TextRows rows_of(const PGresult* result) const;
  void expect(const PGresult* result, std::initializer_list<ExecStatusType> expected) const;
  Error failure(const PGresult* result) const;
  Error lost() const;

  const Libpq& libpq_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
  std::string name_;
};

/// BEGIN … COMMIT; rolled back unless committed.
class ServerTransaction {
 public:
  explicit ServerTransaction(Connection& server, const char* begin = "BEGIN");
  ~ServerTransaction();
  ServerTransaction(const ServerTransaction&) = delete;
  ServerTransaction& operator=(const ServerTransaction&) = delete;
  void commit();

 private:
  Connection* server_;
};

}  // namespace warpmeter::schema::server
