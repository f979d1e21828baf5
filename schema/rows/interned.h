// SPDX-License-Identifier: MIT
// Texts that a table holds once, such as the names of counters and the reasons of missing values.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "schema/sqlite.h"

namespace warpmeter::schema {

/// Numbers of the texts in a table that holds each once. A rollback may take a row away again:
/// then its number is forgotten too.
class Interned {
 public:
  Interned(sqlite3* db, const char* find, const char* insert)
      : db_(db), find_(db, find), insert_(db, insert) {}

  std::int64_t number_of(const std::string& text) {
    const auto [place, is_new] = known_.try_emplace(text, 0);
    if (!is_new) return place->second;
    find_.bind(1, text);
    if (find_.step()) {
      place->second = find_.integer(0);
      find_.reset();
    } else {
      insert_.execute(text);
      place->second = sqlite3_last_insert_rowid(db_);
    }
    return place->second;
  }

  void forget() { known_.clear(); }

 private:
  sqlite3* db_;
  Statement find_, insert_;
  std::unordered_map<std::string, std::int64_t> known_;
};

}  // namespace warpmeter::schema
