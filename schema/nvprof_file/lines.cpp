// SPDX-License-Identifier: MIT
#include "schema/nvprof_file/lines.h"

#include <map>
#include <span>
#include <utility>

namespace warpmeter::schema {
namespace {

using Row = std::span<const Value>;

/// Functions and lines, each once, under numbers from 1.
class Places {
 public:
  Places(sqlite3* db, NvprofTexts& texts)
      : texts_(texts),
        functions_(db, "FUNCTION", {"id", "functionIndex", "name"}),
        locators_(db, "SOURCE_LOCATOR", {"id", "lineNumber", "fileName"}) {}

  std::int64_t function(const std::string& kernel) {
    const auto [found, is_new] = function_ids_.try_emplace(kernel, functions_.rows() + 1);
    if (is_new) functions_.add(found->second, found->second, texts_.number_of(kernel));
    return found->second;
  }

  std::int64_t line(const std::string& file, std::int64_t line) {
    const auto [found, is_new] = line_ids_.try_emplace({file, line}, locators_.rows() + 1);
    if (is_new) locators_.add(found->second, line, texts_.number_of(file));
    return found->second;
  }

 private:
  NvprofTexts& texts_;
  NvprofRows functions_, locators_;
  std::map<std::string, std::int64_t> function_ids_;
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> line_ids_;
};

/// A line has a row for its loads and one for its stores. Threads are not counted by line, and are
/// 0; the size of an access is the flags' lowest byte, 0 where it is not known.
void write_accesses(const Reader& reader, const Parameters& run, sqlite3* db, Places& places,
                    const NvprofLaunches& launches, const NvprofSourceLevel& source_level) {
  constexpr std::int64_t loads = 1 << 8;  // CUPTI_ACTIVITY_FLAG_GLOBAL_ACCESS_KIND_LOAD, _SHARED_
  NvprofRows global(db, "GLOBAL_ACCESS",
                    {"flags", "sourceLocatorId", "correlationId", "functionId", "executed",
                     "l2_transactions", "theoreticalL2Transactions"});
  NvprofRows shared(db, "SHARED_ACCESS",
                    {"flags", "sourceLocatorId", "correlationId", "functionId", "executed",
                     "sharedTransactions", "theoreticalSharedTransactions"});
  reader.each(
      "SELECT launch_id, file, line, access, requests, transactions, ideal FROM lines "
      "WHERE run_id = :run ORDER BY launch_id, file, line, access",
      run, [&](Row row) {
        const auto launch = launches.find(integer_in(row[0]));
        const std::string access = text_in(row[3]);
        const bool is_global = access == "global load" || access == "global store";
        const bool is_shared = access == "shared load" || access == "shared store";
        const bool is_wanted =
            (is_global && source_level.global_access) || (is_shared && source_level.shared_access);
        if (launch == launches.end() || !is_wanted) return;
        (is_global ? global : shared)
            .add(access.ends_with("load") ? loads : std::int64_t{0},
                 places.line(text_in(row[1]), integer_in(row[2])), launch->second.correlation,
                 places.function(launch->second.kernel), integer_in(row[4]), integer_in(row[5]),
                 integer_in(row[6]));
      });
}

void write_executions(const Reader& reader, const Parameters& run, sqlite3* db, Places& places,
                      const NvprofLaunches& launches) {
  NvprofRows executed(db, "INSTRUCTION_EXECUTION",
                      {"correlationId", "functionId", "pcOffset", "executed"});
  reader.each(
      "SELECT launch_id, address, count FROM instructions WHERE run_id = :run AND "
      "what = 'executed' ORDER BY launch_id, address",
      run, [&](Row row) {
        const auto launch = launches.find(integer_in(row[0]));
        if (launch == launches.end()) return;
        executed.add(launch->second.correlation, places.function(launch->second.kernel),
                     integer_in(row[1]), integer_in(row[2]));
      });
}

}  // namespace

void write_nvprof_lines(const Reader& reader, const Parameters& run, sqlite3* db,
                        NvprofTexts& texts, const NvprofLaunches& launches,
                        const NvprofSourceLevel& source_level) {
  Places places(db, texts);
  write_accesses(reader, run, db, places, launches, source_level);
  if (source_level.instruction_execution) write_executions(reader, run, db, places, launches);
}

}  // namespace warpmeter::schema
