// SPDX-License-Identifier: MIT
#include "collector/runtime/image/link_ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/kernel_name.h"
#include "collector/runtime/image/ptx_items.h"

namespace warpmeter::runtime {
namespace {

using Kind = PtxItem::Kind;
using Linkage = PtxItem::Linkage;

struct Part {
  std::vector<PtxItem> items;
  std::map<std::string_view, std::string> renamed;  ///< for its own names those that others have
  std::map<int, int> files;                         ///< its numbers of files → the linked ones
};

/// An item, and whose names it uses.
struct Placed {
  const Part* part = nullptr;
  const PtxItem* item = nullptr;
};

/// "sm_90, debug" → 90, to tell the newest.
int arch_of(std::string_view target) {
  int arch = 0;
  const std::size_t digits = target.find_first_of("0123456789");
  if (digits != std::string_view::npos) {
    std::from_chars(target.data() + digits, target.data() + target.size(), arch);
  }
  return arch;
}

/// "9.0" → 900, to tell the newest.
int version_of(std::string_view text) {
  int major = 0, minor = 0;
  const auto [end, ignored] = std::from_chars(text.data(), text.data() + text.size(), major);
  if (end < text.data() + text.size()) {
    std::from_chars(end + 1, text.data() + text.size(), minor);
  }
  return major * 100 + minor;
}

std::uint64_t alignment_of(std::string_view text) {
  std::uint64_t alignment = 0;
  const std::size_t at = text.find(".align ");
  if (at != std::string_view::npos) {
    std::from_chars(text.data() + at + 7, text.data() + text.size(), alignment);
  }
  return alignment;
}

class Linker {
 public:
  explicit Linker(const std::vector<std::string>& modules) {
    parts_.reserve(modules.size());
    for (const std::string& module : modules) parts_.push_back({items_of(module), {}, {}});
  }

  LinkedPtx link() {
    LinkedPtx linked;
    for (Part& part : parts_) {
      rename_own(part);
      number_files(part);
    }
    for (const Part& part : parts_) {
      for (const PtxItem& item : part.items) define({&part, &item});
    }
    if (!failure_.empty()) {
      linked.failure = std::move(failure_);
      return linked;
    }
    header();
    functions_ahead();
    for (const Placed& placed : in_order_) {
      if (placed.item->kind == Kind::variable) variable(placed);
    }
    for (const Placed& placed : in_order_) {
      if (placed.item->kind == Kind::function || placed.item->kind == Kind::other) write(placed);
    }
    names_of_inlined();
    linked.text = std::move(text_);
    return linked;
  }

 private:
  /// A name that only this module knows must not be one that another module has.
  void rename_own(Part& part) {
    std::set<std::string> names;
    for (const PtxItem& item : part.items) {
      if (item.name.empty() || (item.kind != Kind::function && item.kind != Kind::variable)) {
        continue;
      }
      const std::string name(item.name);
      if (item.linkage == Linkage::own && is_taken(name, part)) {
        std::string& fresh = part.renamed[item.name];
        for (int i = 2; fresh.empty() || is_taken(fresh, part); ++i) {
          fresh = fmt::format("{}$file{}", name, i);
        }
        names.insert(fresh);
      } else {
        names.insert(name);
      }
    }
    for (const PtxItem& item : part.items) {
      if (item.kind == Kind::section && item.name == ".debug_str") labels(part, item);
    }
    taken_.merge(names);
  }

  /// True if a module before it took the name, or all of a later one see it.
  bool is_taken(const std::string& name, const Part& but) {
    if (taken_.contains(name)) return true;
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& other) {
      return &other != &but &&
             std::any_of(other.items.begin(), other.items.end(), [&](const PtxItem& item) {
               return item.linkage != Linkage::own && item.name == name;
             });
    });
  }

  /// The labels of names of inlined functions, which `.loc` uses.
  void labels(Part& part, const PtxItem& section) {
    const std::string_view text = section.text;
    for (std::size_t at = 0; at < text.size();) {
      const PtxWord word = word_at(text, at);
      at += word.text.size();
      if (word.kind == PtxWord::Kind::name && at < text.size() && text[at] == ':') {
        part.renamed[word.text] = fmt::format("$L__file_info_string{}", labels_++);
      }
    }
  }

  void number_files(Part& part) {
    for (const PtxItem& item : part.items) {
      if (item.kind != Kind::file) continue;
      const auto [known, is_new] =
          files_.try_emplace(item.path, static_cast<int>(files_.size()) + 1);
      part.files[item.number] = known->second;
    }
  }

  static std::string name_in(const Placed& placed) {
    const auto renamed = placed.part->renamed.find(placed.item->name);
    return renamed == placed.part->renamed.end() ? std::string(placed.item->name) : renamed->second;
  }

