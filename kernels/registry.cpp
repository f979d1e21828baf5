// SPDX-License-Identifier: MIT
// Every family, by name. The list is explicit: a static library's linker would drop objects that
// only register themselves.
#include <algorithm>

#include "kernels/family.h"

namespace warpmeter::kernels {

extern const Family matmul, reduction, smem_rectangle, smem_square, transpose, vector_add;

namespace {

constexpr const Family* families[] = {
    &matmul, &reduction, &smem_rectangle, &smem_square, &transpose, &vector_add,
};

}  // namespace

std::span<const Family* const> registry() { return families; }

const Family* find_family(std::string_view name) {
  const auto found = std::find_if(std::begin(families), std::end(families),
                                  [&](const Family* family) { return family->name == name; });
  return found == std::end(families) ? nullptr : *found;
}

}  // namespace warpmeter::kernels
