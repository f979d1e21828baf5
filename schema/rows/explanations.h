// SPDX-License-Identifier: MIT
// Explanations in the database. Launches that are told the same share one, which is found by a
// digest of all that it says; the views findings, remedies, predictions and looked_for unfold it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "schema/explanation.h"
#include "schema/rows/many_rows.h"
#include "schema/sqlite.h"

namespace warpmeter::schema {

/// {"width":4,"lanes":[{"lane":0,"address":64,"pass":1},…]}; nothing without a lane.
std::optional<std::string> lanes_text(const WarpPicture& picture);

/// 32 hexadecimal digits: the same for equal explanations, on every machine.
std::string digest_of(const Explanation& explanation);

/// Writes explanations, inside the transaction of their launch.
class ExplanationWriter {
 public:
  /// `number_of_counter`: its number in t_counter, by name.
  ExplanationWriter(sqlite3* db,
                    std::function<std::int64_t(const std::string& counter)> number_of_counter);

  /// To be called when a transaction begins: what the one before wrote may be gone.
  void forget() {
    last_id_ = 0;
    explained_.forget();
  }

  /// Nothing where nothing was looked for and nobody said why. flush() ends what was begun.
  /// Returns the number of the explanation; nullopt: none.
  std::optional<std::int64_t> write(std::int64_t launch_id, const Explanation& explanation);

  void flush() { explained_.flush(); }

  /// Adds to what the launch was told, after the findings of the model. Once a launch.
  void add_measured(std::int64_t launch_id, const MeasuredFindings& measured);

 private:
  /// The number of the explanation with that digest, made by `insert` where there is none.
  std::int64_t find_or_make(const std::string& digest, bool was_made,
                            const std::function<void(std::int64_t id)>& insert);
  void copy(std::int64_t from, std::int64_t to);
  void insert_findings(std::int64_t id, std::int64_t first_rank,
                       const std::vector<Finding>& findings);
  void insert_looked_for(std::int64_t id, const Explanation& explanation);
  void insert_remedies(std::int64_t id, std::int64_t rank, const Finding& finding);

  sqlite3* db_;
  std::function<std::int64_t(const std::string&)> number_of_counter_;
  ManyRows<std::int64_t, std::int64_t> explained_;
  Statement find_, explanation_, looked_for_, finding_, remedy_, prediction_;
  Explanation last_;          ///< most launches of a kernel have that of the launch before
  std::int64_t last_id_ = 0;  ///< its number; 0: not known
};

/// Takes away those of no launch any more.
void remove_unused_explanations(sqlite3* db);

/// The kinds that this program looks for, for the view looked_for.
void replace_finding_kinds(sqlite3* db);

}  // namespace warpmeter::schema
