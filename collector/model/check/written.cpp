#include "collector/model/check/written.h"

#include <algorithm>
#include <cstdlib>

namespace warpmeter::model::check {

std::vector<bool> sites_in_structures(const Program& program) {
  std::vector<const Operation*> loads;
  for (const Operation& op : program.operations) {
    if (op.extra >= program.sites.size()) continue;
    const SiteInfo& site = program.sites[op.extra];
    if (site.instruction == op.instruction && site.kind == AccessKind::load) loads.push_back(&op);
  }
  std::vector<bool> found(program.sites.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Operation& one = *loads[i];
    const Place& place = program.places[one.instruction];
    // What one line makes stands together.
    for (std::size_t j = i + 1; j < std::min(loads.size(), i + 32); ++j) {
      const Operation& other = *loads[j];
      const Place& there = program.places[other.instruction];
      const std::int64_t distance = std::abs(other.imm - one.imm);
      if (place.line == 0 || there.line != place.line || there.file != place.file ||
          other.a != one.a || distance == 0 || distance >= std::int64_t{structure_chunk}) {
        continue;
      }
      found[one.extra] = found[other.extra] = true;
    }
  }
  return found;
}

void WrittenMemory::add(std::uint64_t address, std::uint64_t bytes) {
  unset_[address].assign(bytes, false);
}

void WrittenMemory::remove(std::uint64_t address) { unset_.erase(address); }

void WrittenMemory::mark(std::uint64_t address, std::uint32_t width) {
  auto after = unset_.upper_bound(address);
  if (after == unset_.begin()) return;
  auto& [begin, bits] = *std::prev(after);
  for (std::uint64_t i = address - begin; i < address - begin + width && i < bits.size(); ++i) {
    bits[i] = true;
  }
}

bool WrittenMemory::is_written(std::uint64_t address, std::uint32_t width) const {
  const auto after = unset_.upper_bound(address);
  if (after == unset_.begin()) return true;
  const auto& [begin, bits] = *std::prev(after);
  const std::uint64_t first = address - begin, end = std::min(first + width, bits.size());
  if (first >= end) return true;  // of a buffer that was set
  const auto at = [&bits = bits](std::uint64_t byte) {
    return bits.begin() + static_cast<std::ptrdiff_t>(byte);
  };
  return std::find(at(first), at(end), true) != at(end);
}

}  // namespace warpmeter::model::check
