#include "schema/records.h"

namespace warpmeter::schema {

const char* to_string(Grade grade) {
  switch (grade) {
    case Grade::measured:
      return "measured";
    case Grade::exact:
      return "exact";
    case Grade::modelled:
      return "modelled";
    case Grade::ptx:
      return "ptx";
    case Grade::unavailable:
      return "unavailable";
  }
  return "";
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
