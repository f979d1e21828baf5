// SPDX-License-Identifier: MIT
// Instructions that the machine code of kernels has, or may have. The code tells it in place of
// counters: a pass of those costs 1 ms a launch in `run`, and 20 ms in `profile`.
#pragma once

#include "collector/model/counts/sass/waiting.h"

namespace warpmeter::cupti {

struct KernelCode {
  bool copies_in_bulk = true;
  bool loads_generic = true;
  bool stores_generic = true;
  bool multiplies_matrices = true;

  bool operator==(const KernelCode& other) const = default;
  /// Adds what `other` may have.
  KernelCode& operator|=(const KernelCode& other) {
    copies_in_bulk |= other.copies_in_bulk;
    loads_generic |= other.loads_generic;
    stores_generic |= other.stores_generic;
    multiplies_matrices |= other.multiplies_matrices;
    return *this;
  }
};

constexpr KernelCode no_special_code{false, false, false, false};

inline KernelCode code_of(const model::sass::Waiting& kernel) {
  return {kernel.copies_in_bulk, kernel.loads_generic, kernel.stores_generic,
          kernel.multiplies_matrices};
}

}  // namespace warpmeter::cupti
