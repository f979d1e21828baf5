// SPDX-License-Identifier: MIT
// The statements that come from people and files: `query`, sections of reports, and the views that
// a foreign database may hold. They may read, with the functions, pragmas and virtual tables of a
// list; every other one is refused before the statement starts. For this folder only.
#pragma once

#include <sqlite3.h>

#include <string>

namespace warpmeter::schema {

/// Takes the virtual tables that are not on the list off a connection.
void keep_listed_modules(sqlite3* db);

/// While it lives, a connection prepares and runs such statements only. One at a time.
class Watch {
 public:
  explicit Watch(sqlite3* db);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  /// The sentence for the person; empty while nothing was refused.
  const std::string& refusal() const { return refusal_; }
  /// True if what was refused looks like writing.
  bool refuses_writing() const { return is_writing_; }

 private:
  static int authorize(void* watch, int action, const char* first, const char* second, const char*,
                       const char*);
  int refuse(std::string why);

  sqlite3* db_;
  std::string refusal_;
  bool is_writing_ = false;
};

}  // namespace warpmeter::schema
