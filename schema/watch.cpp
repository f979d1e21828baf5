// SPDX-License-Identifier: MIT
// The lists hold what computes from its arguments, or tells about tables. Functions that
// read files, load code, take addresses or show the inside of an index are not on them, nor are
// those that a later SQLite or somebody's build of it adds.
#include "schema/watch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "schema/own_objects.h"

namespace warpmeter::schema {
namespace {

template <class Names>
bool is_in(const Names& names, std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

constexpr std::string_view functions =
    " -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat"
    " concat_ws cos cosh count cume_dist current_date current_time current_timestamp date"
    " datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull"
    " iif instr json json_array json_array_length json_error_position json_extract"
    " json_group_array json_group_object json_insert json_object json_patch json_pretty"
    " json_quote json_remove json_replace json_set json_type json_valid julianday lag"
    " last_value lead length like likelihood likely ln log log10 log2 lower ltrim max median"
    " min mod nth_value ntile nullif octet_length percent_rank percentile percentile_cont"
    " percentile_disc pi pow power printf quote radians random randomblob rank replace round"
    " row_number rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr"
    " substring sum tan tanh time timediff total trim trunc typeof unhex unicode unixepoch"
    " unlikely upper zeroblob ";

// In alphabetical order.
constexpr std::string_view pragmas_with_argument[] = {
    "foreign_key_check", "foreign_key_list", "index_info", "index_list",
    "index_xinfo",       "table_info",       "table_list", "table_xinfo"};
constexpr std::string_view pragmas_without[] = {
    "application_id", "database_list", "integrity_check", "journal_mode", "page_count",
    "page_size",      "quick_check",   "schema_version",  "user_version"};
static_assert(std::is_sorted(std::begin(pragmas_with_argument), std::end(pragmas_with_argument)) &&
              std::is_sorted(std::begin(pragmas_without), std::end(pragmas_without)));

constexpr const char* modules[] = {"json_each", "json_tree", nullptr};

}  // namespace

void keep_listed_modules(sqlite3* db) {
  sqlite3_drop_modules(db, const_cast<const char**>(modules));
}

Watch::Watch(sqlite3* db) : db_(db) {
  // The first use of these declares them, which would look like writing.
  sqlite3_exec(db_, "SELECT 1 FROM json_each('[]'), json_tree('[]')", nullptr, nullptr, nullptr);
  sqlite3_set_authorizer(db_, authorize, this);
}

Watch::~Watch() { sqlite3_set_authorizer(db_, nullptr, nullptr); }

int Watch::refuse(std::string why) {
  refusal_ = std::move(why);
  return SQLITE_DENY;
}

int Watch::authorize(void* watch, int action, const char* first, const char* second, const char*,
                     const char*) {
  auto& self = *static_cast<Watch*>(watch);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION: {
      const std::string name = second == nullptr ? "" : lower_case(second);
      if (functions.find(" " + name + " ") != std::string_view::npos) return SQLITE_OK;
      return self.refuse(
          fmt::format("the SQL function {} is not allowed in queries, which only read: use "
                      "SQLite's functions for numbers, texts, dates and JSON",
                      name));
    }
    case SQLITE_PRAGMA: {
      const std::string name = first == nullptr ? "" : lower_case(first);
      if (is_in(pragmas_with_argument, name)) return SQLITE_OK;
      if (is_in(pragmas_without, name)) {
        if (second == nullptr) return SQLITE_OK;
        break;
      }
      return self.refuse(fmt::format(
          "read-only: the pragma {} is not on the list of those that queries may use: {}, {}", name,
          fmt::join(pragmas_with_argument, ", "), fmt::join(pragmas_without, ", ")));
    }
    default:
      break;
  }
  self.is_writing_ = true;
  return self.refuse(
      "read-only: query cannot change the database; write SELECT …, or use the other commands");
}

}  // namespace warpmeter::schema
