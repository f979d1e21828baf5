// SPDX-License-Identifier: MIT
#include "schema/records.h"

#include <fmt/format.h>

#include "base/error.h"

namespace warpmeter::schema {

namespace {

constexpr bool in_order() {
  for (std::size_t i = 0; i < grades.size(); ++i) {
    if (static_cast<std::size_t>(grades[i].grade) != i) return false;
  }
  return true;
}
static_assert(in_order(), "a grade's number is its place in the scale");

}  // namespace

const char* to_string(Grade grade) { return grades[static_cast<std::size_t>(grade)].name; }

Grade grade_named(std::string_view name) {
  for (const GradeInfo& info : grades) {
    if (name == info.name) return info.grade;
  }
  throw Error(ExitCode::file,
              fmt::format("the database has a grade '{}' that there is not: check it with "
                          "`warpmeter doctor`",
                          name));
}

Grade grade_numbered(std::int64_t number) {
  if (number >= 0 && number < static_cast<std::int64_t>(grades.size())) {
    return grades[static_cast<std::size_t>(number)].grade;
  }
  throw Error(ExitCode::file,
              fmt::format("the database has a grade of number {} that there is not: check it with "
                          "`warpmeter doctor`",
                          number));
}

void Launch::set_geometry(const Geometry& geometry) {
  const auto copy = [](const Dim3& from, std::uint32_t(&to)[3]) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z;
  };
  copy(geometry.grid, grid);
  copy(geometry.block, block);
  dynamic_shared_bytes = geometry.dynamic_shared_bytes;
}

}  // namespace warpmeter::schema
