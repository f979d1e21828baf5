// SPDX-License-Identifier: MIT
// The machine code that a process loads, and the source line that each of its instructions came
// from (-lineinfo).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "collector/cupti/library.h"

namespace warpmeter::inject {

/// An instruction as CUPTI names it.
struct Instruction {
  std::uint32_t crc = 0;  ///< the crc of the cubin
  std::string function;
  std::uint64_t offset = 0;

  bool operator<(const Instruction& other) const {
    return std::tie(crc, function, offset) < std::tie(other.crc, other.function, other.offset);
  }
};

/// A place in the source; line 0: not known.
struct SourcePlace {
  std::string file;
  int line = 0;
};
using PlaceOf = std::function<SourcePlace(const Instruction&)>;

/// The machine code that a process loads, for as long as its lines are wanted.
class Modules {
 public:
  /// Keeps those that name `kernel`: a process may load more code than memory wants to hold twice.
  explicit Modules(std::string kernel) : kernel_(std::move(kernel)) {}

  /// To be called when CUPTI tells of a module; other calls of CUPTI may hang there.
  void add(const CUpti_ModuleResourceData& module);
  /// The one with CUPTI's checksum; empty when there is none.
  std::string find(const cupti::CuptiApi& api, std::uint32_t crc) const;

 private:
  const std::string kernel_;
  mutable std::mutex mutex_;
  std::vector<std::string> cubins_;
};

/// Where instructions of these modules came from.
class Places {
 public:
  Places(const cupti::CuptiApi& api, const Modules& modules) : api_(api), modules_(modules) {}
  SourcePlace of(const Instruction& instruction);
  /// Why none of those asked for has a line.
  std::string why_none() const;

 private:
  const cupti::CuptiApi& api_;
  const Modules& modules_;
  std::map<std::uint32_t, std::string> cubins_;
};

}  // namespace warpmeter::inject
