// SPDX-License-Identifier: MIT
// Plain loads and stores whose lanes lie as they did the last time: most accesses of most kernels.
// They follow the site's plan (plan.h) as long as each of its parts is a common step (touch.h).
#include "collector/model/check/block_checker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "collector/model/check/plain/plan.h"
#include "collector/model/check/plain/touch.h"
#include "collector/model/machine/access.h"

namespace warpmeter::model::check {

/// True if accesses of the site do nothing but touch memory.
bool Checker::may_plan(const SiteInfo& site) const {
  const bool is_plain = (site.kind == AccessKind::load || site.kind == AccessKind::store) &&
                        !site.is_strong && !site.is_verified && !site.is_texture && !site.is_bulk;
  return is_plain && program_.copies.empty() && program_.bulk_copies.empty();
}

void Checker::note_start(std::uint64_t block) {
  has_turns_ |= block_ != ~std::uint64_t{0};
  block_ = block;
}

void Checker::note_end() { block_ = ~std::uint64_t{0}; }

/// Nothing that the block's threads did so far is unordered with what they do from now on.
void BlockChecker::note_past() {
  past_shared_ = contexts_.next();
  past_global_ = launch_.contexts_.next();
  reads_.clear();
  is_written_ = false;
}

void BlockChecker::accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                                const Places& places) {
  take_late_loads();
  look_again(warp, op, info, places);
}

inline void BlockChecker::look_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                                     const Places& places) {
  Planned planned{&warp, op, &info, places};
  if (!find(planned) || !touch_plainly(planned)) check_access(warp, op, info, places);
}

/// True if the plan is one for an access at this place, and leads to memory that is there.
inline bool serves(const Plan& plan, std::uint64_t place, std::uint64_t size) {
  return place % 4 == 0 && place < size && plan.is_made && plan.is_usable && place >= plan.below &&
         place + plan.above <= size;
}

inline bool are_set(const MarkedBytes& written, const Plan& plan, std::uint64_t sector) {
  return written.are_all() ||
         std::all_of(plan.parts.begin(), plan.parts.end(), [&](const Part& part) {
           return written.all_of_sector(
               sector + static_cast<std::uint64_t>(std::int64_t{part.sector}), part.bytes);
         });
}

inline void mark_parts(MarkedBytes& read, const Plan& plan, std::uint64_t sector) {
  if (read.are_all()) return;
  for (const Part& part : plan.parts) {
    read.mark_in_sector(sector + static_cast<std::uint64_t>(std::int64_t{part.sector}), part.bytes);
  }
}

/// The same as context_of(): a plain access of the site has this context already if it has one
/// since the block's present moment began.
inline std::uint32_t BlockChecker::plain_context_of(std::uint32_t site, std::uint32_t warp,
                                                    bool writes, bool is_shared) {
  note_moment();
  std::uint32_t& number = number_of(site, warp, is_shared);
  if (number >= (is_shared ? first_shared_ : first_global_)) return number;
  Context context{order_.block(), moment_, site, static_cast<std::uint8_t>(warp),
                  program_.sites[site].scope};
  context.writes = writes;
  number = (is_shared ? contexts_ : launch_.contexts_).add(context);
  return number;
}

/// Where accesses to shared memory that follow the plan need no closer look: nowhere, where several
/// arrays are there and the code does not show which is meant.
void BlockChecker::find_places(Plan& plan, const SiteInfo& info) const {
  std::uint64_t begin = 0, end = shared_written_.size();
  if (launch_.has_arrays_) {
    begin = info.array_begin;
    end = std::min<std::uint64_t>(end, info.array_end);
  }
  plan.from = begin + plan.below;
  const std::uint64_t beyond = plan.from + plan.above;  // where the first of them ends
  plan.places = plan.is_usable && beyond <= end ? end - beyond + 1 : 0;
}