  void define(const Placed& placed) {
    const PtxItem& item = *placed.item;
    if (item.kind == Kind::other) in_order_.push_back(placed);
    if (item.kind != Kind::function && item.kind != Kind::variable) return;
    const std::string name = name_in(placed);
    if (!item.is_definition) {
      const auto [known, is_new] = declared_.try_emplace(name, placed);
      // One stretch of shared memory whose size a launch decides: aligned as the strictest asks.
      if (alignment_of(item.text) > alignment_of(known->second.item->text)) known->second = placed;
      if (is_new && item.kind == Kind::variable) in_order_.push_back(placed);
      return;
    }
    const auto [known, is_new] = defined_.try_emplace(name, placed);
    if (is_new) {
      in_order_.push_back(placed);
      return;
    }
    const bool was_weak = known->second.item->linkage == Linkage::weak;
    if (item.linkage == Linkage::weak) return;
    if (!was_weak) {
      failure_ = fmt::format("'{}' is defined in two of the files that it is linked from",
                             readable_name(name));
      return;
    }
    const PtxItem* before = known->second.item;
    std::replace_if(
        in_order_.begin(), in_order_.end(),
        [before](const Placed& other) { return other.item == before; }, placed);
    known->second = placed;
  }

  void header() {
    std::string_view version, target;
    for (const Part& part : parts_) {
      for (const PtxItem& item : part.items) {
        if (item.kind == Kind::version && version_of(item.name) > version_of(version)) {
          version = item.name;
        }
        if (item.kind == Kind::target && arch_of(item.name) > arch_of(target)) target = item.name;
      }
    }
    target = target.substr(0, target.find(','));  // without ", debug": the sections for it go
    text_ = fmt::format(".version {}\n.target {}\n.address_size 64\n", version, target);
    std::vector<std::pair<int, std::string_view>> files;
    for (const auto& [path, number] : files_) files.emplace_back(number, path);
    std::sort(files.begin(), files.end());
    for (const auto& [number, path] : files) text_ += fmt::format(".file {} {}\n", number, path);
  }

  /// Every function is declared before the first that may call it.
  void functions_ahead() {
    for (const auto& [name, placed] : declared_) {
      if (placed.item->kind == Kind::function && !defined_.contains(name)) {
        write(placed, placed.item->head);
        text_ += ";\n";
      }
    }
    for (const auto& [name, placed] : defined_) {
      if (placed.item->kind != Kind::function || placed.item->is_entry) continue;
      write(placed, placed.item->head);
      text_ += ";\n";
    }
  }

  /// Behind the variables whose addresses it begins with.
  void variable(const Placed& placed) {
    const std::string name = name_in(placed);
    if (!placed.item->is_definition && defined_.contains(name)) return;
    if (!written_.insert(name).second) return;
    const std::string_view text = placed.item->text;
    for (std::size_t at = std::min(text.find('='), text.size()); at < text.size();) {
      const PtxWord word = word_at(text, at);
      at += word.text.size();
      if (word.kind != PtxWord::Kind::name) continue;
      const auto renamed = placed.part->renamed.find(word.text);
      const auto before = defined_.find(
          renamed == placed.part->renamed.end() ? std::string(word.text) : renamed->second);
      if (before != defined_.end() && before->second.item->kind == Kind::variable) {
        variable(before->second);
      }
    }
    const auto known = declared_.find(name);
    write(placed.item->is_definition || known == declared_.end() ? placed : known->second);
  }

  void write(const Placed& placed) { write(placed, placed.item->text); }

  /// The text with its names and numbers of files as they are in the linked module.
  void write(const Placed& placed, std::string_view text) {
    bool is_file_next = false;
    for (std::size_t at = 0; at < text.size();) {
      const PtxWord word = word_at(text, at);
      at += word.text.size();
      if (word.kind == PtxWord::Kind::name) {
        const auto renamed = placed.part->renamed.find(word.text);
        text_ += renamed == placed.part->renamed.end() ? word.text : renamed->second;
      } else if (word.kind == PtxWord::Kind::number && is_file_next) {
        text_ += file_number(placed, word.text);
      } else {
        text_ += word.text;
      }
      if (word.kind != PtxWord::Kind::space) {
        is_file_next = word.text == ".loc" || word.text == "inlined_at";
      }
    }
    if (text.data() == placed.item->text.data() && text.size() == placed.item->text.size()) {
      text_ += '\n';
    }
  }

  static std::string file_number(const Placed& placed, std::string_view text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    const auto known = placed.part->files.find(number);
    return known == placed.part->files.end() ? std::string(text) : fmt::format("{}", known->second);
  }

  void names_of_inlined() {
    std::string strings;
    strings.swap(text_);
    for (const Part& part : parts_) {
      for (const PtxItem& item : part.items) {
        if (item.kind != Kind::section || item.name != ".debug_str") continue;
        const std::size_t begin = item.text.find('{'), end = item.text.rfind('}');
        if (end == std::string_view::npos || end < begin) continue;
        write({&part, &item}, item.text.substr(begin + 1, end - begin - 1));
      }
    }
    strings.swap(text_);
    if (!strings.empty()) text_ += ".section .debug_str\n{" + strings + "}\n";
  }

  std::vector<Part> parts_;
  std::set<std::string> taken_;
  std::map<std::string_view, int> files_;
  int labels_ = 0;
  std::map<std::string, Placed> defined_, declared_;
  std::vector<Placed> in_order_;
  std::set<std::string> written_;
  std::string text_, failure_;
};

}  // namespace

LinkedPtx link_ptx(const std::vector<std::string>& modules) { return Linker(modules).link(); }

}  // namespace warpmeter::runtime
