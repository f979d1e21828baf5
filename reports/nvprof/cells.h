// SPDX-License-Identifier: MIT
// A cell of a row that the database answers, as a number or as words; NULL is 0 or "".
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "schema/store.h"

namespace warpmeter::reports::nvprof {

inline double real(const schema::Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  return 0;
}

inline std::int64_t whole(const schema::Value& value) {
  return static_cast<std::int64_t>(real(value));
}

inline std::string words(const schema::Value& value) {
  const auto* found = std::get_if<std::string>(&value);
  return found != nullptr ? *found : "";
}

inline bool is_null(const schema::Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

}  // namespace warpmeter::reports::nvprof
