// SPDX-License-Identifier: MIT
// The checker's view of accesses that may go on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/with_noun.h"
#include "collector/model/check/block_checker.h"

#include "base/lanes.h"
#include "collector/model/check/stored_value.h"
#include "collector/model/machine/memory/shown_name.h"
#include "collector/model/machine/warp/mbarrier.h"

namespace warpmeter::model::check {
namespace {

/// Makes a barrier object, and does not look at what was there.
bool makes_barrier(const Operation& op) {
  return op.code == Code::mbarrier && static_cast<MbarrierKind>(op.c) == MbarrierKind::init;
}

bool ends_barrier(const Operation& op) {
  return op.code == Code::mbarrier && static_cast<MbarrierKind>(op.c) == MbarrierKind::invalidate;
}

}  // namespace

/// Accesses of one site by one warp between two moments have one context.
std::uint32_t BlockChecker::context_of(std::uint32_t site, std::uint32_t warp, bool writes,
                                       bool is_strong, bool is_shared, bool hands_on) {
  note_moment();
  Contexts& contexts = is_shared ? contexts_ : launch_.contexts_;
  std::uint32_t& number = number_of(site, warp, is_shared);
  if (contexts.holds(number)) {
    const Context& known = contexts[number];
    if (known.stamp == order_.now() && known.block == order_.block() && known.writes == writes &&
        known.hands_on == hands_on) {
      return number;
    }
  }
  const SiteInfo& info = program_.sites[site];
  Context context{order_.block(), order_.now(), site, static_cast<std::uint8_t>(warp), info.scope};
  context.writes = writes;
  context.is_strong = is_strong;
  context.sees = is_strong && (info.kind == AccessKind::atomic ||
                               (info.kind == AccessKind::load && info.is_strong));
  context.changes = is_strong && info.is_atomic();
  context.hands_on = hands_on;
  const bool is_counted = context.changes && !info.is_float && !info.is_apart;
  if (is_counted) context.width = static_cast<std::uint8_t>(info.width / info.parts);
  number = contexts.add(context);
  return number;
}

/// Lane by lane, those together that touch the same or follow each other.
void BlockChecker::find_segments(std::vector<Segment>& segments, std::uint32_t width,
                                 const Places& places) {
  const bool may_run = std::has_single_bit(width) && width <= sector_bytes;
  segments.clear();
  for (std::uint32_t left = places.mask; left != 0;) {
    const auto first = static_cast<unsigned>(std::countr_zero(left));
    const auto is_next = [&](unsigned lane, std::uint64_t step) {
      return lane < warp_lanes && (left >> lane & 1) != 0 &&
             places[lane] == places[lane - 1] + step;
    };
    Segment segment;
    segment.first_lane = static_cast<std::uint8_t>(first);
    segment.is_run = may_run && is_next(first + 1, width);
    unsigned next = first + 1;
    while (is_next(next, segment.is_run ? width : 0)) ++next;
    segment.lanes = static_cast<std::uint8_t>(next - first);
    segments.push_back(segment);
    left &= ~segment.mask();
  }
}

void BlockChecker::accept(const Warp& warp, const Operation* op, const SiteInfo& info,
                          const Places& places) {
  take_late_loads();
  if (info.space != AddressSpace::global) take_reads();
  if (places.space == AddressSpace::local && info.kind != AccessKind::load) {
    for_each_lane(places.mask, [&](unsigned lane) {
      unset_.wrote_local(warp.index * warp_lanes + lane, op->instruction, places[lane], info.width);
    });
  }
  const bool is_followed =
      places.space == AddressSpace::shared || places.space == AddressSpace::global;
  if (is_followed) find_segments(segments_[op->extra], info.width, places);
  plans_[op->extra].forget();
  check_access(warp, op, info, places);
}

void BlockChecker::check_access(const Warp& warp, const Operation* op, const SiteInfo& info,
                                const Places& places) {
  if (places.space == AddressSpace::shared) {
    take_reads();
    is_written_ |= info.kind != AccessKind::load;
  }
  current_ = {&warp, op, &info, op->extra, places, nullptr, nullptr};
  if (cluster_ != nullptr) check_cluster(warp, op, info, places);
  if (places.space != AddressSpace::shared && places.space != AddressSpace::global) return;
  if (!program_.copies.empty() && places.space == AddressSpace::shared) {
    const bool is_copy = info.kind == AccessKind::store && copies_.find(op->instruction) != nullptr;
    check_copies(warp, op, info, places, is_copy);
  }
  if (!program_.bulk_copies.empty() && places.space == AddressSpace::shared) {
    check_bulk_copies(warp, op, info, places);
  }
  const bool has_copies = !program_.copies.empty() || !program_.bulk_copies.empty();
  if (has_copies && places.space == AddressSpace::global) check_sources(warp, op, info, places);
  if (places.space == AddressSpace::shared) check_object_store(warp, op, info, places);
  check_segments(segments_[op->extra]);
  const bool is_strong = info.is_atomic() || info.is_strong;
  if (launch_.has_signals_ && is_strong && !is_object(*op)) signal(warp, info, places);
  if (program_.has_releases && is_strong) synchronise(warp, op, info, places);
}

const Region& BlockChecker::region_of(std::uint32_t site, std::uint64_t address) {
  const std::uint64_t removals = launch_.memory_.heap().removals;
  if (removals_ != removals) std::fill(regions_.begin(), regions_.end(), Region{});
  removals_ = removals;
  Region& last = regions_[site];
  if (!last.holds(address)) last = launch_.region_of(address);
  return last;
}

/// By a call of the device's runtime or a formatted store to a surface; it races with nothing.
void BlockChecker::written_for(const Warp& warp, unsigned lane, std::uint64_t address,
                               std::uint64_t bytes) {
  take_late_loads();
  if (address - local_window < window_bytes) {
    unset_.set_local(warp.index * warp_lanes + lane, address - local_window, bytes);
  } else if (address - shared_window < window_bytes) {
    shared_written_.mark(address - shared_window, bytes);
  } else if (const Allocation* allocation = launch_.memory_.find(address)) {
    MarkedBytes* written = launch_.written_.find(allocation->address);
    if (written != nullptr) written->mark(address - allocation->address, bytes);
  }
}

/// Checks that everything that is read was written, and what it races with; notes what is written.
void BlockChecker::check_segments(const std::vector<Segment>& segments) {
  const SiteInfo& info = *current_.info;
  const Operation& op = *current_.op;
  const bool is_shared = current_.places.space == AddressSpace::shared;
  const bool is_strong =
      (info.is_atomic() || info.is_strong || info.is_verified) && !makes_barrier(op);
  const bool writes = info.kind != AccessKind::load && op.code != Code::mbarrier_wait;
  const std::uint32_t warp = current_.warp->index;
  const Scope scope = is_shared ? Scope::block : info.scope;
  const bool hands_on = writes && is_strong && !is_object(op) &&
                        (info.releases || order_.have_fenced(warp, current_.places.mask, scope));
  launch_.has_narrow_ |= is_strong && !is_shared && info.scope == Scope::block;
  const std::uint32_t number = context_of(op.extra, warp, writes, is_strong, is_shared, hands_on);
  const Accessing by = accessing(number, is_shared);
  const bool may_leave_array = is_shared && launch_.has_arrays_ && info.array_end != 0;
  launch_.has_unnamed_ |= is_shared && launch_.has_arrays_ && info.array_end == 0;
  for (const Segment& segment : segments) {
    std::uint64_t offset = current_.places[segment.first_lane];
    Shadow* shadow = &shared_;
    MarkedBytes* written = &shared_written_;
    if (!is_shared) {
      const Region& region = region_of(op.extra, offset);
      current_.region = &region;
      offset -= region.allocation->address;
      shadow = region.shadow;
      written = region.written;
    }
    const std::uint64_t bytes = std::uint64_t{segment.is_run ? segment.lanes : 1u} * info.width;
    if (may_leave_array && (offset < info.array_begin || offset + bytes > info.array_end)) {
      check_array(offset, segment);
    }
    if (is_copied_in_bulk(op)) {
      pass_on_in_bulk(written, offset);
    } else if (written != nullptr) {
      check_written(*written, offset, segment);
    }
    if (info.is_read_only && !is_shared) check_read_only(*shadow, offset, bytes, segment);
    if (!is_shared && current_.region->read != nullptr) {
      if (!writes) {
        current_.region->read->mark(offset, bytes);
        continue;
      }
      launch_.has_stray_stores_ = true;
    }
    if (segment.is_run) {
      shadow->touch_run(offset, info.width, segment.first_lane, segment.lanes, by, *this);
    } else {
      shadow->touch(offset, info.width, segment.mask(), by, *this);
    }
  }
}

/// An access that leaves the array that it means comes to the next one, and goes on there.
void BlockChecker::check_array(std::uint64_t offset, const Segment& segment) {
  const SiteInfo& info = *current_.info;
  const std::uint64_t elements = segment.is_run ? segment.lanes : 1;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t begin = offset + i * info.width;
    if (begin >= info.array_begin && begin + info.width <= info.array_end) continue;
    const auto describe = [&] {
      const auto& arrays = program_.shared_variables;
      const auto own = std::find_if(arrays.begin(), arrays.end(), [&](const SharedVariable& each) {
        return each.offset == info.array_begin;
      });
      const auto other = std::find_if(arrays.begin(), arrays.end(), [&](const auto& each) {
        return begin - each.offset < each.bytes;
      });
      const std::string size =
          own->bytes > 0 ? fmt::format(" ({})", with_noun(own->bytes, "byte")) : "";
      const std::string where =
          begin < info.array_begin
              ? fmt::format("{} before", with_noun(info.array_begin - begin, "byte"))
              : fmt::format("at byte {} of", begin - info.array_begin);
      return sentence(
          current_.warp->index * warp_lanes + segment.first_lane + static_cast<std::uint32_t>(i),
          fmt::format("{} {} {} '{}'{} in shared memory, {}",
                      info.kind == AccessKind::load ? "reads" : "writes",
                      with_noun(info.width, "byte"), where, name_of_shared(own->name), size,
                      other == arrays.end()
                          ? "where no array lies"
                          : fmt::format("where '{}' lies", name_of_shared(other->name))));
    };
    launch_.findings_.add(Defect::out_of_bounds, current_.op->instruction, Span::none, describe,
                          segment.is_run ? 1 : segment.lanes);
  }
}

