// SPDX-License-Identifier: MIT
#include "collector/runtime/image/object_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpmeter::runtime {

ObjectFile::ObjectFile(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is not waited for
  if (file < 0) return;
  struct stat info {};
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_size > static_cast<off_t>(sizeof(Elf64_Ehdr))) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      bytes_ = {static_cast<const std::byte*>(mapped), size};
      is_mapped_ = true;
    }
  }
  close(file);
}

ObjectFile::ObjectFile(std::string_view bytes) : bytes_(bytes_in(bytes)) {}

ObjectFile::~ObjectFile() {
  if (is_mapped_) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

bool ObjectFile::is_program() const {
  const auto header = number_at<Elf64_Ehdr>(bytes_, 0);
  return header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
}

std::string_view ObjectFile::section(std::string_view name) const {
  if (!is_program()) return {};
  const auto header = *number_at<Elf64_Ehdr>(bytes_, 0);
  const auto naming = section_header(header, header.e_shstrndx);
  const auto names = naming ? part(bytes_, naming->sh_offset, naming->sh_size) : std::nullopt;
  if (!names) return {};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto one = section_header(header, i);
    if (!one || one->sh_type == SHT_NOBITS) continue;
    const auto found = part(*names, one->sh_name, name.size() + 1);
    if (!found || as_text(*found).substr(0, name.size()) != name || found->back() != std::byte{}) {
      continue;
    }
    const auto contents = part(bytes_, one->sh_offset, one->sh_size);
    if (contents) return as_text(*contents);
  }
  return {};
}

std::vector<std::string_view> ObjectFile::needed() const {
  const std::string_view entries = section(".dynamic"), names = section(".dynstr");
  std::vector<std::string_view> libraries;
  for (std::size_t at = 0; at < entries.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = number_at<Elf64_Dyn>(bytes_in(entries), at);
    if (!entry || entry->d_tag != DT_NEEDED) continue;
    const std::string_view library = text_at(bytes_in(names), entry->d_un.d_val);
    if (!library.empty()) libraries.push_back(library);
  }
  return libraries;
}

}  // namespace warpmeter::runtime
