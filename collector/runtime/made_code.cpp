#include "collector/runtime/made_code.h"

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
  Elf64_Ehdr header;
  std::memcpy(&header, cubin, sizeof header);
  const std::size_t sections = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  const std::size_t segments = header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize;
  const std::string_view image(static_cast<const char*>(cubin), std::max(sections, segments));
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
