// SPDX-License-Identifier: MIT
// The members of a plain struct in the order of their declaration, for code that treats each by its
// type. A struct that is written and read this way is declared in one place.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace warpmeter {

namespace members {

template <class Type>
inline constexpr bool is_optional = false;
template <class Type>
inline constexpr bool is_optional<std::optional<Type>> = true;

/// Initializes a member of any type. An optional is initialized by its value: two ways would be
/// ambiguous.
struct Any {
  template <class Type>
  requires(!is_optional<Type>) operator Type() const;
};

template <class Record, std::size_t... places>
constexpr bool takes(std::index_sequence<places...>) {
  return requires { Record{(void(places), Any())...}; };
}

constexpr std::size_t most = 15;

template <class Record, std::size_t count = most + 1>
constexpr std::size_t count_of() {
  if constexpr (takes<Record>(std::make_index_sequence<count>())) {
    return count;
  } else {
    return count_of<Record, count - 1>();
  }
}

}  // namespace members

/// use(member...) with all members of the struct, which has no base and at most 15 members.
template <class Record, class Use>
decltype(auto) with_members(Record& record, Use&& use) {
  constexpr std::size_t count = members::count_of<std::remove_const_t<Record>>();
  static_assert(count <= members::most, "with_members needs a line for so many members");
#define MEMBERS(number, ...)       \
  if constexpr (count == number) { \
    auto& [__VA_ARGS__] = record;  \
    return use(__VA_ARGS__);       \
  }
  MEMBERS(1, a)
  MEMBERS(2, a, b)
  MEMBERS(3, a, b, c)
  MEMBERS(4, a, b, c, d)
  MEMBERS(5, a, b, c, d, e)
  MEMBERS(6, a, b, c, d, e, f)
  MEMBERS(7, a, b, c, d, e, f, g)
  MEMBERS(8, a, b, c, d, e, f, g, h)
  MEMBERS(9, a, b, c, d, e, f, g, h, i)
  MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
  MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
  MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
  MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
  MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
#undef MEMBERS
}

}  // namespace warpmeter
