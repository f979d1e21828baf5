// SPDX-License-Identifier: MIT
#include "collector/runtime/image/made_code.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "collector/runtime/image/readable_memory.h"

namespace warpmeter::runtime {
namespace {

struct Made {
  std::function<std::string()> make;
  std::optional<std::string> ptx;  ///< once it was asked for
};

struct AllMade {
  std::mutex mutex;
  std::map<std::string, Made, std::less<>> of_cubin;
};

AllMade& made() {
  static auto* all = new AllMade;  // as long as the process
  return *all;
}

}  // namespace

void remember_made(std::string cubin, std::function<std::string()> ptx) {
  if (cubin.size() < sizeof(Elf64_Ehdr)) return;
  AllMade& all = made();
  const std::lock_guard lock(all.mutex);
  all.of_cubin.insert_or_assign(std::move(cubin), Made{std::move(ptx), {}});
}

void take_made(ModuleSource& source, const void* cubin, int arch) {
  AllMade& all = made();
  const std::lock_guard lock(all.mutex);
  if (all.of_cubin.empty()) return;
  // The table of sections ends a cubin, or that of segments behind it does.
  const Bytes memory = readable_from(cubin);
  const auto header = number_at<Elf64_Ehdr>(memory, 0);
  if (!header) return;
  const auto sections =
      part(memory, header->e_shoff, std::uint64_t{header->e_shnum} * header->e_shentsize);
  const auto segments =
      part(memory, header->e_phoff, std::uint64_t{header->e_phnum} * header->e_phentsize);
  if (!sections || !segments) return;
  const std::string_view image = as_text(memory.first(
      std::max(header->e_shoff + sections->size(), header->e_phoff + segments->size())));
  const auto found = all.of_cubin.find(image);
  if (found == all.of_cubin.end()) return;
  Made& code = found->second;
  if (!code.ptx) code.ptx = code.make();
  constexpr std::string_view target = ".target sm_";
  const std::string& ptx = *code.ptx;
  const std::size_t at = ptx.find(target);
  const int own = at == std::string::npos ? 0 : std::atoi(ptx.c_str() + at + target.size());
  // Machine code runs on what has its major version, from its minor one on.
  if (own / 10 != arch / 10 || own > arch) return;
  source.ptx = ptx;
  const auto bytes = std::as_bytes(std::span(image));
  if (own == arch) source.cubin.assign(bytes.begin(), bytes.end());
}

}  // namespace warpmeter::runtime
