// SPDX-License-Identifier: MIT
#include "collector/model/explain/copy_costs.h"

#include <algorithm>
#include <bit>

#include "collector/model/explain/copy_conflicts.h"
#include "collector/model/explain/what_if.h"

namespace warpmeter::model::explain {
namespace {

constexpr std::uint32_t line_bytes = 128;
/// Places of the copies to one array that are counted again for each layout.
constexpr std::size_t most_places = 1 << 12;

}  // namespace

CopyCosts::CopyCosts(const Subject& subject, const SharedArray& array)
    : subject_(subject), array_(array) {
  const std::vector<AsyncCopy>& copies = subject.program.async_copies;
  for (const std::size_t number : copy_sites(subject, array)) {
    const SiteInfo& site = subject.site(number);
    const auto copy = std::find_if(copies.begin(), copies.end(),
                                   [&](const AsyncCopy& one) { return one.to.site == number; });
    if (copy == copies.end()) {
      are_known_ = false;
      return;
    }
    sites_.push_back(number);
    kinds_.push_back({static_cast<std::size_t>(copy - copies.begin()), copy->from.site, site.width,
                      subject.site(copy->from.site).bypasses_l1});
  }
  are_known_ = count_as_recorded();
}

/// True if what was recorded comes to what the launch counted.
bool CopyCosts::count_as_recorded() {
  std::size_t places = 0;
  for (const Kind& kind : kinds_) {
    if (kind.index >= subject_.recording.copies.size()) return false;
    const SiteRecording& recording = subject_.recording.copies[kind.index].ways;
    if (recording.is_full()) return false;
    for (const auto& [pattern, of_pattern] : recording.patterns()) {
      places += of_pattern.size();
      for (const auto& [place, times] : of_pattern) {
        if (place < array_.offset || place >= array_.offset + array_.bytes) return false;
      }
    }
  }
  if (places > most_places) return false;
  bool is_measured = true;
  const std::vector<CopyCost> now =
      with(Moved({Layout::Kind::as_is, array_.bytes, 0}, 1, array_.bytes), is_measured);
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const SiteCounts& written = subject_.outcome.counts[sites_[i]];
    if (now[i].wavefronts != written.shared.transactions) return false;
  }
  return true;
}

bool CopyCosts::have_conflicts() const {
  return std::any_of(sites_.begin(), sites_.end(), [&](std::size_t site) {
    const AccessCounts& counts = subject_.outcome.counts[site].shared;
    return counts.transactions > counts.ideal;
  });
}

AsyncCopyCost CopyCosts::cost_of(const Kind& kind, const LanePattern& pattern,
                                 const std::array<std::uint32_t, warp_lanes>& to) const {
  WarpAccess from;
  from.mask = pattern.mask;
  from.width = kind.width;
  std::array<std::uint64_t, warp_lanes> written{};
  for_each_lane(pattern.mask, [&](unsigned lane) {
    from.address[lane] = pattern.delta[lane] >> 32;
    // Lanes may write before the first one: of a difference the last bits are as good.
    written[lane] =
        (std::uint64_t{1} << 40) + static_cast<std::uint64_t>(static_cast<std::int32_t>(to[lane]));
  });
  return kind.bypasses_l1 ? cost_past_l1(from, written) : cost_through_l1(from, written);
}

std::vector<CopyCost> CopyCosts::with(const Moved& moved, bool& is_measured) const {
  std::vector<CopyCost> costs(sites_.size());
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    const Kind& kind = kinds_[i];
    for (const auto& [pattern, places] : subject_.recording.copies[kind.index].ways.patterns()) {
      const auto first = static_cast<unsigned>(std::countr_zero(pattern.mask));
      for (const auto& [place, times] : places) {
        std::array<std::uint32_t, warp_lanes> to{};
        for_each_lane(pattern.mask, [&, begin = place, &delta = pattern.delta](unsigned lane) {
          const auto at = begin + static_cast<std::uint32_t>(delta[lane]) - array_.offset;
          to[lane] = array_.offset + moved(at);
        });
        const std::uint32_t line = to[first] / line_bytes * line_bytes;
        for_each_lane(pattern.mask, [&](unsigned lane) { to[lane] -= line; });
        const auto [known, is_new] = counted_.try_emplace(Key{i, &pattern, to});
        if (is_new) known->second = cost_of(kind, pattern, to);
        const AsyncCopyCost& cost = known->second;
        costs[i].wavefronts += cost.wavefronts * times;
        costs[i].sectors += cost.sectors * times;
        is_measured &= cost.is_calibrated;
      }
    }
  }
  return costs;
}

}  // namespace warpmeter::model::explain