/// Finds what is needed for an access that is a common one. False where check_access() has to look
/// at it; nothing has happened in either case.
inline bool BlockChecker::find(Planned& planned) {
  const SiteInfo* const info = planned.info;
  const Places& places = planned.places;
  const std::uint32_t site = planned.op->extra;
  Plans& plans = plans_[site];
  if (!plans.may_be_made || cluster_ != nullptr) return false;
  const bool writes = info->kind == AccessKind::store;
  if (writes && (unset_.is_awake() || !objects_.empty())) return false;
  const std::uint64_t place = places[static_cast<unsigned>(std::countr_zero(places.mask))];
  std::uint64_t offset = place, size = shared_written_.size();
  planned.shadow = &shared_;
  planned.written = &shared_written_;
  if (!planned.is_shared()) {
    if (places.space != AddressSpace::global || launch_.has_turns_) return false;
    planned.region = region_of(site, place);
    offset -= planned.region.allocation->address;
    size = planned.region.allocation->data.size();
    planned.shadow = planned.region.shadow;
    planned.written = planned.region.written;
  }
  if (offset % 4 != 0) return false;
  Plan& plan = plans.at(offset);
  if (!plan.is_made) {
    make_plan(plan, segments_[site], info->width, writes, offset, place - places.base,
              places.beyond);
    plan.is_read_only = info->is_read_only;
    if (planned.is_shared()) find_places(plan, *info);
  }
  planned.plan = &plan;
  planned.sector = offset / sector_bytes;
  if (!plan.is_usable || offset < plan.below || offset + plan.above > size) return false;
  if (planned.is_shared() && launch_.has_arrays_) {
    launch_.has_unnamed_ |= info->array_end == 0;
    const bool may_leave = info->array_end != 0 && (offset - plan.below < info->array_begin ||
                                                    offset + plan.above > info->array_end);
    if (may_leave) return false;
  }
  return true;
}

/// False where this access has to be checked by check_access(): then nothing has happened.
inline bool BlockChecker::touch_plainly(const Planned& planned) {
  const Plan& plan = *planned.plan;
  const bool is_shared = planned.is_shared(), writes = planned.info->kind == AccessKind::store;
  MarkedBytes* const written = planned.written;
  const bool has_unwritten = written != nullptr && !written->are_all();
  if (has_unwritten && writes) {
    for (const Part& part : plan.parts) {
      written->mark_in_sector(planned.sector_of(part), part.bytes);
    }
  } else if (has_unwritten && !are_set(*written, plan, planned.sector)) {
    return false;
  }
  if (planned.info->is_read_only && !is_shared) {
    for (const Part& part : plan.parts) {
      if (planned.shadow->may_be_written(part, planned.sector)) return false;
    }
  }
  if (is_shared && writes) {
    take_reads();
    is_written_ = true;
  } else if (is_shared && !is_written_ && launch_.is_plain_ &&
             may_wait(*planned.warp, planned.op, planned.places.base)) {
    return true;
  }
  if (MarkedBytes* const read = planned.region.read; read != nullptr && !writes) {
    if (launch_.wanted_ == Wanted::touched) mark_parts(*read, plan, planned.sector);
    return true;
  }
  launch_.has_stray_stores_ |= planned.region.read != nullptr;
  touch_parts(planned);
  return true;
}

/// Loads of machine code, together. Most have a plan, read what is set, and lie where the site's
/// last one did.
void BlockChecker::look_at_late_loads() {
  const LateLoad* const end = std::exchange(late_.next, late_room_.data());
  const bool is_alone = cluster_ == nullptr;
  const bool has_region = !launch_.has_turns_ && removals_ == launch_.memory_.heap().removals;
  if (has_region) warm(std::span(late_room_.data(), end));
  for (const LateLoad* load = late_room_.data(); load != end; ++load) {
    const Site& shape = load->warp->sites[load->op->extra];
    const bool is_done =
        is_alone &&
        (shape.space == static_cast<std::uint8_t>(AddressSpace::shared)
             ? note_shared(*load, shape)
             : has_region && shape.space == static_cast<std::uint8_t>(AddressSpace::global) &&
                   touch_global(*load));
    if (is_done) continue;
    look_again(*load->warp, load->op, program_.sites[load->op->extra],
               places_of(*load->warp, load->op, shape.mask, load->address));
  }
}

/// Reads what the shadows keep of all of them, so that the processor's cache has it. A load gets
/// there where a prefetch gives up: many of these pages are not in the TLB.
inline void BlockChecker::warm(std::span<const LateLoad> loads) {
  unsigned sum = 0;
  for (const LateLoad& load : loads) {
    const Region& region = regions_[load.op->extra];
    const std::uint64_t offset = load.address - region.begin;
    if (offset < region.bytes && region.read == nullptr)
      sum += region.shadow->parts_of(offset / sector_bytes);
  }
  warmed_ = sum;
}

