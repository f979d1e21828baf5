#include "collector/runtime/redirect.h"

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

#include "collector/runtime/answers.h"
#include "collector/runtime/earlier.h"
#include "collector/runtime/object_file.h"

namespace warpmeter::runtime {

thread_local bool null_is_per_thread = false;

namespace {

constexpr std::size_t jump_bytes = 14;

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

/// Whether a jump fits there, in the object's code.
bool is_code(const dl_phdr_info& object, std::uint64_t value) {
  return std::any_of(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum,
                     [&](const ElfW(Phdr) & segment) {
                       return segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
                              value >= segment.p_vaddr && segment.p_memsz >= jump_bytes &&
                              value - segment.p_vaddr <= segment.p_memsz - jump_bytes;
                     });
}

/// Small pieces of code that end in a jump.
class Pieces {
 public:
  /// `begin`, then a jump to `target`; null when there is no memory.
  void* add(std::span<const unsigned char> begin, const void* target) {
    const std::size_t bytes = begin.size() + jump_bytes;
    if (page_ == nullptr || used_ + bytes > page_bytes) {
      void* mapped = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapped == MAP_FAILED) return nullptr;
      page_ = static_cast<unsigned char*>(mapped);
      used_ = 0;
    }
    unsigned char* piece = page_ + used_;
    used_ += bytes;
    const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip + 0]; the address
    std::memcpy(piece, begin.data(), begin.size());
    std::memcpy(piece + begin.size(), jump, sizeof jump);
    std::memcpy(piece + begin.size() + sizeof jump, &target, sizeof target);
    return piece;
  }

 private:
  static constexpr std::size_t page_bytes = 4096;
  unsigned char* page_ = nullptr;
  std::size_t used_ = 0;
};

/// mov edi, number
std::array<unsigned char, 5> set_first_argument(std::uint32_t number) {
  std::array<unsigned char, 5> code = {0xbf};
  std::memcpy(code.data() + 1, &number, sizeof number);
  return code;
}

/// mov byte fs:[null_is_per_thread], 1: it lies as far from the thread's pointer in every thread.
std::array<unsigned char, 9> set_null_is_per_thread() {
  const auto own = reinterpret_cast<std::intptr_t>(__builtin_thread_pointer());
  const auto offset =
      static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(&null_is_per_thread) - own);
  std::array<unsigned char, 9> code = {0x64, 0xc6, 0x04, 0x25, 0, 0, 0, 0, 1};
  std::memcpy(code.data() + 4, &offset, sizeof offset);
  return code;
}

/// "cudaMemcpyAsync_ptsz" → "cudaMemcpyAsync": for which stream 0 is the thread's own.
std::string_view without_stream_suffix(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

class Redirector {
 public:
  Redirector() {
    for (const Answer& answer : answers()) answers_.emplace(answer.name, answer.function);
    for (const std::string_view name : api_names()) api_names_.insert(name);
  }

  /// What is no longer there is forgotten: it may come again, as its file has it.
  void visit_all() {
    present_.clear();
    dl_iterate_phdr(visit_object, this);
    seen_.swap(present_);
  }
  std::size_t objects() const { return objects_; }

  void* answer_to(std::string_view name, bool is_before_13) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = found_.try_emplace({std::string(name), is_before_13});
    if (is_new) place->second = find_answer(name, is_before_13);
    return place->second;
  }

 private:
  static int visit_object(dl_phdr_info* object, std::size_t, void* self) {
    static_cast<Redirector*>(self)->visit(*object);
    return 0;
  }

  void visit(const dl_phdr_info& object) {
    const bool is_program = object.dlpi_name == nullptr || object.dlpi_name[0] == '\0';
    const std::string path = is_program ? "/proc/self/exe" : object.dlpi_name;
    present_.insert({path, object.dlpi_addr});
    if (seen_.contains({path, object.dlpi_addr})) return;
    if (path.find("libwarpmeter_") != std::string::npos) return;
    const ObjectFile file(path.c_str());
    std::vector<std::pair<std::string_view, std::uint64_t>> functions;
    bool is_runtime = false, is_before_13 = false;
    file.for_each_function([&](std::string_view name, std::uint64_t value, std::uint64_t) {
      if (!name.starts_with("cu") && !name.starts_with("__cuda")) return;
      is_runtime |= name == "__cudaRegisterFatBinary" || name == "cuDriverGetVersion";
      is_before_13 |= is_of_before_13(name);
      functions.emplace_back(name, value);
    });
    if (!is_runtime) return;
    ++objects_;
    jumps_.clear();
    jumps_.reserve(functions.size());
    std::set<std::uint64_t> done;  // a name may stand in both tables
    for (const auto& [name, value] : functions) {
      if (value % 16 != 0 || !done.insert(value).second) continue;
      if (!is_code(object, value)) continue;  // the file is damaged
      if (void* answer = answer_to(name, is_before_13)) {
        jumps_.push_back({object.dlpi_addr + value, answer});
      }
    }
    write(jumps_);
  }

  void* find_answer(std::string_view name, bool is_before_13) {
    const auto known = answers_.find(name_of_answer(name, is_before_13));
    if (known != answers_.end()) return known->second;
    const auto base = answers_.find(name_of_answer(without_stream_suffix(name), is_before_13));
    if (base != answers_.end()) return pieces_.add(set_null_is_per_thread(), base->second);
    if (!api_names_.contains(name)) return nullptr;
    return pieces_.add(set_first_argument(remember_unanswered(name)),
                       reinterpret_cast<const void*>(&say_unanswered));
  }

  std::unordered_map<std::string_view, void*> answers_;
  std::set<std::string_view> api_names_;
  std::set<std::pair<std::string, std::uintptr_t>> seen_, present_;
  Pieces pieces_;
  std::map<std::pair<std::string, bool>, void*> found_;
  /// Of one object. They stay: what is freed before `main` is where a program finds other bytes
  /// than zeros in memory that it never sets, as it does not without us.
  std::vector<Jump> jumps_;
  std::size_t objects_ = 0;
  std::mutex mutex_;
};

Redirector* redirector = nullptr;  // lives until the process ends

/// In place of the dynamic linker's empty function: something was loaded or unloaded.
void objects_changed() { redirector->visit_all(); }

}  // namespace

void redirect_everything() {
  redirector = new Redirector;
  redirector->visit_all();
  if (_r_debug.r_brk != 0) {
    Jump jump{_r_debug.r_brk, reinterpret_cast<const void*>(&objects_changed)};
    write({&jump, 1});
  }
}

void* function_named(std::string_view name) {
  return redirector == nullptr ? nullptr : redirector->answer_to(name, false);
}

std::size_t redirected_objects() { return redirector == nullptr ? 0 : redirector->objects(); }

}  // namespace warpmeter::runtime
