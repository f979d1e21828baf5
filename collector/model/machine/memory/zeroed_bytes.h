// SPDX-License-Identifier: MIT
// Bytes that begin as zeros and do so again after `clear`. Many of them take memory only where they
// were touched: stacks of threads are long, and few calls use them up. Those that are mostly used
// up
// (`is_dense`) get it in large pages, where the system has such: a fault each 2 MB, not each 4 KB.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

namespace warpmeter::model {

class ZeroedBytes {
 public:
  ZeroedBytes() = default;
  ZeroedBytes(const ZeroedBytes&) = delete;
  ZeroedBytes& operator=(const ZeroedBytes&) = delete;
  ~ZeroedBytes() {
    if (many_ != nullptr) ::munmap(many_, bytes_);
  }

  /// Once. Throws std::bad_alloc where the system has no address space left.
  void resize(std::size_t bytes, bool is_dense = false) {
    if (bytes < least_mapped) {
      few_.resize(bytes);
    } else {
      void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapped == MAP_FAILED) throw std::bad_alloc();
      many_ = static_cast<std::byte*>(mapped);
      if (is_dense) ::madvise(many_, bytes, MADV_HUGEPAGE);
    }
    bytes_ = bytes;
  }

  std::byte* data() { return many_ != nullptr ? many_ : few_.data(); }
  std::size_t size() const { return bytes_; }
  void clear() {
    if (many_ != nullptr && ::madvise(many_, bytes_, MADV_DONTNEED) == 0) return;
    std::fill_n(data(), bytes_, std::byte{0});
  }

 private:
  static constexpr std::size_t least_mapped = std::size_t{1} << 20;
  std::size_t bytes_ = 0;
  std::vector<std::byte> few_;
  std::byte* many_ = nullptr;
};

}  // namespace warpmeter::model
