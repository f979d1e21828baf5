// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/compilers.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "collector/runtime/image/object_file.h"

namespace warpmeter::runtime {
namespace {

struct Originals {
  std::mutex mutex;
  std::map<std::string, void*, std::less<>> of_name;
};

Originals& originals() {
  static auto* all = new Originals;  // as long as the process
  return *all;
}

const void* front_of(std::string_view name) {
  for (const auto& fronts : {nvrtc_fronts(), nvjitlink_fronts(), curand_fronts()}) {
    for (const Front& front : fronts) {
      if (front.name == name) return front.ours;
    }
  }
  return nullptr;
}

/// The symbol's value counts from where its object was mapped: the sum wraps to our function.
void point(std::uintptr_t base, ElfW(Sym) & symbol, const void* ours) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(&symbol);
  auto* const pages = reinterpret_cast<void*>(at & ~(page - 1));
  const std::size_t bytes = at + sizeof symbol - (at & ~(page - 1));
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) return;
  symbol.st_value = reinterpret_cast<std::uintptr_t>(ours) - base;
  mprotect(pages, bytes, PROT_READ);
}

}  // namespace

std::string_view compiler_at(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libnvrtc-builtins")) return "";
  for (const std::string_view one : {"libnvrtc", "libnvJitLink", "libcurand.so"}) {
    if (name.starts_with(one)) return one;
  }
  return "";
}

void stand_before(const dl_phdr_info& object, const ObjectFile& file) {
  Originals& all = originals();
  const std::lock_guard lock(all.mutex);
  file.for_each_exported_function(
      [&](std::string_view name, std::uint64_t value, std::uint64_t place) {
        const bool is_known =
            name.starts_with("nv") || name.starts_with("__nv") || name.starts_with("curand");
        if (!is_known) return;
        all.of_name.insert_or_assign(std::string(name),
                                     reinterpret_cast<void*>(object.dlpi_addr + value));
        const void* ours = front_of(name);
        if (ours == nullptr) return;
        point(object.dlpi_addr, *reinterpret_cast<ElfW(Sym)*>(object.dlpi_addr + place), ours);
      });
}

void* compiler_function(const char* name) {
  Originals& all = originals();
  const std::lock_guard lock(all.mutex);
  const auto known = all.of_name.find(std::string_view(name));
  return known != all.of_name.end() ? known->second : dlsym(RTLD_NEXT, name);
}

}  // namespace warpmeter::runtime
