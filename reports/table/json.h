// SPDX-License-Identifier: MIT
// The JSON library stays behind this header, which only .cpp files include.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/table/table.h"

namespace warpmeter::reports {

/// One row as an object in the table's order. Numbers exact, whole numbers without ".0"; numbers
/// that JSON lacks (infinity) and missing values are null.
nlohmann::ordered_json json_row(const Table& table, std::size_t row);

/// JSON that a column holds. Throws Error{file} where it is none, or nested deeper than what
/// warpmeter writes; `what` names the column: "the lanes of a finding".
nlohmann::ordered_json stored_json(const std::string& text, std::string_view what);
/// Throws Error{file}: the database holds something there that warpmeter does not write.
[[noreturn]] void refuse_stored(std::string_view what);

/// Text of a value, on one line unless `indent` is given; bytes that are no UTF-8 become U+FFFD,
/// and what would act on a terminal is spelled out.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

/// The table as an array, one row a line; `indent` goes before each row and the closing bracket.
std::string json_array(const Table& table, std::string_view indent = "");

}  // namespace warpmeter::reports
