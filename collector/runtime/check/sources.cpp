// SPDX-License-Identifier: MIT
#include "collector/runtime/check/sources.h"

#include <map>
#include <optional>

#include "base/named_files.h"
#include "collector/runtime/check/python_objects.h"

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

std::map<std::string, std::string>& kept_texts() {
  static auto* made = new std::map<std::string, std::string>;  // outlives exit()
  return *made;
}

}  // namespace

// The C library resolves links in the program's heap, which has to stay untouched until the
// program's first call (own_heap.h).
void allow_sources(const std::vector<std::string>& folders) {
  chosen().folders = folders;
  chosen().files.reset();
}

void keep_source(const std::string& file, const std::string& text) { kept_texts()[file] = text; }

std::string allowed_source(const std::string& file) {
  if (const auto known = kept_texts().find(file); known != kept_texts().end()) return known->second;
  std::optional<NamedFiles>& files = chosen().files;
  if (!files) {
    files.emplace();
    for (const std::string& folder : chosen().folders) files->allow(folder);
  }
  std::string text = files->text(file);
  return text.empty() ? source_in_python(file) : text;
}

}  // namespace warpmeter::runtime
