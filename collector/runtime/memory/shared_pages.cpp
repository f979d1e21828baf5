// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/shared_pages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace warpmeter::runtime {
namespace {

std::string name_of(const SharedPages& pages) {
  return fmt::format("warpmeter-{:016x}", pages.token);
}

/// True if the descriptor still is the file that these pages lie in.
bool is_theirs(int descriptor, const SharedPages& pages) {
  std::array<char, 64> text{};
  const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  if (length <= 0) return false;
  const std::string_view target(text.data(), static_cast<std::size_t>(length));
  return target.find(name_of(pages)) != std::string_view::npos;
}

}  // namespace

SharedPages SharedPages::make(std::uint64_t bytes) {
  SharedPages made;
  made.bytes = bytes;
  if (getrandom(&made.token, sizeof made.token, 0) != sizeof made.token) return {};
  made.descriptor = memfd_create(name_of(made).c_str(), MFD_CLOEXEC);
  if (made.descriptor < 0) return {};
  made.process = getpid();
  if (ftruncate(made.descriptor, static_cast<off_t>(bytes)) == 0) return made;
  made.drop();
  return {};
}

void SharedPages::drop() {
  if (process == getpid() && descriptor >= 0) close(descriptor);
  *this = {};
}

void* map_pages(const SharedPages& pages, void* at) {
  const bool is_own = pages.process == getpid();
  const std::string path = fmt::format("/proc/{}/fd/{}", pages.process, pages.descriptor);
  const int descriptor = is_own ? pages.descriptor : open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (is_theirs(descriptor, pages)) {
    mapped = mmap(at, pages.bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE | (at != nullptr ? MAP_FIXED : 0), descriptor, 0);
  }
  if (!is_own) close(descriptor);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

bool has_ended(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  if (!std::getline(file, line)) return true;
  // "4711 (its name) S …": its name may have anything in it.
  const std::size_t behind = line.rfind(") ");
  const char state = behind + 2 < line.size() ? line[behind + 2] : 'X';
  return state == 'Z' || state == 'X';
}

}  // namespace warpmeter::runtime