void BlockChecker::check_written(MarkedBytes& written, std::uint64_t offset,
                                 const Segment& segment) {
  const SiteInfo& info = *current_.info;
  const Operation& op = *current_.op;
  const std::uint64_t elements = segment.is_run ? segment.lanes : 1;
  const std::uint64_t bytes = elements * info.width;
  const bool reads = info.kind == AccessKind::load || (info.is_atomic() && !makes_barrier(op));
  if (reads && !written.all(offset, bytes)) {
    // The bytes between the members of a copied structure are read as well.
    const std::uint64_t chunk = launch_.in_structures_[op.extra] ? structure_chunk : 1;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::uint64_t begin = offset + i * info.width, end = begin + info.width;
      const std::uint64_t from = begin / chunk * chunk, to = (end + chunk - 1) / chunk * chunk;
      // Some part of a vector may be unused.
      const bool may_have_gaps = chunk > 1 || info.parts > 1;
      const bool is_set =
          may_have_gaps ? written.any(from, to - from) : written.all(from, to - from);
      const unsigned lane = segment.first_lane + static_cast<unsigned>(i);
      if (!is_set) {
        add_unwritten(begin, lane, written.any(begin, info.width));
      } else if (may_have_gaps && !written.all(begin, info.width)) {
        note_partly_written(written, begin, segment.is_run ? 1u << lane : segment.mask());
      }
    }
  }
  if (info.kind == AccessKind::load) return;
  written.mark(offset, bytes);
  if (unset_.is_awake()) pass_on_unset(written, offset, segment);
}

