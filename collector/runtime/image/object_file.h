// SPDX-License-Identifier: MIT
// An ELF file, mapped to be read, whoever wrote it: the functions that its symbol tables name, its
// sections, and the libraries that it needs.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace warpmeter::runtime {

class ObjectFile {
 public:
  explicit ObjectFile(const char* path);
  /// One that lies in memory already, which stays its owner's.
  explicit ObjectFile(std::string_view bytes);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  /// True if it is an ELF file of this machine's kind.
  bool is_program() const;
  std::string_view all() const { return as_text(bytes_); }
  /// The bytes of a section; empty where there is none of that name.
  std::string_view section(std::string_view name) const;
  /// The names of the libraries that it is linked with.
  std::vector<std::string_view> needed() const;

  /// Calls `visit(name, value, bytes)` for each function that is defined here; of an object that
  /// keeps both symbol tables some come twice.
  template <class Visit>
  void for_each_function(const Visit& visit) const {
    const auto header = number_at<Elf64_Ehdr>(bytes_, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    // Tables do not overlap: there are no more symbols than fit into the file.
    std::uint64_t most = bytes_.size() / sizeof(Elf64_Sym);
    for (unsigned i = 0; i < header->e_shnum; ++i) {
      const auto section = section_header(*header, i);
      if (!section || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)) continue;
      const auto strings = section_header(*header, section->sh_link);
      const auto symbols = part(bytes_, section->sh_offset, section->sh_size);
      const auto names =
          strings ? part(bytes_, strings->sh_offset, strings->sh_size) : std::nullopt;
      if (!symbols || !names) continue;
      for (std::uint64_t at = 0; most > 0; at += sizeof(Elf64_Sym), --most) {
        const auto symbol = number_at<Elf64_Sym>(*symbols, at);
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
        const std::string_view name = text_at(*names, symbol->st_name);
        if (!name.empty()) visit(name, symbol->st_value, symbol->st_size);
      }
    }
  }

  /// Calls `visit(name, value, place)` for each function that other objects may bind to; `place`:
  /// its symbol, as far from where the object is mapped.
  template <class Visit>
  void for_each_exported_function(const Visit& visit) const {
    if (!is_program()) return;
    const auto header = *number_at<Elf64_Ehdr>(bytes_, 0);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto section = section_header(header, i);
      if (!section || section->sh_type != SHT_DYNSYM) continue;
      const auto strings = section_header(header, section->sh_link);
      const auto symbols = part(bytes_, section->sh_offset, section->sh_size);
      const auto names =
          strings ? part(bytes_, strings->sh_offset, strings->sh_size) : std::nullopt;
      if (!symbols || !names) continue;
      for (std::uint64_t at = 0; at < symbols->size(); at += sizeof(Elf64_Sym)) {
        const auto symbol = number_at<Elf64_Sym>(*symbols, at);
        if (!symbol) break;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
        const std::string_view name = text_at(*names, symbol->st_name);
        if (!name.empty()) visit(name, symbol->st_value, section->sh_addr + at);
      }
    }
  }

 private:
  /// By its number; nothing where the file does not hold it.
  std::optional<Elf64_Shdr> section_header(const Elf64_Ehdr& header, unsigned number) const {
    if (number >= header.e_shnum || header.e_shoff > bytes_.size()) return std::nullopt;
    return number_at<Elf64_Shdr>(bytes_, header.e_shoff + number * sizeof(Elf64_Shdr));
  }

  Bytes bytes_;
  bool is_mapped_ = false;
};

}  // namespace warpmeter::runtime
