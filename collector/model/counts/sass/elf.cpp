// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace warpmeter::model::sass {
std::variant<Elf, std::string> Elf::read(Bytes file) {
  constexpr unsigned char magic[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB};
  constexpr std::uint32_t fat_binary = 0xba55ed50;
  if (file.empty()) return "is empty; make a cubin with ptxas or nvcc -cubin";
  if (number_at<std::uint32_t>(file, 0) == fat_binary) {
    return "is a fatbin, which bundles the code of several architectures; take the cubin out of it "
           "with cuobjdump -xelf all";
  }
  if (file.size() < sizeof(Elf64_Ehdr) || std::memcmp(file.data(), magic, sizeof magic) != 0) {
    return "is no cubin (an ELF file of 64 bits); make one with ptxas or nvcc -cubin";
  }
  if (*number_at<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_machine)) != EM_CUDA) {
    return "is an ELF file for another machine than a GPU; make a cubin with ptxas or nvcc -cubin";
  }
  const std::uint64_t table = *number_at<std::uint64_t>(file, offsetof(Elf64_Ehdr, e_shoff));
  const std::uint16_t count = *number_at<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shnum));
  const std::uint16_t names_section =
      *number_at<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_shstrndx));
  const auto headers = part(file, table, std::uint64_t{count} * sizeof(Elf64_Shdr));
  const std::string damaged = "is a damaged cubin: its section table leads out of the file";
  if (!headers || names_section >= count) return damaged;

  Elf elf;
  std::vector<std::uint32_t> names;
  for (std::uint64_t at = 0; at < headers->size(); at += sizeof(Elf64_Shdr)) {
    names.push_back(*number_at<std::uint32_t>(*headers, at + offsetof(Elf64_Shdr, sh_name)));
    Section& section = elf.sections_.emplace_back();
    section.bytes = *number_at<std::uint64_t>(*headers, at + offsetof(Elf64_Shdr, sh_size));
    const auto type = number_at<std::uint32_t>(*headers, at + offsetof(Elf64_Shdr, sh_type));
    if (*type == SHT_NOBITS) continue;
    const auto contents =
        part(file, *number_at<std::uint64_t>(*headers, at + offsetof(Elf64_Shdr, sh_offset)),
             section.bytes);
    if (!contents) return damaged;
    section.contents = *contents;
  }
  const Bytes text = elf.sections_[names_section].contents;
  for (std::size_t i = 0; i < names.size(); ++i) {
    elf.sections_[i].name = text_at(text, names[i]);
  }
  // The architecture lies in the flags: in the low byte up to CUDA 12, in the second since then.
  const std::uint32_t flags = *number_at<std::uint32_t>(file, offsetof(Elf64_Ehdr, e_flags));
  const auto abi = static_cast<std::uint8_t>(file[EI_ABIVERSION]);
  elf.arch_ = static_cast<int>(abi >= 8 ? flags >> 8 & 255 : flags & 255);
  elf.is_relocatable_ = *number_at<std::uint16_t>(file, offsetof(Elf64_Ehdr, e_type)) == ET_REL;
  return elf;
}

const Section* Elf::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

std::vector<Symbol> Elf::symbols() const {
  constexpr std::uint8_t entry = 0x10;      // STO_CUDA_ENTRY
  constexpr std::uint8_t cuda_object = 13;  // STT_CUDA_OBJECT: a variable before it is linked
  std::vector<Symbol> all;
  const Section* table = find(".symtab");
  const Section* names = find(".strtab");
  if (table == nullptr || names == nullptr) return all;
  const Bytes bytes = table->contents;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    Symbol& symbol = all.emplace_back();
    const auto type =
        ELF64_ST_TYPE(*number_at<std::uint8_t>(bytes, at + offsetof(Elf64_Sym, st_info)));
    if (type != STT_FUNC && type != STT_OBJECT && type != cuda_object) continue;
    symbol.name = text_at(names->contents,
                          *number_at<std::uint32_t>(bytes, at + offsetof(Elf64_Sym, st_name)));
    symbol.section = *number_at<std::uint16_t>(bytes, at + offsetof(Elf64_Sym, st_shndx));
    if (symbol.section >= sections_.size()) symbol.section = 0;
    symbol.bytes = *number_at<std::uint64_t>(bytes, at + offsetof(Elf64_Sym, st_size));
    symbol.is_function = type == STT_FUNC;
    const auto other = *number_at<std::uint8_t>(bytes, at + offsetof(Elf64_Sym, st_other));
    symbol.is_kernel = symbol.is_function && symbol.section != 0 && (other & entry) != 0;
  }
  return all;
}

std::unordered_map<std::uint64_t, std::size_t> Elf::relocations(std::string_view name) const {
  std::unordered_map<std::uint64_t, std::size_t> result;
  const Section* symbols = find(".symtab");
  if (symbols == nullptr) return result;
  // A RELA entry begins as a REL entry does, and has an addend besides.
  for (const auto& [prefix, bytes] :
       {std::pair{".rel", sizeof(Elf64_Rel)}, std::pair{".rela", sizeof(Elf64_Rela)}}) {
    const Section* entries = find(std::string(prefix) + std::string(name));
    if (entries == nullptr) continue;
    for (std::uint64_t at = 0; at + bytes <= entries->contents.size(); at += bytes) {
      const std::uint64_t offset =
          *number_at<std::uint64_t>(entries->contents, at + offsetof(Elf64_Rel, r_offset));
      const std::uint64_t symbol = ELF64_R_SYM(
          *number_at<std::uint64_t>(entries->contents, at + offsetof(Elf64_Rel, r_info)));
      const auto section = number_at<std::uint16_t>(
          symbols->contents, symbol * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_shndx));
      if (section && *section < sections_.size()) result[offset] = *section;
    }
  }
  return result;
}

}  // namespace warpmeter::model::sass
