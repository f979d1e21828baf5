// SPDX-License-Identifier: MIT
#include "collector/model/counts/sass/jump_tables.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "collector/model/counts/sass/instruction.h"

namespace warpmeter::model::sass {
namespace {

constexpr std::uint64_t opcode_mask = 0xfff, load_constant = 0xb82, jump_relative = 0x949;
constexpr std::uint64_t bank = 2, entry_bytes = 4;
/// The limit for all tables, once for each jump by one.
constexpr std::size_t most_entries = std::size_t{1} << 20;
/// Instructions between a table's load and its jump, at the most.
constexpr std::size_t distance = 64;

std::uint64_t low_word(Bytes code, std::size_t i) {
  return number_at<std::uint64_t>(code, i * instruction_bytes).value_or(0);
}

/// The table's offset in the constants: that of the nearest load of the jump's register.
std::optional<std::uint64_t> table_of(Bytes code, std::size_t jump) {
  const std::uint64_t wanted = low_word(code, jump) >> 24 & 255;
  for (std::size_t i = jump; i-- > 0 && jump - i <= distance;) {
    const std::uint64_t word = low_word(code, i);
    const bool is_load = (word & opcode_mask) == load_constant && (word >> 16 & 255) == wanted;
    if (is_load && (word >> 54 & 31) == bank) return word >> 38 & 0xffff;
  }
  return std::nullopt;
}

}  // namespace

std::map<std::size_t, std::vector<std::size_t>> jump_tables(Bytes code, Bytes constants) {
  const std::size_t count = code.size() / instruction_bytes;
  std::map<std::size_t, std::uint64_t> begins;
  std::set<std::uint64_t> ends = {constants.size()};
  for (std::size_t i = 0; i < count && !constants.empty(); ++i) {
    if ((low_word(code, i) & opcode_mask) != jump_relative) continue;
    const auto begin = table_of(code, i);
    if (!begin || *begin >= constants.size()) continue;
    begins[i] = *begin;
    ends.insert(*begin);
  }
  std::map<std::size_t, std::vector<std::size_t>> tables;
  std::size_t left = most_entries;
  for (const auto& [jump, begin] : begins) {
    const std::uint64_t entries = (*ends.upper_bound(begin) - begin) / entry_bytes;
    if (entries > left) break;  // thousands of jumps by one long table: no compiler writes that
    left -= entries;
    std::vector<std::size_t> targets;
    bool fits = true;
    for (std::uint64_t at = begin; at < *ends.upper_bound(begin); at += entry_bytes) {
      const auto target = number_at<std::uint32_t>(constants, at).value_or(1);
      fits &= target % instruction_bytes == 0 && target / instruction_bytes < count;
      targets.push_back(target / instruction_bytes);
    }
    if (!fits || targets.empty()) continue;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    tables[jump] = std::move(targets);
  }
  return tables;
}

}  // namespace warpmeter::model::sass
