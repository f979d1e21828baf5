// SPDX-License-Identifier: MIT
// JSON that is built in. Every start reads it, so the reader is small and fast: it takes no
// escapes, and its texts stay where they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpmeter::schema {

/// A value. It refers to the text that it was read from.
struct BuiltInJson {
  std::string_view name;              ///< its name, as a member of an object
  std::string_view text;              ///< a string without its quotes, a number or a word
  std::vector<BuiltInJson> children;  ///< the members of an object or the elements of an array

  /// Throws std::logic_error for what is no such JSON.
  static BuiltInJson parse(std::string_view text);

  const BuiltInJson* find(std::string_view member) const;  ///< null: there is none
  /// Throws std::logic_error where there is none.
  const BuiltInJson& at(std::string_view member) const;
  /// A member's text, or `otherwise`.
  std::string text_of(std::string_view member, std::string_view otherwise = "") const;
  /// True if the member is there and is `true`.
  bool is_true(std::string_view member) const;
  double number() const;
  /// The elements of an array member; none where there is no such member.
  std::vector<std::string> texts_of(std::string_view member) const;
};

}  // namespace warpmeter::schema
