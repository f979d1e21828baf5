// SPDX-License-Identifier: MIT
// The description of a family and its parts.
#include "kernels/family.h"

#include <algorithm>

namespace warpmeter::kernels {

std::string_view symbol(Relation relation) {
  switch (relation) {
    case Relation::equal:
      return "==";
    case Relation::less_equal:
      return "<=";
    case Relation::greater_equal:
      return ">=";
  }
  return "";
}

const Variant* Family::find(std::string_view variant) const {
  for (const Variant& candidate : variants) {
    if (candidate.name == variant) return &candidate;
  }
  return nullptr;
}

bool Family::is_ceiling(std::string_view variant) const {
  return std::find(ceilings.begin(), ceilings.end(), variant) != ceilings.end();
}

}  // namespace warpmeter::kernels