/// A load of which a part was never set: what becomes of that part has to be followed.
void BlockChecker::note_partly_written(const MarkedBytes& written, std::uint64_t begin,
                                       std::uint32_t lanes) {
  const std::uint32_t instruction = current_.op->instruction;
  if (!unset_.follows(instruction)) return;
  launch_.follow_memory();
  for_each_lane(lanes, [&](unsigned lane) {
    unset_.load(*current_.warp, instruction, lane, written, begin);
  });
  const auto [known, is_new] = launch_.partly_written_.try_emplace(instruction);
  if (!is_new) return;
  const std::uint32_t width = current_.info->width;
  std::uint32_t unset = 0;
  for (std::uint32_t i = 0; i < width; ++i) unset += written.all(begin + i, 1) ? 0 : 1;
  known->second =
      fmt::format("{} of the {} of {}", unset, with_noun(width, "byte"), memory_at(begin));
}

/// A copy of what is unset is unset.
void BlockChecker::pass_on_unset(MarkedBytes& written, std::uint64_t offset,
                                 const Segment& segment) {
  for (unsigned i = 0; i < (segment.is_run ? segment.lanes : 1u); ++i) {
    unset_.store(*current_.warp, current_.op->instruction, segment.first_lane + i, written,
                 offset + std::uint64_t{i} * current_.info->width);
  }
}

