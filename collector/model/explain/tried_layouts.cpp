// SPDX-License-Identifier: MIT
#include "collector/model/explain/tried_layouts.h"

#include <algorithm>
#include <tuple>

#include "collector/model/machine/device_limits.h"

namespace warpmeter::model::explain {
namespace {

/// A layout is advised that saves at least this part of the array's wavefronts beyond the fewest.
constexpr double least_saving = 0.2;
/// A further layout is advised that saves nearly as much as the best.
constexpr double least_of_best_saving = 0.7;
/// At most so many tried layouts are kept for the list.
constexpr std::size_t most_listed = 24;

Room room_for(const Subject& subject, const SharedArray& array, std::uint32_t more_bytes) {
  constexpr std::size_t most_unasked = 48 << 10;
  const std::size_t now = subject.program.shared_bytes(subject.geometry);
  if (more_bytes == 0) return Room::as_now;
  if (now + more_bytes > device_limits(subject.program.arch).shared_of_block) return Room::none;
  const bool is_too_large = subject.program.static_shared_bytes + more_bytes > most_unasked;
  if (!array.is_dynamic && is_too_large) return Room::dynamic;
  return now <= most_unasked && now + more_bytes > most_unasked ? Room::opt_in : Room::as_now;
}

bool cost_the_same(const LayoutCost& one, const LayoutCost& other) {
  return std::equal(one.of_site.begin(), one.of_site.end(), other.of_site.begin()) &&
         one.load_requests == other.load_requests && one.store_requests == other.store_requests &&
         one.atomic_requests == other.atomic_requests &&
         one.matrix_load_requests == other.matrix_load_requests &&
         one.matrix_store_requests == other.matrix_store_requests &&
         one.bypass_sectors == other.bypass_sectors &&
         one.are_copies_measured == other.are_copies_measured;
}

/// The simplest mode of boxes is the one that cuts them least.
unsigned complexity(const Layout& layout) {
  constexpr unsigned behind_last_mode = 4;
  const bool cuts = layout.kind == Layout::Kind::boxes && layout.amount > 0;
  return cuts ? behind_last_mode - layout.amount : layout.amount;
}

/// Fewest wavefronts first, then fewest requests: those of wide accesses; then least memory, then
/// the simplest.
auto order(const Tried& tried) {
  return std::tuple(tried.wavefronts, tried.cost->requests(), tried.more_bytes, tried.layout.kind,
                    complexity(tried.layout), tried.layout.row);
}

/// A set of kinds of layouts.
class Kinds {
 public:
  void add(Layout::Kind kind) { bits_ |= 1u << static_cast<unsigned>(kind); }
  bool has(Layout::Kind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1) != 0; }

 private:
  unsigned bits_ = 0;
};

}  // namespace

const char* needs_of(Room room) {
  switch (room) {
    case Room::opt_in:
      return "; more than 48 KiB need cudaFuncAttributeMaxDynamicSharedMemorySize";
    case Room::dynamic:
      return ", in dynamic shared memory: more than 48 KiB cannot be static";
    case Room::as_now:
    case Room::none:
      break;
  }
  return "";
}

std::vector<Tried> tried_layouts(const Subject& subject, const SharedArray& array,
                                 const WhatIf& what_if, std::uint64_t now, std::uint64_t ideal) {
  std::vector<Tried> all;
  all.reserve(64);
  const bool is_guessed = array.extents.size() < 2;
  for (const std::uint32_t row : what_if.rows()) {
    Kinds free;  // free of conflicts
    const std::uint32_t more_bytes = what_if.bytes_of_padding(row);
    for (const Layout& layout : what_if.layouts(row)) {
      if (layout.kind == Layout::Kind::swizzle && free.has(layout.kind)) continue;
      const LayoutCost* cost = what_if.cost(layout);
      if (cost == nullptr) continue;
      const bool is_padded = layout.kind == Layout::Kind::padding;
      const std::uint32_t more = is_padded ? layout.amount * more_bytes : 0;
      const Room room = room_for(subject, array, more);
      if (room == Room::none) continue;
      const std::uint64_t wavefronts = cost->wavefronts();
      if (wavefronts <= ideal) free.add(layout.kind);
      const auto same = std::find_if(all.begin(), all.end(), [&](const Tried& tried) {
        return layout.kind != Layout::Kind::boxes && tried.layout.kind == layout.kind &&
               tried.layout.row == row && tried.room == room && cost_the_same(*tried.cost, *cost);
      });
      if (same != all.end()) {
        same->also_amounts.push_back(static_cast<std::uint8_t>(layout.amount));
        continue;
      }
      all.push_back({layout, cost, wavefronts, more, room, false, {}});
    }
    if (is_guessed && free.has(Layout::Kind::padding)) break;
  }
  std::sort(all.begin(), all.end(),
            [](const Tried& a, const Tried& b) { return order(a) < order(b); });
  Kinds advised;
  const double best = all.empty() ? 0 : static_cast<double>(all.front().wavefronts);
  const double most =
      static_cast<double>(now) - std::max(least_saving * static_cast<double>(now - ideal),
                                          least_of_best_saving * (static_cast<double>(now) - best));
  for (Tried& tried : all) {
    if (static_cast<double>(tried.wavefronts) > most) break;
    tried.is_advised = !advised.has(tried.layout.kind);
    advised.add(tried.layout.kind);
  }
  auto front = all.begin();  // few: moved one by one, which takes no memory
  for (auto tried = all.begin(); tried != all.end(); ++tried) {
    if (tried->is_advised) std::rotate(front++, tried, tried + 1);
  }
  if (all.size() > most_listed) all.resize(most_listed);
  return all;
}

}  // namespace warpmeter::model::explain
