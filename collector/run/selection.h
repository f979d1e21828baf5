// SPDX-License-Identifier: MIT
// From what a person typed to what is measured: selectors and sizes → variants of families at
// sizes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::run {

class Backend;

/// Variants of one family at some sizes. A family of one fixed size has the single size 0.
struct Selection {
  const kernels::Family* family = nullptr;
  std::vector<const kernels::Variant*> variants;
  std::vector<std::int64_t> sizes;
};

/// The chosen variants, and remarks for the person ("smem_square has one fixed size and ignores
/// --size").
struct Choice {
  std::vector<Selection> selections;
  std::vector<std::string> notes;
  std::size_t launches() const;  ///< variants × sizes, summed
};

/// Chooses from `families` (the catalogue, or those of files). A selector is a family,
/// family/variant, or a glob over family/variant ("transpose/tiled*"); no selector selects all. No
/// size: each family's own. Sizes are positive. Throws Error{usage} for a selector that matches
/// nothing, with the nearest names.
Choice choose(std::span<const kernels::Family* const> families,
              std::span<const std::string> selectors, std::span<const std::int64_t> sizes);

/// Throws Error for what a variant's own check finds, and Error{kernel} when a chosen size is past
/// what the family's index arithmetic, the backend's device or this machine's memory can hold; call
/// it before anything runs. The message names the size, what it needs and what there is.
void check_fits(std::span<const Selection> selections, const Backend& backend);

}  // namespace warpmeter::run
