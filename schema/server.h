// SPDX-License-Identifier: MIT
// Runs to a PostgreSQL server and back: the lab's database. A run is known by its UUID there as
// everywhere, is added whole in one transaction or not at all, and never changed after.
//
// Errors are those of schema/server/connection.h: Error{usage}, Error{no_hardware} (no libpq, a
// wrong password, no permission), Error{file}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::schema {

struct ServerOptions {
  bool migrate = false;  ///< prepare the server first, or bring it up to date
  std::function<bool()> cancelled;
  std::function<void(std::size_t done, std::size_t total)> progress;  ///< runs
};

/// The result for the runs on one side.
struct Exchanged {
  std::string server;                   ///< "the server warpmeter on lab"
  std::string migrated;                 ///< the change to the server; empty for nothing
  std::int64_t added = 0, running = 0;  ///< runs; those still measured are left
  std::int64_t known = 0;               ///< runs that are there with the same content
  std::int64_t dropped = 0;             ///< runs of months that were taken off the server
  std::int64_t launches = 0, rows = 0;  ///< the launches of those added
  std::vector<std::string> conflicts;   ///< runs that differ: "run 3 (1f2e…): …"
  std::vector<std::string> remarks;
};

/// Prepares the server, or brings it up to date, and sends nothing; what was done, in words.
std::string prepare(const std::string& server, const ServerOptions& options = {});

/// Sends the runs of the database that the server lacks.
Exchanged push(const std::string& database, const std::string& server,
               const ServerOptions& options = {});

/// Brings runs into `target`, which is created or extended: those with a row in runs, launches or
/// comparison for which `condition` holds (SQL; empty: all). Throws Error{nothing}, and leaves the
/// target as it is, where it holds for none.
Exchanged pull(const std::string& server, const std::string& condition, const std::string& target,
               const ServerOptions& options = {});

/// SQL that makes the roles of a server: a writer and a reader.
std::string_view server_roles();

}  // namespace warpmeter::schema
