// SPDX-License-Identifier: MIT
// The numbers on a server of what runs name: devices, counters, reasons, explanations. Each is
// found by its content, or added, in transactions of their own and sorted, so that writers never
// wait for each other in a circle; one that no run names in the end does no harm. For this folder
// only.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/server/connection.h"
#include "schema/server/run_content.h"
#include "schema/sqlite.h"
#include "schema/table_shapes.h"

namespace warpmeter::schema::server {

class NamesThere {
 public:
  NamesThere(sqlite3* db, Connection& server, const Shapes& shapes)
      : db_(db), server_(server), shapes_(shapes) {}

  /// Learns the numbers of all that a run names.
  void learn(const RunContent& content);
  /// One that was learnt.
  std::int64_t number_there(Reference reference, std::int64_t number) const {
    return known_[static_cast<int>(reference)].at(number);
  }

 private:
  using Numbers = std::unordered_map<std::int64_t, std::int64_t>;
  using Named = std::vector<std::pair<std::string, std::int64_t>>;  ///< content, number here

  Numbers& known(Reference reference) { return known_[static_cast<int>(reference)]; }
  void learn_devices(const std::set<std::int64_t>& devices);
  void learn_texts(Reference reference, const char* table, const char* key, const char* text,
                   const char* more, const std::set<std::int64_t>& numbers);
  void learn_explanations(const std::set<std::int64_t>& numbers);
  Named unknown(Reference reference, const std::string& sql, const std::set<std::int64_t>& numbers);
  /// Notes those of `named` that the server has, and takes them away.
  void find(Reference reference, const char* table, const char* key, const char* text,
            Named& named);
  void add_rows_of_explanations(const std::unordered_map<std::int64_t, std::int64_t>& added);

  sqlite3* db_;
  Connection& server_;
  const Shapes& shapes_;
  Numbers known_[7];
};

}  // namespace warpmeter::schema::server