inline bool BlockChecker::note_shared(const LateLoad& load, const Site& shape) {
  const std::uint64_t place = load.address - shape.window_begin;
  const Plan& plan = plans_[load.op->extra].at(place);
  if (is_written_ || !launch_.is_plain_ || !plan.is_made || place % 4 != 0) return false;
  if (place - plan.from >= plan.places) return false;
  if (!are_set(shared_written_, plan, place / sector_bytes)) return false;
  return may_wait(*load.warp, load.op, place);
}

inline bool BlockChecker::touch_global(const LateLoad& load) {
  const std::uint32_t site = load.op->extra;
  const Region& region = regions_[site];
  const bool is_done = region.read != nullptr && launch_.wanted_ == Wanted::findings &&
                       (region.written == nullptr || region.written->are_all());
  if (is_done && region.holds(load.address)) {
    load.warp->sites[site].touched = nullptr;
    return true;
  }
  const std::uint64_t offset = load.address - region.begin;
  const Plan& plan = plans_[site].at(offset);
  if (!serves(plan, offset, region.bytes)) return false;
  const bool may_be_stored = region.read == nullptr || launch_.has_stray_stores_;
  if (plan.is_read_only && may_be_stored) return false;
  const std::uint64_t sector = offset / sector_bytes;
  if (region.written != nullptr && !are_set(*region.written, plan, sector)) return false;
  if (region.read != nullptr) {
    if (launch_.wanted_ == Wanted::touched) mark_parts(*region.read, plan, sector);
    return true;
  }
  const std::uint32_t number = plain_context_of(site, load.warp->index, false, false);
  Accessing by = accessing(number, false);
  by.past = past_global_;
  const std::span<const Part> parts = plan.parts;
  const std::size_t done = region.shadow->touch_at_once<false>(parts, sector, by);
  if (done < parts.size()) {
    const Site& shape = load.warp->sites[site];
    Planned planned{load.warp,
                    load.op,
                    &program_.sites[site],
                    {AddressSpace::global, shape.mask, load.address, shape.delta}};
    planned.shadow = region.shadow;
    planned.region = region;
    planned.sector = sector;
    touch_rest<false>(planned, parts.subspan(done), by);
  }
  return true;
}

template <bool writes>
void BlockChecker::touch_rest(const Planned& planned, std::span<const Part> left,
                              const Accessing& by) {
  while (!left.empty()) {
    current_ = {planned.warp,   planned.op,
                planned.info,   planned.op->extra,
                planned.places, planned.is_shared() ? nullptr : &planned.region,
                nullptr};
    planned.shadow->touch_closely(left.front(), planned.sector, by, *this);
    left = left.subspan(1);
    left = left.subspan(planned.shadow->touch_at_once<writes>(left, planned.sector, by));
  }
}

/// Tells the shadow.
inline void BlockChecker::touch_parts(const Planned& planned) {
  const bool is_shared = planned.is_shared();
  const bool writes = planned.info->kind == AccessKind::store;
  Accessing by = accessing(
      plain_context_of(planned.op->extra, planned.warp->index, writes, is_shared), is_shared);
  by.past = is_shared ? past_shared_ : past_global_;
  const std::span<const Part> parts = planned.plan->parts;
  const auto touch = [&]<bool stores>() {
    const std::size_t done = planned.shadow->touch_at_once<stores>(parts, planned.sector, by);
    if (done < parts.size()) touch_rest<stores>(planned, parts.subspan(done), by);
  };
  writes ? touch.template operator()<true>() : touch.template operator()<false>();
}

/// True if the shadow need not be told of a load of shared memory yet. A load conflicts with
/// nothing until somebody writes there, and the next barrier of the whole block orders it before
/// all that follows: most loads are forgotten there. take_reads() tells of them before something
/// happens that they matter to: a write, another order, or another shape of the access.
inline bool BlockChecker::may_wait(const Warp& warp, const Operation* op, std::uint64_t place) {
  constexpr std::size_t most = 1 << 14;
  if (reads_.size() == most) take_reads();
  reads_.push_back({&warp, op, place});
  return true;
}

void BlockChecker::take_reads() {
  for (const Read& read : reads_) {
    const std::uint32_t site = read.op->extra;
    const Site& shape = read.warp->sites[site];
    Planned planned{read.warp,
                    read.op,
                    &program_.sites[site],
                    {AddressSpace::shared, shape.mask, read.place, shape.delta}};
    planned.plan = &plans_[site].at(read.place);
    planned.shadow = &shared_;
    planned.sector = read.place / sector_bytes;
    touch_parts(planned);
  }
  reads_.clear();
}

}  // namespace warpmeter::model::check
