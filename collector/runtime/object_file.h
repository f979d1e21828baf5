// An ELF file, mapped to be read: the functions that its symbol tables name, its sections, and the
// libraries that it needs.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace warpmeter::runtime {

class ObjectFile {
 public:
  explicit ObjectFile(const char* path);
  /// One that lies in memory already, which stays its owner's.
  explicit ObjectFile(std::string_view bytes);
  ~ObjectFile();
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;

  /// Whether it is an ELF file of this machine's kind.
  bool is_program() const;
  std::string_view all() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  /// The bytes of a section; empty where there is none of that name.
  std::string_view section(std::string_view name) const;
  /// The names of the libraries that it is linked with.
  std::vector<std::string_view> needed() const;

  /// Calls `visit(name, value, bytes)` for each function that is defined here; of an object that
  /// keeps both symbol tables some come twice.
  template <class Visit>
  void for_each_function(const Visit& visit) const {
    const auto* header = at<Elf64_Ehdr>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    if (sections == nullptr) return;
    for (unsigned i = 0; i < header->e_shnum; ++i) {
      const Elf64_Shdr& section = sections[i];
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      if (section.sh_link >= header->e_shnum) continue;
      const Elf64_Shdr& strings = sections[section.sh_link];
      const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
      const auto* symbols = at<Elf64_Sym>(section.sh_offset, count);
      const auto* names = at<char>(strings.sh_offset, strings.sh_size);
      if (symbols == nullptr || names == nullptr) continue;
      for (std::uint64_t k = 0; k < count; ++k) {
        const Elf64_Sym& symbol = symbols[k];
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        if (symbol.st_name < strings.sh_size) {
          visit(names + symbol.st_name, symbol.st_value, symbol.st_size);
        }
      }
    }
  }

 private:
  /// `count` records of that type at an offset; null where the file does not hold them.
  template <class T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    if (bytes_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(bytes_ + offset);
  }

  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  bool is_mapped_ = false;
};

}  // namespace warpmeter::runtime
