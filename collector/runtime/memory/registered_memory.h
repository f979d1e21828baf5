// SPDX-License-Identifier: MIT
// Registered memory, which is the program's own and cannot be taken from it: what operations read
// and wrote there, as it was then. Where that is another by the time when the next operation
// begins, or when the host has waited, host code has changed it too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "collector/runtime/memory/memory.h"

namespace warpmeter::runtime {

class RegisteredMemory {
 public:
  explicit RegisteredMemory(const Memory& memory) : memory_(memory) {}

  /// An operation touches that now. Nothing is noted of more than can be kept.
  void keep(std::uint32_t operation, const Stretch& bytes, bool writes);
  /// It has written what it was to write.
  void keep_written(std::uint32_t operation);
  /// Tells of changed bytes, byte by byte and in order, `is_by_device` says whether later
  /// operations did that; the rest is told, once for each operation.
  using IsByDevice = std::function<bool(std::uint32_t operation, std::uint64_t address)>;
  using Tell = std::function<void(std::uint32_t operation, std::uint64_t address,
                                  std::uint64_t bytes, bool was_written)>;
  void look(const IsByDevice& is_by_device, const Tell& tell);
  /// The operations of which `is_done` holds are over.
  void drop_if(const std::function<bool(std::uint32_t operation)>& is_done);
  void forget(const Block& block);
  void forget_all();
  /// There was more than could be kept.
  bool is_partial() const { return is_partial_; }

 private:
  struct Touched {
    std::uint32_t operation = 0;
    std::uint64_t address = 0;
    bool is_written = false;
    std::vector<std::byte> bytes;
  };

  void add(std::uint32_t operation, const Stretch& bytes, bool is_written);

  const Memory& memory_;
  std::list<Touched> touched_;
  std::vector<Stretch> written_;  ///< by the current operation
  std::size_t kept_ = 0;
  bool is_partial_ = false;
};

}  // namespace warpmeter::runtime
