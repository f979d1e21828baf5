// SPDX-License-Identifier: MIT
// nvprof's tables (tables.txt), created and filled. For this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/sqlite.h"
#include "schema/store.h"

namespace warpmeter::schema {

/// The version that goes with tables.txt.
constexpr std::int64_t nvprof_version = 11;

/// Makes all tables in an empty database, without their indexes.
void create_nvprof_tables(sqlite3* db);
void create_nvprof_indexes(sqlite3* db);

/// Adds rows to one table: the columns that are named get values, the others 0.
class NvprofRows {
 public:
  NvprofRows(sqlite3* db, std::string_view table, const std::vector<std::string_view>& columns);

  template <class... Values>
  void add(const Values&... values) {
    insert_.execute(values...);
    ++rows_;
  }
  std::int64_t rows() const { return rows_; }

 private:
  Statement insert_;
  std::int64_t rows_ = 0;
};

/// StringTable: each text once.
class NvprofTexts {
 public:
  explicit NvprofTexts(sqlite3* db)
      : insert_(db, "INSERT INTO StringTable (_id_, value) VALUES (?, ?)") {}
  std::int64_t number_of(const std::string& text);

 private:
  Statement insert_;
  std::unordered_map<std::string, std::int64_t> known_;
};

}  // namespace warpmeter::schema
