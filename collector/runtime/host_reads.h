// What operations read of memory that the host reaches itself, as it was then: where that is
// another by the time when the host has waited for them, host code has changed it too early. It
// needs no signals and no protected pages, so that programs run as they do without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "collector/runtime/memory.h"

namespace warpmeter::runtime {

class HostReads {
 public:
  explicit HostReads(const Memory& memory) : memory_(memory) {}

  /// An operation reads that now. Of more than can be kept, nothing is noted.
  void keep(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes);
  /// The operations of which `is_done` holds are over. Of what was changed meanwhile, byte by byte
  /// and in order, `is_by_device` says whether later operations did that; the rest is told, once
  /// for each operation.
  using IsDone = std::function<bool(std::uint32_t operation)>;
  using IsByDevice = std::function<bool(std::uint32_t operation, std::uint64_t address)>;
  using Tell =
      std::function<void(std::uint32_t operation, std::uint64_t address, std::uint64_t bytes)>;
  void settle(const IsDone& is_done, const IsByDevice& is_by_device, const Tell& tell);
  void forget(const Block& block);
  void forget_all();
  /// There was more than could be kept.
  bool is_partial() const { return is_partial_; }

 private:
  struct Read {
    std::uint32_t operation = 0;
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
  };

  const Memory& memory_;
  std::list<Read> reads_;
  std::size_t kept_ = 0;
  bool is_partial_ = false;
};

}  // namespace warpmeter::runtime
