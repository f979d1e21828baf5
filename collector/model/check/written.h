// Which memory may be read: bytes of global memory that somebody has set, and loads that may touch
// bytes which nobody has.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/model/program.h"

namespace warpmeter::model::check {

/// Members of a structure and the gaps behind them fill multiples of it.
inline constexpr std::uint64_t structure_chunk = 8;

/// By site, whether it copies a part of a structure, gaps included: loads on one line whose
/// addresses differ by less than the largest gap between two members.
std::vector<bool> sites_in_structures(const Program& program);

/// Bytes of global memory that have been written, of the buffers that started unset. Outlives a
/// launch: the next one may read what this one wrote.
class WrittenMemory {
 public:
  /// A buffer of which nothing is set. One at the same address is forgotten.
  void add(std::uint64_t address, std::uint64_t bytes);
  void remove(std::uint64_t address);
  void mark(std::uint64_t address, std::uint32_t width);
  /// Whether any of these bytes may be read.
  bool is_written(std::uint64_t address, std::uint32_t width) const;

 private:
  std::map<std::uint64_t, std::vector<bool>> unset_;  ///< by address; a bit a byte
};

}  // namespace warpmeter::model::check
