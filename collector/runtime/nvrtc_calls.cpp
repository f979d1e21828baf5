#include "collector/runtime/nvrtc_calls.h"

#include <elf.h>
#include <nvrtc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "collector/runtime/behind.h"

namespace warpmeter::runtime {
namespace {

struct Compiled {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> ptx_of_cubin;
};

Compiled& compiled() {
  static auto* all = new Compiled;  // as long as the process
  return *all;
}

/// The PTX of the program that was compiled last; empty: there is none (compiled for linking
/// later, which makes neither).
std::string ptx_of(nvrtcProgram program) {
  const auto size_of = behind<decltype(nvrtcGetPTXSize)>(nullptr, "nvrtcGetPTXSize");
  const auto get = behind<decltype(nvrtcGetPTX)>(nullptr, "nvrtcGetPTX");
  std::size_t bytes = 0;
  if (size_of == nullptr || get == nullptr || size_of(program, &bytes) != NVRTC_SUCCESS) return "";
  std::string text(bytes, '\0');
  if (get(program, text.data()) != NVRTC_SUCCESS) return "";
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace

void take_compiled(ModuleSource& source, const void* cubin, int arch) {
  Compiled& all = compiled();
  const std::lock_guard lock(all.mutex);
  if (all.ptx_of_cubin.empty()) return;
  // The table of sections ends a cubin, or that of segments behind it does.
  Elf64_Ehdr header;
  std::memcpy(&header, cubin, sizeof header);
  const std::size_t sections = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  const std::size_t segments = header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize;
  const std::string_view image(static_cast<const char*>(cubin), std::max(sections, segments));
  const auto found = all.ptx_of_cubin.find(image);
  if (found == all.ptx_of_cubin.end()) return;
  constexpr std::string_view target = ".target sm_";
  const std::string& ptx = found->second;
  const std::size_t at = ptx.find(target);
  const int own = at == std::string::npos ? 0 : std::atoi(ptx.c_str() + at + target.size());
  // Machine code runs on what has its major version, from its minor one on.
  if (own / 10 != arch / 10 || own > arch) return;
  source.ptx = ptx;
  const auto bytes = std::as_bytes(std::span(image));
  if (own == arch) source.cubin.assign(bytes.begin(), bytes.end());
}

}  // namespace warpmeter::runtime

/// In front of NVRTC's own.
extern "C" [[gnu::visibility("default")]] nvrtcResult nvrtcGetCUBIN(nvrtcProgram program,
                                                                    char* cubin) {
  namespace runtime = warpmeter::runtime;
  const auto get = runtime::behind<decltype(nvrtcGetCUBIN)>(nullptr, "nvrtcGetCUBIN");
  if (get == nullptr) return NVRTC_ERROR_INTERNAL_ERROR;
  const nvrtcResult result = get(program, cubin);
  std::size_t bytes = 0;
  const auto size_of = runtime::behind<decltype(nvrtcGetCUBINSize)>(nullptr, "nvrtcGetCUBINSize");
  const bool is_made = result == NVRTC_SUCCESS && size_of != nullptr &&
                       size_of(program, &bytes) == NVRTC_SUCCESS && bytes > sizeof(Elf64_Ehdr);
  if (!is_made) return result;
  if (std::string ptx = runtime::ptx_of(program); !ptx.empty()) {
    runtime::Compiled& all = runtime::compiled();
    const std::lock_guard lock(all.mutex);
    all.ptx_of_cubin.insert_or_assign(std::string(cubin, bytes), std::move(ptx));
  }
  return result;
}
