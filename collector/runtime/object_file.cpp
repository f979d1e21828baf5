#include "collector/runtime/object_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace warpmeter::runtime {

ObjectFile::ObjectFile(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat info {};
  if (fstat(file, &info) == 0 && info.st_size > static_cast<off_t>(sizeof(Elf64_Ehdr))) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      bytes_ = static_cast<const std::byte*>(mapped);
      size_ = size;
      is_mapped_ = true;
    }
  }
  close(file);
}

ObjectFile::ObjectFile(std::string_view bytes)
    : bytes_(reinterpret_cast<const std::byte*>(bytes.data())), size_(bytes.size()) {}

ObjectFile::~ObjectFile() {
  if (is_mapped_) munmap(const_cast<std::byte*>(bytes_), size_);
}

bool ObjectFile::is_program() const {
  const auto* header = at<Elf64_Ehdr>(0);
  return header != nullptr && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
}

std::string_view ObjectFile::section(std::string_view name) const {
  const auto* header = at<Elf64_Ehdr>(0);
  if (!is_program()) return {};
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr || header->e_shstrndx >= header->e_shnum) return {};
  const Elf64_Shdr& names = sections[header->e_shstrndx];
  const auto* texts = at<char>(names.sh_offset, names.sh_size);
  if (texts == nullptr) return {};
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const Elf64_Shdr& one = sections[i];
    if (one.sh_name >= names.sh_size || one.sh_type == SHT_NOBITS) continue;
    const std::string_view rest(texts + one.sh_name, names.sh_size - one.sh_name);
    const auto* bytes = at<char>(one.sh_offset, one.sh_size);
    if (bytes != nullptr && rest.substr(0, rest.find('\0')) == name) return {bytes, one.sh_size};
  }
  return {};
}

std::vector<std::string_view> ObjectFile::needed() const {
  const std::string_view entries = section(".dynamic"), names = section(".dynstr");
  std::vector<std::string_view> libraries;
  for (std::size_t i = 0; i + sizeof(Elf64_Dyn) <= entries.size(); i += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, entries.data() + i, sizeof entry);
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= names.size()) continue;
    const std::string_view rest = names.substr(entry.d_un.d_val);
    libraries.push_back(rest.substr(0, rest.find('\0')));
  }
  return libraries;
}

}  // namespace warpmeter::runtime
