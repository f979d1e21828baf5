// SPDX-License-Identifier: MIT
// Compiled kernels are not compiled again: compilations by their content (source, the files it
// includes, options, expressions, compiler), in cache_folder(). An entry holds its whole key, so
// that two of one hash are told apart, and ends with a sum of what it holds: one that is damaged is
// none. At most `cache_limit` bytes are kept; the entries that were used longest ago go first. A
// cache that cannot be written is none, and no error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/model/input/nvrtc.h"

namespace warpmeter::model {

inline constexpr std::uint64_t cache_limit = std::uint64_t{256} << 20;

struct CacheState {
  std::size_t entries = 0;
  std::uint64_t bytes = 0;
};
CacheState cache_state();

/// The compilation under the key; nothing where that is not there whole.
std::optional<Compiled> find_compiled(const std::string& key);
void keep_compiled(const std::string& key, const Compiled& compiled);

}  // namespace warpmeter::model
