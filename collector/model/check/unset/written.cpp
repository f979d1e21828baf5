// SPDX-License-Identifier: MIT
#include "collector/model/check/unset/written.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace warpmeter::model::check {

std::vector<bool> sites_in_structures(const Program& program) {
  std::vector<const Operation*> loads;
  for (const Operation& op : program.operations) {
    if (op.extra >= program.sites.size()) continue;
    const SiteInfo& site = program.sites[op.extra];
    const bool is_copied = site.kind == AccessKind::load && site.is_copied;
    if (site.instruction == op.instruction && is_copied) loads.push_back(&op);
  }
  std::vector<bool> found(program.sites.size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Operation& one = *loads[i];
    const Place& place = program.places[one.instruction];
    // The stores of one line stand together.
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

void MarkedBytes::clear() {
  std::fill(bits_.begin(), bits_.end(), 0);
  missing_ = bits_.size();
}

namespace {

/// Calls `visit` with each word's number and those of its bits that lie in the stretch.
template <class Visit>
void for_each_word(std::uint64_t offset, std::uint64_t end, Visit visit) {
  while (offset < end) {
    const std::uint64_t word = offset / 64, first = offset % 64;
    const std::uint64_t count = std::min(64 - first, end - offset);
    const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    visit(word, ones << first);
    offset += count;
  }
}

}  // namespace

void MarkedBytes::mark(std::uint64_t offset, std::uint64_t count) {
  for_each_word(offset, std::min(offset + count, bytes_),
                [&](std::uint64_t word, std::uint64_t bits) { set(word, bits); });
}

void MarkedBytes::unmark(std::uint64_t offset, std::uint64_t count) {
  for_each_word(offset, std::min(offset + count, bytes_),
                [&](std::uint64_t word, std::uint64_t bits) {
                  missing_ += bits != 0 && bits_[word] == all_of(word) ? 1 : 0;
                  bits_[word] &= ~bits;
                });
}

std::uint64_t MarkedBytes::next(bool written, std::uint64_t offset, std::uint64_t end) const {
  while (offset < end) {
    const std::uint64_t word = offset / 64 < bits_.size() ? bits_[offset / 64] : 0;
    const std::uint64_t wanted = (written ? word : ~word) >> offset % 64;
    if (wanted != 0) {
      return std::min(offset + static_cast<std::uint64_t>(std::countr_zero(wanted)), end);
    }
    offset = (offset / 64 + 1) * 64;
  }
  return end;
}

bool MarkedBytes::all(std::uint64_t offset, std::uint64_t count) const {
  std::uint64_t missing = offset + count > bytes_ ? 1 : 0;
  for_each_word(offset, std::min(offset + count, bytes_),
                [&](std::uint64_t word, std::uint64_t bits) { missing |= ~bits_[word] & bits; });
  return missing == 0;
}

bool MarkedBytes::any(std::uint64_t offset, std::uint64_t count) const {
  std::uint64_t found = 0;
  for_each_word(offset, std::min(offset + count, bytes_),
                [&](std::uint64_t word, std::uint64_t bits) { found |= bits_[word] & bits; });
  return found != 0;
}

void WrittenMemory::add(std::uint64_t address, std::uint64_t bytes) {
  unset_.insert_or_assign(address, MarkedBytes(bytes));
}

void WrittenMemory::remove(std::uint64_t address) { unset_.erase(address); }

MarkedBytes* WrittenMemory::find(std::uint64_t address) {
  const auto found = unset_.find(address);
  return found == unset_.end() ? nullptr : &found->second;
}

}  // namespace warpmeter::model::check
