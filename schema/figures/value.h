// SPDX-License-Identifier: MIT
// The columns of tables whose types SQLite checks (STRICT), as numbers and texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "schema/store.h"

namespace warpmeter::schema {

/// 0 for NULL.
inline std::int64_t integer_in(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? *number : 0;
}

inline std::optional<double> number_in(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

inline std::string text_in(const Value& value) {
  const auto* held = std::get_if<std::string>(&value);
  return held != nullptr ? *held : std::string();
}

}  // namespace warpmeter::schema
