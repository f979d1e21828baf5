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
    }
  }
  close(file);
}

ObjectFile::~ObjectFile() {
  if (bytes_ != nullptr) munmap(const_cast<std::byte*>(bytes_), size_);
}

}  // namespace warpmeter::runtime
