// The sections of a cubin, which is an ELF file of 64 bits. Only what the audit needs: sections by
// name, and for a relocated place in a section the section that it points into. Cubins come from
// users: every offset and size is checked before it is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace warpmeter::model::sass {

using Bytes = std::span<const std::byte>;

/// A little-endian number at `offset`; nothing past the end.
template <class T>
std::optional<T> number_at(Bytes bytes, std::uint64_t offset);

/// The text at `offset` up to its NUL; empty where there is none.
std::string_view text_at(Bytes bytes, std::uint64_t offset);

struct Section {
  std::string_view name;
  Bytes contents;  ///< empty for a section without contents in the file
};

class Elf {
 public:
  /// The sections, or why there are none: the rest of a sentence that starts with the file.
  static std::variant<Elf, std::string> read(Bytes file);

  const std::vector<Section>& sections() const { return sections_; }
  const Section* find(std::string_view name) const;

  /// For each relocated offset in the section of this name, the number of the section that its
  /// symbol lies in.
  std::unordered_map<std::uint64_t, std::size_t> relocations(std::string_view name) const;

  /// 90 is sm_90; 0 where the file does not say.
  int arch() const { return arch_; }

 private:
  std::vector<Section> sections_;
  int arch_ = 0;
};

}  // namespace warpmeter::model::sass
