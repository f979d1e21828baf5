// SPDX-License-Identifier: MIT
#include "reports/table/json.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "reports/table/number.h"

namespace warpmeter::reports {
namespace {

nlohmann::ordered_json value_of(const Cell& cell) {
  if (cell.missing()) return nullptr;
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return *whole;
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  const double real = std::get<double>(cell.value);
  if (!std::isfinite(real)) return nullptr;
  if (real == std::trunc(real) && std::abs(real) <= largest_exact_integer) {
    return static_cast<std::int64_t>(real);
  }
  return real;
}

}  // namespace

nlohmann::ordered_json json_row(const Table& table, std::size_t row) {
  auto object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    object[table.columns[i].name] = value_of(table.rows[row][i]);
  }
  return object;
}

void refuse_stored(std::string_view what) {
  throw Error(ExitCode::file, fmt::format("the database was changed by something else than "
                                          "warpmeter: {} cannot be read; use a copy that was not",
                                          what));
}

nlohmann::ordered_json stored_json(const std::string& text, std::string_view what) {
  constexpr int deepest = 8;  // deeper ones would take the stack
  bool is_too_deep = false;
  const auto look = [&](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
    is_too_deep |= depth > deepest;
    return !is_too_deep;
  };
  nlohmann::ordered_json value = nlohmann::ordered_json::parse(text, look, false);
  if (value.is_discarded() || is_too_deep) refuse_stored(what);
  return value;
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  return printable_json(value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string json_array(const Table& table, std::string_view indent) {
  if (table.rows.empty()) return "[]";
  std::string array = "[\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    array += indent;
    array += "  " + json_text(json_row(table, i));
    array += i + 1 < table.rows.size() ? ",\n" : "\n";
  }
  array += indent;
  return array + "]";
}

std::string render_json(const Table& table) { return json_array(table) + "\n"; }

}  // namespace warpmeter::reports
