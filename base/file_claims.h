// SPDX-License-Identifier: MIT
// Which files a command reads and which it will write: nothing is written over what is read, and
// nothing is written twice.
//
// A command claims all of its files before it does anything. A result can only be opened at a
// Destination (see output.h), and only a claim makes one, so no command can leave the check out.
// The order of the claims does not matter. Files are told apart by device and inode, or, where
// there is none yet, by their resolved path: links and ./a/../b lead to the same file. A path that
// is no regular file (/dev/null, a pipe) cannot be overwritten and is never in the way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace warpmeter {

/// A place that results may go to: a file that is in nobody's way, or standard output.
class Destination {
 public:
  static Destination standard_output() { return {}; }
  bool is_standard_output() const { return path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  friend class FileClaims;
  std::string path_;
};

/// Each function throws Error{usage} when the file is one that was claimed before, and one of the
/// two is written.
class FileClaims {
 public:
  /// `what` ends the sentence "-o FILE would overwrite …": "the kernel's source".
  void read(const std::string& path, const std::string& what);

  /// A database, with what SQLite keeps beside it.
  void read_database(const std::string& path, const std::string& what = "the database");

  /// A database that `option` names and that this command adds to.
  void store(const std::string& path, const std::string& option = "--db");

  /// A result of `option`. Empty or "-": standard output.
  Destination write(const std::string& path, const std::string& option);

 private:
  struct Claim {
    std::string option = {};  ///< that has it written; empty: it is read
    std::string path = {};    ///< as it was given
    std::string what = {};
    const char* verb = "overwrite";
    bool exists = false;
    dev_t device = 0;
    ino_t inode = 0;
    std::string resolved = {};
  };
  void add(Claim claim);
  void add_database(const std::string& path, const std::string& what, const std::string& option);

  std::vector<Claim> claims_;
};

/// Throws Error{file} where the folder of a result of `option` is missing: a person hears it before
/// a long run.
void require_folder(const std::string& path, const std::string& option);

}  // namespace warpmeter
