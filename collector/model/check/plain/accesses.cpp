// SPDX-License-Identifier: MIT
// Plain loads and stores whose lanes lie as they did the last time: most accesses of most kernels.
// They follow the site's plan (plan.h) as long as each of its parts is a common step (touch.h).
#include "collector/model/check/block_checker.h"

#include <bit>
#include <span>
#include <utility>

#include "collector/model/check/plain/plan.h"
#include "collector/model/check/plain/touch.h"

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
}

void BlockChecker::accept_again(const Warp& warp, const Operation* op, const SiteInfo& info,
                                const Places& places) {
  if (!touch_plainly(warp, op, info, places)) check_access(warp, op, info, places);
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

/// False where this access has to be checked by check_access(): then nothing has happened.
bool BlockChecker::touch_plainly(const Warp& warp, const Operation* op, const SiteInfo& info,
                                 const Places& places) {
  const std::uint32_t site = op->extra;
  Plans& plans = plans_[site];
  if (!plans.may_be_made || cluster_ != nullptr) return false;
  const bool is_shared = places.space == AddressSpace::shared;
  const bool writes = info.kind == AccessKind::store;
  if (writes && (unset_.is_awake() || !objects_.empty())) return false;
  const std::uint64_t place = places[static_cast<unsigned>(std::countr_zero(places.mask))];
  std::uint64_t offset = place, size = shared_written_.size();
  Shadow* shadow = &shared_;
  WrittenBytes* written = &shared_written_;
  const Region* region = nullptr;
  if (!is_shared) {
    if (places.space != AddressSpace::global || launch_.has_turns_) return false;
    region = &region_of(site, place);
    offset -= region->allocation->address;
    size = region->allocation->data.size();
    shadow = region->shadow;
    written = region->written;
  }
  if (offset % 4 != 0) return false;
  Plan& plan = plans.at(offset);
  if (!plan.is_made) {
    make_plan(plan, segments_[site], info.width, writes, offset, place - places.base,
              places.beyond);
  }
  if (!plan.is_usable || offset < plan.below || offset + plan.above > size) return false;
  if (is_shared && launch_.has_arrays_) {
    launch_.has_unnamed_ |= info.array_end == 0;
    const bool may_leave = info.array_end != 0 && (offset - plan.below < info.array_begin ||
                                                   offset + plan.above > info.array_end);
    if (may_leave) return false;
  }
  const std::uint64_t sector = offset / sector_bytes;
  shadow->fetch(sector);
  shadow->fetch(2 * sector - std::exchange(plan.last, sector));  // where the next one may be
  const auto sector_of = [&](const Part& part) {
    return sector + static_cast<std::uint64_t>(std::int64_t{part.sector});
  };
  const bool has_unwritten = written != nullptr && !written->are_all();
  if (has_unwritten && writes) {
    for (const Part& part : plan.parts) written->mark_in_sector(sector_of(part), part.bytes);
  } else if (has_unwritten) {
    for (const Part& part : plan.parts) {
      if (!written->all_of_sector(sector_of(part), part.bytes)) return false;
    }
  }
  if (info.is_read_only && !is_shared) {
    for (const Part& part : plan.parts) {
      if (shadow->may_be_written(part, sector)) return false;
    }
  }
  Accessing by = accessing(plain_context_of(site, warp.index, writes, is_shared), is_shared);
  by.past = is_shared ? past_shared_ : past_global_;
  const auto touch = [&]<bool stores>() {
    for (std::span<const Part> left = plan.parts; !left.empty();) {
      left = left.subspan(shadow->touch_at_once<stores>(left, sector, by));
      if (left.empty()) break;
      current_ = {&warp, op, &info, site, places, region, nullptr};
      shadow->touch_closely(left.front(), sector, by, *this);
      left = left.subspan(1);
    }
  };
  writes ? touch.template operator()<true>() : touch.template operator()<false>();
  return true;
}

}  // namespace warpmeter::model::check
