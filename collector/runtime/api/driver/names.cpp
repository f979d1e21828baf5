// SPDX-License-Identifier: MIT
#include "collector/runtime/api/driver/names.h"

#include <fmt/format.h>

namespace warpmeter::runtime {
namespace {

struct Shape {
  std::string_view name;
  int version;  ///< the version of CUDA, which brought it
};

/// The shapes of cudaTypedefs.h, which has a type for each shape of each function.
constexpr Shape shapes[] = {
#include "collector/runtime/api/driver/driver_shapes.inc"
};

}  // namespace

std::string driver_spelling(std::string_view name, int version) {
  int known = 0;
  for (const Shape& shape : shapes) {
    if (shape.name == name && shape.version <= version) ++known;
  }
  return known > 1 ? fmt::format("{}_v{}", name, known) : std::string(name);
}

bool is_newer_than(std::string_view name, int version) {
  bool is_known = false;
  for (const Shape& shape : shapes) {
    if (shape.name != name) continue;
    if (shape.version <= version) return false;
    is_known = true;
  }
  return is_known;
}

}  // namespace warpmeter::runtime
