// SPDX-License-Identifier: MIT
#include "collector/runtime/memory/shareable.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {
namespace {

constexpr std::uint64_t mark = 0x6572616873776d77;  // "wmwshare"

}  // namespace

std::unique_ptr<Shareable> Shareable::make(Kind kind, int device, std::uint64_t bytes) {
  Facts facts{mark, kind, bytes, 0, device};
  if (getrandom(&facts.token, sizeof facts.token, 0) != sizeof facts.token) return nullptr;
  const int descriptor = memfd_create("warpmeter-shareable", MFD_CLOEXEC);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<Shareable> made(new Shareable(descriptor, facts));
  const bool is_there =
      ftruncate(descriptor, static_cast<off_t>(bytes + host_page_bytes)) == 0 &&
      pwrite(descriptor, &facts, sizeof facts, static_cast<off_t>(bytes)) == sizeof facts;
  return is_there ? std::move(made) : nullptr;
}

std::unique_ptr<Shareable> Shareable::of(int descriptor, Kind kind) {
  struct stat file {};
  const bool is_file = fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
                       static_cast<std::uint64_t>(file.st_size) >= host_page_bytes;
  if (!is_file) return nullptr;
  const std::uint64_t bytes = static_cast<std::uint64_t>(file.st_size) - host_page_bytes;
  Facts facts;
  const bool is_one =
      pread(descriptor, &facts, sizeof facts, static_cast<off_t>(bytes)) == sizeof facts &&
      facts.mark == mark && facts.kind == kind && facts.bytes == bytes;
  if (!is_one) return nullptr;
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return own < 0 ? nullptr : std::unique_ptr<Shareable>(new Shareable(own, facts));
}

Shareable::~Shareable() { close(descriptor_); }

int Shareable::handed_out() const { return dup(descriptor_); }

void* Shareable::map() const {
  void* mapped = mmap(nullptr, facts_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      descriptor_, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace warpmeter::runtime
