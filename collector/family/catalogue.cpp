// SPDX-License-Identifier: MIT
#include "collector/family/catalogue.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "collector/family/family.h"
#include "kernels/images.h"

namespace warpmeter::family {
namespace {

/// "kernels/transpose.yaml" of "kernels/transpose.cu".
std::string path_of(const kernels::Image& image) {
  const std::string_view source = image.source_path;
  return std::string(source.substr(0, source.rfind('.'))) + ".yaml";
}

struct Catalogue {
  std::deque<FileFamily> read;
  std::vector<const kernels::Family*> families;

  Catalogue() {
    for (const kernels::Image* image : kernels::images::all_in_kernels) {
      read.emplace_back(read_family(path_of(*image), image->family), *image);
      families.push_back(&read.back().family());
    }
  }
};

}  // namespace

std::span<const kernels::Family* const> catalogue() {
  static const Catalogue known;
  return known.families;
}

const kernels::Family* find_in_catalogue(std::string_view name) {
  const auto all = catalogue();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const kernels::Family* family) { return family->name == name; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace warpmeter::family