std::string BlockChecker::memory_at(std::uint64_t offset) const {
  return current_.region == nullptr
             ? shared_at(offset, current_.info->width)
             : fmt::format("{} at byte {}", shown_name(*current_.region->allocation), offset);
}

std::string BlockChecker::shared_at(std::uint64_t offset, std::uint64_t width) const {
  for (const SharedVariable& array : program_.shared_variables) {
    const bool is_dynamic = array.bytes == 0;  // it goes on to the end
    if (offset < array.offset || (!is_dynamic && offset - array.offset >= array.bytes)) continue;
    const std::uint64_t byte = offset - array.offset;
    const std::string place =
        fmt::format("shared memory at byte {} of '{}'", byte, name_of_shared(array.name));
    if (width == 0 || byte % width != 0) return place;
    return fmt::format("{} (element {} of {})", place, byte / width, with_noun(width, "byte"));
  }
  return fmt::format("shared memory at byte {}", offset);
}

void BlockChecker::add_unwritten(std::uint64_t offset, unsigned lane, bool is_partly) {
  const Defect defect = current_.region == nullptr ? Defect::unset_shared
                        : is_partly                ? Defect::partly_unset
                                                   : Defect::uninitialised;
  launch_.findings_.add(defect, current_.op->instruction, Span::none, [&] {
    return sentence(current_.warp->index * warp_lanes + lane,
                    fmt::format("reads {} of {} that nothing has written{}",
                                with_noun(current_.info->width, "byte"), memory_at(offset),
                                current_.region == nullptr ? vain_wait(current_.warp->index) : ""));
  });
}

/// Strong accesses hand on, and take over, what their threads know.
void BlockChecker::synchronise(const Warp& warp, const Operation* op, const SiteInfo& info,
                               const Places& places) {
  Locations& locations = places.space == AddressSpace::shared ? locations_ : launch_.locations_;
  Synchronisation what;
  what.reads = info.kind == AccessKind::load || info.kind == AccessKind::atomic;
  what.writes = info.kind != AccessKind::load;
  what.acquires = info.acquires;
  what.releases = info.releases;
  what.scope = info.scope;
  for_each_lane(places.mask, [&](unsigned lane) {
    const std::uint64_t place = places[lane];
    if (!is_object(*op)) {
      order_.synchronise(locations[place], warp.index, lane, what);
      return;
    }
    if (places.space != AddressSpace::shared) return;
    if (makes_barrier(*op)) {
      objects_.insert(place);
      return;
    }
    if (ends_barrier(*op)) objects_.erase(place);
    std::uint64_t bits;
    std::memcpy(&bits, shared_memory_ + place, sizeof(bits));
    const bool phase = bits >> 63 != 0;
    if (op->code == Code::mbarrier) {
      if (static_cast<MbarrierKind>(op->c) == MbarrierKind::complete) {
        bulk_copies_.count(warp.index * warp_lanes + lane, place, phase);
        bulk_sources_.count(warp.index * warp_lanes + lane, place, phase);
        check_bytes(warp, op, lane, bits);
      }
      order_.arrive_object(place, phase, warp.index, lane);
    } else if (!launch_.is_ignored_[op->instruction] && is_complete(warp, op, lane, bits)) {
      copies_.wait(place, phase);
      bulk_copies_.wait(place, phase);
      bulk_sources_.wait(place, phase);
      note_wait(warp, op, lane, place, order_.leave_object(place, phase, warp.index, lane));
    }
  });
}

bool BlockChecker::phase_of(std::uint64_t object) const {
  std::uint64_t bits;
  std::memcpy(&bits, shared_memory_ + object, sizeof(bits));
  return bits >> 63 != 0;
}

/// True if a wait at a barrier object is over, as mbarrier.cpp finds it.
bool BlockChecker::is_complete(const Warp& warp, const Operation* op, unsigned lane,
                               std::uint64_t bits) const {
  const std::byte* values = warp.registers + op->b * row_unit_bytes;
  if (static_cast<MbarrierKind>(op->c) == MbarrierKind::wait) {
    std::uint64_t state;
    std::memcpy(&state, values + lane * sizeof(state), sizeof(state));
    return state >> 63 != bits >> 63;
  }
  std::uint32_t parity;
  std::memcpy(&parity, values + lane * sizeof(parity), sizeof(parity));
  return (parity & 1) != bits >> 63;
}

}  // namespace warpmeter::model::check
