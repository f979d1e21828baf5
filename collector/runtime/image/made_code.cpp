// SPDX-License-Identifier: MIT
#include "collector/runtime/image/made_code.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "collector/model/counts/sass/elf.h"
#include "collector/model/input/cache.h"
#include "collector/runtime/image/given_sources.h"
#include "collector/runtime/image/readable_memory.h"

namespace warpmeter::runtime {
namespace {

namespace fs = std::filesystem;

struct Made {
  std::function<std::string()> make;
  std::optional<std::string> ptx;  ///< once it was asked for
};

struct AllMade {
  std::mutex mutex;
  std::map<std::string, Made, std::less<>> of_cubin;
};

/// Paths of cubins. Their lock is never held for long: any read() may wait for it.
struct ReadFiles {
  std::mutex mutex;
  std::set<std::string> paths;
};

AllMade& made() {
  static auto* all = new AllMade;  // as long as the process
  return *all;
}

ReadFiles& read_files() {
  static auto* all = new ReadFiles;  // as long as the process
  return *all;
}

/// All of a cubin that begins at an address: the table of sections ends it, or that of segments
/// behind it does. Empty: it is none.
std::string_view whole_cubin(const void* cubin) {
  const Bytes memory = readable_from(cubin);
  const auto header = number_at<Elf64_Ehdr>(memory, 0);
  if (!header) return {};
  const auto sections =
      part(memory, header->e_shoff, std::uint64_t{header->e_shnum} * header->e_shentsize);
  const auto segments =
      part(memory, header->e_phoff, std::uint64_t{header->e_phnum} * header->e_phentsize);
  if (!sections || !segments) return {};
  return as_text(memory.first(
      std::max(header->e_shoff + sections->size(), header->e_phoff + segments->size())));
}

/// Empty where there is no such file. A pipe would be waited for.
std::string contents(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string key_of(std::string_view cubin) { return "PTX of machine code\n" + std::string(cubin); }

/// The PTX that lies beside the file of a cubin. Triton writes both, and then what it knows of them
/// as JSON, to a folder that is named by their content. Empty: the file is of something else.
std::string ptx_beside(fs::path file, std::string_view image) {
  std::error_code unknown;
  if (fs::file_size(file, unknown) != image.size() || unknown ||
      !fs::exists(file.replace_extension(".json"), unknown) ||
      contents(file.replace_extension(".cubin")) != image) {
    return "";
  }
  return contents(file.replace_extension(".ptx"));
}

/// Triton's own rule (triton/knobs.py).
fs::path cache_of_triton() {
  if (const char* folder = std::getenv("TRITON_CACHE_DIR")) return folder;
  for (const char* variable : {"TRITON_HOME", "HOME"}) {
    if (const char* home = std::getenv(variable)) return fs::path(home) / ".triton" / "cache";
  }
  return "";
}

/// A cubin's file and its size.
using Sized = std::pair<fs::path, std::uintmax_t>;

std::vector<Sized> cubins_in(const fs::path& folder) {
  std::vector<Sized> cubins;
  std::error_code ignored;
  for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) {
    if (at->path().extension() == ".cubin") {
      cubins.emplace_back(at->path(), at->file_size(ignored));
    }
  }
  return cubins;
}

std::string ptx_among(const std::vector<Sized>& cubins, std::string_view image) {
  for (const auto& [path, size] : cubins) {
    if (size != image.size()) continue;
    if (std::string ptx = ptx_beside(path, image); !ptx.empty()) return ptx;
  }
  return "";
}

/// The PTX of machine code in Triton's cache, which has a folder for each code. Those that had
/// machine code are not listed again. Nobody else is in here meanwhile.
std::string ptx_in_cache(std::string_view image) {
  static auto* known = new std::map<fs::path, std::vector<Sized>>;  // as long as the process
  for (const auto& [folder, cubins] : *known) {
    if (std::string ptx = ptx_among(cubins, image); !ptx.empty()) return ptx;
  }
  std::error_code ignored;
  for (fs::directory_iterator at(cache_of_triton(), ignored), end; at != end;
       at.increment(ignored)) {
    if (known->count(at->path()) != 0) continue;
    std::vector<Sized> cubins = cubins_in(at->path());
    if (cubins.empty()) continue;
    std::string ptx = ptx_among(cubins, image);
    known->emplace(at->path(), std::move(cubins));
    if (!ptx.empty()) return ptx;
  }
  return "";
}

/// The program has read the file. Where its reads are not seen, since CUDA is answered in a process
/// that ran already, it may be any of the cache.
std::string ptx_of_triton(std::string_view image) {
  ReadFiles& read = read_files();
  std::unique_lock lock(read.mutex);
  const std::set<std::string> paths = read.paths;
  lock.unlock();
  if (paths.empty()) return ptx_in_cache(image);
  for (const std::string& path : paths) {
    if (std::string ptx = ptx_beside(path, image); !ptx.empty()) return ptx;
  }
  return "";
}

std::string ptx_of(AllMade& all, std::string_view image) {
  const auto found = all.of_cubin.find(image);
  if (found != all.of_cubin.end()) {
    Made& code = found->second;
    if (!code.ptx) {
      code.ptx = code.make();
      keep_made(image, *code.ptx);
    }
    return *code.ptx;
  }
  if (auto kept = model::find_compiled(key_of(image))) return std::move(kept->ptx);
  return ptx_of_triton(image);
}

}  // namespace

void remember_made(std::string cubin, std::function<std::string()> ptx) {
  if (cubin.size() < sizeof(Elf64_Ehdr)) return;
  AllMade& all = made();
  const std::lock_guard lock(all.mutex);
  all.of_cubin.insert_or_assign(std::move(cubin), Made{std::move(ptx), {}});
}

void keep_made(std::string_view cubin, const std::string& ptx) {
  if (ptx.empty()) return;
  model::Compiled pair;
  pair.ptx = ptx;
  model::keep_compiled(key_of(cubin), pair);
}

void look_at_read(int file, std::string_view bytes) {
  constexpr Elf64_Half of_gpus = 190;
  const auto machine = number_at<Elf64_Half>(bytes_in(bytes), offsetof(Elf64_Ehdr, e_machine));
  if (!bytes.starts_with(ELFMAG) || machine != of_gpus) return;
  std::error_code unknown;
  const auto path = fs::read_symlink(fmt::format("/proc/self/fd/{}", file), unknown);
  if (unknown) return;
  ReadFiles& read = read_files();
  const std::lock_guard lock(read.mutex);
  read.paths.insert(path.string());
}

void take_made(ModuleSource& source, const void* cubin, int arch) {
  const std::string_view image = whole_cubin(cubin);
  if (image.empty()) return;
  AllMade& all = made();
  const std::lock_guard lock(all.mutex);
  std::string ptx = without_source(ptx_of(all, image));
  const auto bytes = std::as_bytes(std::span(image));
  const auto read = model::sass::Elf::read(bytes);
  const auto* elf = std::get_if<model::sass::Elf>(&read);
  const int own = elf != nullptr ? elf->arch() : 0;
  // Machine code runs on what has its major version, from its minor one on.
  if (own / 10 != arch / 10 || own > arch) return;
  source.ptx = std::move(ptx);
  if (own == arch) source.cubin.assign(bytes.begin(), bytes.end());
}

}  // namespace warpmeter::runtime
