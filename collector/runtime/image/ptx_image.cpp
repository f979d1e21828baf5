// SPDX-License-Identifier: MIT
#include "collector/runtime/image/ptx_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

#include "collector/model/ptx/driver_functions.h"
#include "collector/runtime/image/ptx_items.h"
#include "collector/runtime/image/readable_memory.h"

namespace warpmeter::runtime {
namespace {

constexpr int known_targets[] = {10, 11, 12, 13,  20,  21,  30,  32,  35, 37, 50,
                                 52, 53, 60, 61,  62,  70,  72,  75,  80, 86, 87,
                                 88, 89, 90, 100, 101, 103, 110, 120, 121};
/// The version of the driver, which is as new as the toolkit that this is built with: 13.0 has PTX
/// 9.0.
constexpr int newest_version = (CUDA_VERSION / 1000 - 4) * 10 + CUDA_VERSION % 1000 / 10;
static_assert(CUDA_VERSION / 1000 == 13, "which PTX has it?");

/// Functions that come with the driver, or are refused by their names when a kernel calls them.
bool is_of_system(std::string_view name) {
  return model::ptx::is_driver_function(name) || name.starts_with("cuda") ||
         name.starts_with("__cuda");
}

/// Where the first body or list begins.
std::size_t end_of_head(std::string_view ptx) {
  std::size_t at = 0;
  while (at < ptx.size()) {
    const std::string_view word = word_at(ptx, at).text;
    if (word == "{") break;
    at += word.size();
  }
  return at;
}

}  // namespace

bool is_machine_code(const char* image) {
  constexpr Elf64_Half of_gpus = 190;
  if (std::strncmp(image, ELFMAG, SELFMAG) != 0) return false;
  return number_at<Elf64_Half>(readable_from(image), offsetof(Elf64_Ehdr, e_machine)) == of_gpus;
}

std::optional<ImageMistake> kind_mistake(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const PtxWord word = word_at(text, at);
    if (word.kind != PtxWord::Kind::space && word.kind != PtxWord::Kind::comment) break;
    at += word.text.size();
  }
  if (at < text.size() && word_at(text, at).text == ".version") return std::nullopt;
  return ImageMistake{CUDA_ERROR_INVALID_IMAGE,
                      "Binary format for key='0', ident='' is not recognized"};
}

std::optional<ImageMistake> header_mistake(std::string_view ptx, int arch) {
  std::string_view target;
  for (const PtxItem& item : items_of(ptx.substr(0, end_of_head(ptx)))) {
    if (item.kind == PtxItem::Kind::version) {
      int major = 0, minor = 0;
      const char* end = item.name.data() + item.name.size();
      const char* point = std::from_chars(item.name.data(), end, major).ptr;
      if (point != end) std::from_chars(point + 1, end, minor);
      if (major * 10 + minor > newest_version) {
        return ImageMistake{CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                            fmt::format("Unsupported .version {}.{}; current version is '{}.{}'",
                                        major, minor, newest_version / 10, newest_version % 10)};
      }
    }
    if (item.kind == PtxItem::Kind::target && target.empty()) target = item.name;
  }
  if (target.empty()) return ImageMistake{CUDA_ERROR_INVALID_PTX, "Missing .target directive"};
  target = target.substr(0, target.find_first_of(", \t\r\n"));
  int number = 0;
  if (target.starts_with("sm_")) {
    std::from_chars(target.data() + 3, target.data() + target.size(), number);
  }
  if (std::find(std::begin(known_targets), std::end(known_targets), number) ==
      std::end(known_targets)) {
    return ImageMistake{CUDA_ERROR_INVALID_PTX, fmt::format("Unsupported .target '{}'", target)};
  }
  // "sm_90a" is of that architecture alone.
  const bool is_only = target.back() == 'a';
  if (number > arch || (is_only && number != arch)) {
    return ImageMistake{CUDA_ERROR_INVALID_PTX,
                        fmt::format("PTX for {} does not run on sm_{}", target, arch)};
  }
  return std::nullopt;
}

std::string undefined_in(std::string_view text) {
  std::set<std::string_view> declared, used;
  const std::vector<PtxItem> items = items_of(text);
  for (const PtxItem& item : items) {
    if (item.kind != PtxItem::Kind::function && item.kind != PtxItem::Kind::variable) continue;
    const bool is_shared =
        item.text.find(".shared") != std::string_view::npos && item.kind == PtxItem::Kind::variable;
    const bool is_external = item.linkage == PtxItem::Linkage::external;
    if (!item.is_definition && is_external && !is_shared && !is_of_system(item.name)) {
      declared.insert(item.name);
    }
  }
  if (declared.empty()) return "";
  for (const PtxItem& item : items) {
    if (item.is_definition) declared.erase(item.name);
  }
  for (const PtxItem& item : items) {
    if (!item.is_definition) continue;
    for (std::size_t at = 0; at < item.text.size();) {
      const PtxWord word = word_at(item.text, at);
      at += word.text.size();
      if (word.kind == PtxWord::Kind::name && declared.contains(word.text)) {
        return std::string(word.text);
      }
    }
  }
  return "";
}

}  // namespace warpmeter::runtime
