// SPDX-License-Identifier: MIT
#include "collector/runtime/image/readable_memory.h"

#include <link.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace warpmeter::runtime {
namespace {

struct Search {
  std::uintptr_t address = 0, end = 0;  ///< end: 0 until it is found
};

/// Loaded objects tell their segments faster than the system tells its mappings.
int visit_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (search.address < begin || search.address - begin >= segment.p_filesz) continue;
    search.end = begin + segment.p_filesz;
    return 1;
  }
  return 0;
}

/// The end of neighbouring mappings that can be read. The stream has no buffer from the program's
/// heap, which has to stay as it is without us.
void search_mappings(Search& search) {
  std::ifstream file("/proc/self/maps");
  std::string line;
  while (std::getline(file, line)) {
    std::uintptr_t begin = 0, end = 0;
    char may_read = '-';
    if (std::sscanf(line.c_str(), "%zx-%zx %c", &begin, &end, &may_read) != 3) continue;
    if (end <= search.address) continue;
    const std::uintptr_t next = search.end != 0 ? search.end : search.address;
    if (begin > next || may_read != 'r') return;
    search.end = end;
  }
}

}  // namespace

Bytes readable_from(const void* address) {
  Search search{reinterpret_cast<std::uintptr_t>(address)};
  if (address == nullptr) return {};
  if (dl_iterate_phdr(visit_object, &search) == 0) search_mappings(search);
  if (search.end <= search.address) return {};
  return {static_cast<const std::byte*>(address), search.end - search.address};
}

}  // namespace warpmeter::runtime
