#include "collector/runtime/check/sources.h"

#include <utility>

#include "base/named_files.h"

namespace warpmeter::runtime {
namespace {

NamedFiles& allowed() {
  static auto* files = new NamedFiles;  // outlives exit()
  return *files;
}

}  // namespace

void allow_sources(const std::vector<std::string>& folders) {
  NamedFiles files;
  for (const std::string& folder : folders) files.allow(folder);
  allowed() = std::move(files);
}

std::string allowed_source(const std::string& file) { return allowed().text(file); }

}  // namespace warpmeter::runtime
