// SPDX-License-Identifier: MIT
#include "collector/runtime/entry/redirect.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/own_stack.h"
#include "collector/runtime/api/earlier_names.h"
#include "collector/runtime/api/lookup.h"
#include "collector/runtime/entry/compilers.h"
#include "collector/runtime/entry/machine_code_libraries.h"
#include "collector/runtime/image/object_file.h"

namespace warpmeter::runtime {

namespace {

struct Jump {
  std::uintptr_t from;
  const void* to;
};

/// Neighbouring pages are made writable together: a start has hundreds of jumps.
void write(std::span<Jump> jumps) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first_page = [&](const Jump& jump) { return jump.from & ~(page - 1); };
  std::sort(jumps.begin(), jumps.end(),
            [](const Jump& a, const Jump& b) { return a.from < b.from; });
  for (auto jump = jumps.begin(); jump != jumps.end();) {
    const auto begin = jump;
    std::uintptr_t end_of_pages = first_page(*jump);
    while (jump != jumps.end() && first_page(*jump) <= end_of_pages) {
      end_of_pages = (jump->from + jump_bytes + page - 1) & ~(page - 1);
      ++jump;
    }
    auto* pages = reinterpret_cast<void*>(first_page(*begin));
    const std::size_t bytes = end_of_pages - first_page(*begin);
    if (mprotect(pages, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) continue;
    std::for_each(begin, jump, [](const Jump& one) {
      std::array<unsigned char, jump_bytes> code = {0xff, 0x25};  // jmp [rip + 0], then the address
      std::memcpy(code.data() + 6, &one.to, sizeof one.to);
      std::memcpy(reinterpret_cast<void*>(one.from), code.data(), code.size());
    });
    mprotect(pages, bytes, PROT_READ | PROT_EXEC);
  }
}

/// True if a jump fits there, in the object's code.
bool is_code(const dl_phdr_info& object, std::uint64_t value) {
  return std::any_of(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum,
                     [&](const ElfW(Phdr) & segment) {
                       return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
                              value >= segment.p_vaddr && segment.p_memsz >= jump_bytes &&
                              value - segment.p_vaddr <= segment.p_memsz - jump_bytes;
                     });
}

/// The functions of CUDA in an object's file, with their places; none where the file holds neither
/// the runtime nor the driver's API.
struct CudaFunctions {
  std::vector<std::pair<std::string_view, std::uint64_t>> all;
  bool is_before_13 = false;
};

CudaFunctions cuda_functions(const ObjectFile& file) {
  CudaFunctions found;
  bool is_runtime = false;
  file.for_each_function([&](std::string_view name, std::uint64_t value, std::uint64_t) {
    if (!name.starts_with("cu") && !name.starts_with("__cuda")) return;
    is_runtime |= name == "__cudaRegisterFatBinary" || name == "cuDriverGetVersion";
    found.is_before_13 |= is_of_before_13(name);
    found.all.emplace_back(name, value);
  });
  if (!is_runtime) found.all.clear();
  return found;
}

/// An object as the dynamic linker names it: its file. Empty for our own library.
std::string path_of(const dl_phdr_info& object) {
  const bool is_program = object.dlpi_name == nullptr || object.dlpi_name[0] == '\0';
  const std::string path = is_program ? "/proc/self/exe" : object.dlpi_name;
  return path.find("libwarpmeter_") != std::string::npos ? "" : path;
}

int find_cuda(dl_phdr_info* object, std::size_t, void* found) {
  const std::string path = path_of(*object);
  if (path.empty() || cuda_functions(ObjectFile(path.c_str())).all.empty()) return 0;
  *static_cast<std::string*>(found) = path;
  return 1;
}

class Redirector {
 public:
  /// Entries that are gone are forgotten: it may come again, as its file has it.
  void visit_all() {
    present_.clear();
    dl_iterate_phdr(visit_object, this);
    seen_.swap(present_);
  }
  std::size_t objects() const { return objects_; }

 private:
  static int visit_object(dl_phdr_info* object, std::size_t, void* self) {
    static_cast<Redirector*>(self)->visit(*object);
    return 0;
  }

  void visit(const dl_phdr_info& object) {
    const std::string path = path_of(object);
    if (path.empty()) return;
    present_.insert({path, object.dlpi_addr});
    if (seen_.contains({path, object.dlpi_addr})) return;
    const ObjectFile file(path.c_str());
    const auto compiler = compiler_at(path);
    if (!compiler.empty() && is_first(compiler)) return stand_before(object, file);
    jumps_.clear();
    if (is_machine_code_library(path)) return replace(object, file, path);
    if (!compiler.empty()) return;
    const CudaFunctions functions = cuda_functions(file);
    if (functions.all.empty()) return;
    ++objects_;
    jumps_.reserve(functions.all.size());
    std::set<std::uint64_t> done;  // a name may stand in both tables
    for (const auto& [name, value] : functions.all) {
      if (value % 16 != 0 || !done.insert(value).second) continue;
      if (!is_code(object, value)) continue;  // the file is damaged
      if (void* answer = function_named(name, functions.is_before_13)) {
        jumps_.push_back({object.dlpi_addr + value, answer});
      }
    }
    write(jumps_);
  }

  void replace(const dl_phdr_info& object, const ObjectFile& file, const std::string& path) {
    file.for_each_exported_function([&](std::string_view name, std::uint64_t value, std::uint64_t) {
      const bool fits = value % 16 == 0 && is_code(object, value);
      if (!fits) return;
      const auto* own = reinterpret_cast<const void*>(object.dlpi_addr + value);
      const void* ours = in_place_of(name, path, own);
      if (ours != nullptr) jumps_.push_back({object.dlpi_addr + value, ours});
    });
    write(jumps_);
  }

  /// Objects are visited in the order in which they were loaded.
  bool is_first(std::string_view compiler) const {
    return 1 == std::count_if(present_.begin(), present_.end(),
                              [&](const auto& one) { return compiler_at(one.first) == compiler; });
  }

  std::set<std::pair<std::string, std::uintptr_t>> seen_, present_;
  /// The jumps of one object. They stay: what is freed before `main` is where a program finds other
  /// bytes than zeros in memory that it never sets, as it does not without us.
  std::vector<Jump> jumps_;
  std::size_t objects_ = 0;
};

Redirector* redirector = nullptr;  // lives until the process ends

/// In place of the dynamic linker's empty function: something was loaded or unloaded.
void objects_changed() {
  with_room([] { redirector->visit_all(); });
}

}  // namespace

void redirect_everything() {
  redirector = new Redirector;
  redirector->visit_all();
  if (_r_debug.r_brk != 0) {
    Jump jump{_r_debug.r_brk, reinterpret_cast<const void*>(&objects_changed)};
    write({&jump, 1});
  }
}

std::string object_with_cuda() {
  std::string path;
  dl_iterate_phdr(find_cuda, &path);
  return path;
}

std::size_t redirected_objects() { return redirector == nullptr ? 0 : redirector->objects(); }

}  // namespace warpmeter::runtime
