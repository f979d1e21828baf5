// SPDX-License-Identifier: MIT
#include "collector/runtime/api/lookup.h"

#include <sys/mman.h>

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

#include "collector/runtime/api/answers.h"
#include "collector/runtime/api/earlier_names.h"
#include "collector/runtime/process/null_stream.h"

namespace warpmeter::runtime {
namespace {

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

class Lookup {
 public:
  static Lookup& get() {
    static auto* made = new Lookup;  // lives until the process ends
    return *made;
  }

  void* answer_to(std::string_view name, bool is_before_13) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = found_.try_emplace({std::string(name), is_before_13});
    if (is_new) place->second = find_answer(name, is_before_13);
    return place->second;
  }

  void* answer_with_number(std::uint32_t number, const void* function) {
    const std::lock_guard lock(mutex_);
    return with_number(number, function);
  }

 private:
  void* with_number(std::uint32_t number, const void* function) {
    return pieces_.add(set_first_argument(number), function);
  }

  Lookup() {
    for (const Answer& answer : answers()) answers_.emplace(answer.name, answer.function);
    for (const std::string_view name : api_names()) names_.insert(name);
  }

  void* find_answer(std::string_view name, bool is_before_13) {
    const auto known = answers_.find(name_of_answer(name, is_before_13));
    if (known != answers_.end()) return known->second;
    const auto base = answers_.find(name_of_answer(without_stream_suffix(name), is_before_13));
    if (base != answers_.end()) return pieces_.add(set_null_is_per_thread(), base->second);
    if (!names_.contains(name)) return nullptr;
    return with_number(remember_unanswered(name), reinterpret_cast<const void*>(&say_unanswered));
  }

  std::unordered_map<std::string_view, void*> answers_;
  std::set<std::string_view> names_;
  Pieces pieces_;
  std::map<std::pair<std::string, bool>, void*> found_;
  std::mutex mutex_;
};

}  // namespace

void* function_named(std::string_view name, bool is_before_13) {
  return Lookup::get().answer_to(name, is_before_13);
}

void* function_with_number(std::uint32_t number, const void* function) {
  return Lookup::get().answer_with_number(number, function);
}

}  // namespace warpmeter::runtime
