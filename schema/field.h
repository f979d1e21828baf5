// SPDX-License-Identifier: MIT
// The fields of a record that is declared once (explanation_fields.h): its sorts, and a field as
// what goes through all fields of a record sees it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/short_list.h"
#include "schema/grade.h"

namespace warpmeter::schema {

/// One warp's access: where each lane goes. Bytes, from the beginning of the array in shared
/// memory; in global memory from the beginning of the sector that the lowest goes to.
struct WarpPicture {
  static constexpr unsigned lane_count = 32;
  std::uint32_t mask = 0;   ///< bit l: lane l takes part; 0: there is no picture
  std::uint32_t width = 0;  ///< bytes a lane
  std::array<std::uint64_t, lane_count> address{};
  /// In shared memory, from 1: the wavefront that serves the lane. It is 0 in global memory.
  std::array<std::uint32_t, lane_count> pass{};
};

/// The sorts. A field is `Made` where it is computed and sent, and `Read` where the view is read.
/// The view selects `view_sql` ({} is the column).
namespace sorts {

template <class MadeType, class ReadType>
struct Sort {
  using Made = MadeType;
  static Made initial() { return {}; }
  using Read = ReadType;
  static constexpr std::string_view view_sql = "f.{}";
};
struct Text : Sort<std::string, std::string> {};
struct TextOrNull : Sort<std::string, std::string> {};  ///< empty: NULL
struct Count : Sort<std::uint64_t, std::int64_t> {};
struct CountOrNull : Sort<std::optional<std::int64_t>, std::optional<std::int64_t>> {};
struct LineOrNull : Sort<int, std::optional<std::int64_t>> {};                     ///< 0: NULL
struct Lines : Sort<std::vector<int>, std::vector<std::int64_t>> {};               ///< a JSON array
struct Amounts : Sort<ShortList<std::uint8_t, 31>, std::vector<std::int64_t>> {};  ///< likewise
struct Flag : Sort<bool, bool> {};
/// From 0 to 1, and in the view in per cent.
struct Share : Sort<double, double> {
  static constexpr std::string_view view_sql = "100.0 * f.{}";
};
struct GradeName : Sort<Grade, std::string> {
  static Grade initial() { return Grade::exact; }
  static constexpr std::string_view view_sql =
      "(SELECT g.name FROM t_grade g WHERE g.grade = f.{})";
};
struct Lanes : Sort<WarpPicture, std::string> {};  ///< JSON; empty: NULL

}  // namespace sorts

/// A field of `Record`.
template <class Sort, class Record, class Type>
struct Field {
  Sort sort;
  std::string_view name;
  Type Record::*member;
};
template <class Sort, class Record, class Type>
Field(Sort, const char*, Type Record::*) -> Field<Sort, Record, Type>;

/// use(field...) with all fields of the record at once.
template <class Record, class Use>
decltype(auto) with_fields(Use&& use) {
  return std::apply(use, fields_of(static_cast<const Record*>(nullptr)));
}
/// use(field) for each field of the record, in their order.
template <class Record, class Use>
void for_each_field(Use&& use) {
  with_fields<Record>([&](const auto&... field) { (use(field), ...); });
}

}  // namespace warpmeter::schema
