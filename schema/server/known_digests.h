// SPDX-License-Identifier: MIT
// The digests of a database's runs, kept from one push to the next, so that a database that nobody
// wrote to since is not read again. For this folder only.
//
// They hold as long as the file and its write-ahead log are what they were: the same inodes, sizes,
// and times of their last change to the nanosecond. Nobody can set the latter back (not even who
// sets back the time of modification), so that a run that was changed by hand is always found; any
// write, also that of another run, has all runs read again. A time that is too fresh to tell a
// change from the next one is none to go by.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace warpmeter::schema::server {

class KnownDigests {
 public:
  /// To be made before anything is read: what is read after belongs to the file as it was then, or
  /// is not kept.
  explicit KnownDigests(const std::string& database);

  std::optional<std::string> of(const std::string& uuid) const;
  void learn(const std::string& uuid, const std::string& digest);

  /// For the next push, in $XDG_CACHE_HOME/warpmeter, when the file is still what it was. Where
  /// that cannot be written nothing is kept, and no error.
  void keep() const;

 private:
  std::string stamp() const;

  std::string database_, place_, stamp_;  ///< place_, stamp_: empty where nothing can be kept
  std::map<std::string, std::string> digests_;
  bool has_new_ = false;
};

}  // namespace warpmeter::schema::server
