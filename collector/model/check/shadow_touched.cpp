// SPDX-License-Identifier: MIT
// The touched memory, put together of what a shadow keeps: of each place the last write is there as
// long as the launch is, and reads are where nothing was written since.
#include <algorithm>

#include "collector/model/check/shadow.h"

namespace warpmeter::model::check {
namespace {

/// The weaker of two strengths, none where either is missing.
void weaken(Strength& known, Strength other) {
  if (other == Strength::none) return;
  known = known == Strength::none ? other : std::min(known, other);
}

}  // namespace

Touched Shadow::touched(const Cell& cell, const Contexts& contexts,
                        const std::vector<Strength>& of_site) const {
  Touched all;
  const auto add = [&](const Slot& slot) {
    if (slot.context == 0 || !contexts.holds(slot.context)) return;
    const Context& context = contexts[slot.context];
    const Strength strength = context.is_strong ? of_site[context.site] : Strength::plain;
    weaken(context.writes ? all.writes : all.reads, strength);
  };
  add(cell.write);
  add(cell.read);
  for (std::uint32_t i = cell.more; i != 0; i = chains_[i].next) add(chains_[i].value);
  // A plain write conflicts with all that a read does.
  if (all.writes != Strength::none && all.writes <= all.reads) all.reads = Strength::none;
  return all;
}

void Shadow::for_each_touched(std::uint64_t address, std::uint64_t bytes, const Contexts& contexts,
                              const std::vector<Strength>& of_site, const SeesTouched& see) const {
  Touched run;
  const auto tell = [&] {
    const bool is_any = run.writes != Strength::none || run.reads != Strength::none;
    if (is_any && run.bytes > 0) see(run);
  };
  const auto add = [&](std::uint64_t offset, std::uint64_t count, Touched part) {
    if (offset >= bytes) return;
    part.address = address + offset;
    part.bytes = std::min(count, bytes - offset);
    if (part.is_alike(run) && run.address + run.bytes == part.address) {
      run.bytes += part.bytes;
      return;
    }
    tell();
    run = part;
  };
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    if (pages_[page] == nullptr) continue;
    for (std::size_t i = 0; i < sectors_of_page; ++i) {
      const Sector& sector = (*pages_[page])[i];
      const std::uint64_t offset = (page * sectors_of_page + i) * sector_bytes;
      if (sector.parts == undivided) {
        add(offset, sector_bytes, touched(sector.whole, contexts, of_site));
        continue;
      }
      const std::uint64_t each = sector_bytes / sector.parts;
      for (std::uint64_t part = 0; part < sector.parts; ++part) {
        add(offset + part * each, each, touched(sector.cells[part], contexts, of_site));
      }
    }
  }
  tell();
}

std::uint32_t Shadow::last_write(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint64_t end = offset + bytes;
  while (offset < end) {
    const std::uint64_t number = offset / sector_bytes;
    if (number / sectors_of_page >= pages_.size()) return 0;
    std::uint64_t step = sector_bytes;
    if (const Page* const page = pages_[number / sectors_of_page]; page != nullptr) {
      const Sector& sector = (*page)[number % sectors_of_page];
      if (sector.parts != undivided) step = sector_bytes / sector.parts;
      const Cell& cell =
          sector.parts == undivided ? sector.whole : sector.cells[offset % sector_bytes / step];
      if (cell.write.context != 0) return cell.write.context;
    }
    offset = (offset / step + 1) * step;
  }
  return 0;
}

}  // namespace warpmeter::model::check
