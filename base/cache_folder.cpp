// SPDX-License-Identifier: MIT
#include "base/cache_folder.h"

#include <cstdlib>

namespace warpmeter {

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return std::filesystem::path(cache) / "warpmeter";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".cache" / "warpmeter";
  }
  return {};
}

}  // namespace warpmeter
