// SPDX-License-Identifier: MIT
// Runs that `compare` takes from other databases: "main.db" is its last run, "main.db:nightly" the
// one of that label.
//
// A comparison reads one database. So the runs are copied into one that goes away again: nobody's
// file is changed, and runs of one number are told apart by the file that they came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/temporary.h"
#include "reports/unfinished.h"

namespace warpmeter::cli {

/// A run and the database that it is in.
struct PlaceOfRun {
  std::string database;
  std::string run;  ///< as schema::Reader::find_run takes it
};

/// The database and the run in a typed word: FILE or FILE:RUN, FILE ending in .db, .sqlite or
/// .sqlite3, or a path of several parts that leads to a file.
std::optional<PlaceOfRun> place_of_run(const std::string& text);

/// Copies of runs, in a database of their own as long as this lives.
class CopiedRuns {
 public:
  /// Throws Error as schema::Reader and find_run do, with the file's name.
  explicit CopiedRuns(const std::vector<PlaceOfRun>& places);

  std::string database() const;
  const std::vector<std::string>& ids() const { return ids_; }  ///< in the order of the places
  const std::vector<std::int64_t>& originals() const { return originals_; }  ///< their ids at home
  /// "main.db, run 5 (nightly)"
  const reports::RunNames& names() const { return names_; }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> ids_;
  std::vector<std::int64_t> originals_;
  reports::RunNames names_;
};

}  // namespace warpmeter::cli
