// SPDX-License-Identifier: MIT
// Rows as programs read them, as they come: the same text as render_csv and render_json make of a
// table, without the table. A million rows take no more memory than one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schema/store.h"

namespace warpmeter::reports {

/// The names, each once: of equal ones, later ones get a number: "n", "n_2".
std::vector<std::string> distinct_names(std::span<const std::string> names);

/// A field as RFC 4180 says; see render_csv. Every CSV of the program is written by this, but
/// nvprof's (reports/nvprof/units.h).
void append_csv(std::string& text, const schema::Value& value);
/// A value as JSON; see json_row. Bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& text, const schema::Value& value);

/// A line of the fields.
void append_csv_row(std::string& text, std::span<const schema::Value> row);

/// Rows as objects on one line, keyed by column name.
class JsonRows {
 public:
  explicit JsonRows(std::span<const std::string> columns);
  void append(std::string& text, std::span<const schema::Value> row) const;

 private:
  std::vector<std::string> keys_;  ///< the text before each value: `{"a":`, `,"b":`
};

}  // namespace warpmeter::reports
