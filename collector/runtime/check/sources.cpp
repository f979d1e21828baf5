// SPDX-License-Identifier: MIT
#include "collector/runtime/check/sources.h"

#include <optional>

#include "base/named_files.h"

namespace warpmeter::runtime {
namespace {

struct Chosen {
  std::vector<std::string> folders;
  std::optional<NamedFiles> files;  ///< null until a source is read
};

Chosen& chosen() {
  static auto* made = new Chosen;  // outlives exit()
  return *made;
}

}  // namespace

// The C library resolves links in the program's heap, which has to stay untouched until the
// program's first call (own_heap.h).
void allow_sources(const std::vector<std::string>& folders) { chosen().folders = folders; }

std::string allowed_source(const std::string& file) {
  std::optional<NamedFiles>& files = chosen().files;
  if (!files) {
    files.emplace();
    for (const std::string& folder : chosen().folders) files->allow(folder);
  }
  return files->text(file);
}

}  // namespace warpmeter::runtime
