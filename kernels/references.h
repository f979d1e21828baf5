// SPDX-License-Identifier: MIT
// Expected results, computed by the CPU with plain loops that share nothing with the kernels. A
// family file names one with its arguments: `cpu:transpose(in, width, height)`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/element.h"

namespace warpmeter::kernels {

/// The arguments of a reference. All buffers and the result are of one type.
struct ReferenceArguments {
  Element type = Element::f32;
  std::vector<const std::byte*> buffers;
  std::vector<std::int64_t> numbers;  ///< each from 1 to 2^31 − 1
  std::uint64_t count = 0;            ///< elements of the result
};

struct Reference {
  std::string_view name;
  std::string_view parameters;  ///< for a reader: "in, width, height"
  std::size_t buffers = 0;      ///< so many of the parameters, the first ones, are buffers
  std::size_t numbers = 0;      ///< so many follow
  bool is_arithmetic = false;   ///< true: for i32, u32, f32 and f64 only
  /// The elements that the result must have, then those of each buffer.
  std::vector<std::uint64_t> (*sizes)(const ReferenceArguments& arguments) = nullptr;
  /// Writes the result, which starts as zeros. The sizes hold.
  void (*compute)(const ReferenceArguments& arguments, std::byte* result) = nullptr;

  bool takes(Element type) const;
};

/// Every reference, sorted by name.
std::span<const Reference> references();
/// Null: there is none of that name.
const Reference* find_reference(std::string_view name);

}  // namespace warpmeter::kernels
