// SPDX-License-Identifier: MIT
#include "collector/model/explain/lane_order.h"

#include "base/with_noun.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace warpmeter::model::explain {
namespace {

/// Neighbouring lanes would take neighbouring elements, if those between took part.
bool lacks_lanes_only(const LanePattern& pattern, unsigned width) {
  const unsigned first = static_cast<unsigned>(std::countr_zero(pattern.mask));
  bool is_in_place = true, is_reversed = true;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    const std::uint64_t distance = std::uint64_t{lane - first} * width;
    is_in_place &= pattern.delta[lane] == distance;
    is_reversed &= pattern.delta[lane] == std::uint64_t{0} - distance;
  });
  const std::uint32_t run = pattern.mask >> first;
  return (run & (run + 1)) != 0 && (is_in_place || is_reversed);
}

/// The distance from lane to lane, where it is the same for all, those between that take no part
/// too; else 0.
std::int64_t step_of_lanes(const LanePattern& pattern) {
  const auto first = static_cast<unsigned>(std::countr_zero(pattern.mask));
  std::optional<std::int64_t> step;
  bool is_same = true;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    if (lane == first) return;
    const auto delta = static_cast<std::int64_t>(pattern.delta[lane]);
    const std::int64_t lanes = lane - first;
    if (!step) step = delta / lanes;
    is_same &= delta == *step * lanes;
  });
  return is_same ? step.value_or(0) : 0;
}

Lie lie_of(const LanePattern& pattern, unsigned width, const Cost& cost) {
  if (cost.transactions <= cost.ideal || lacks_lanes_only(pattern, width)) return {};
  const std::vector<std::int64_t> steps = steps_of(pattern);
  if (steps.empty()) return {Way::misaligned, 0, 0, 1, 1, width};
  const auto is_next = [&](std::int64_t step) {
    return step == static_cast<std::int64_t>(width) || step == -static_cast<std::int64_t>(width);
  };
  if (const std::int64_t step = step_of_lanes(pattern); std::abs(step) > std::int64_t{width}) {
    return {Way::strided, step, step, 1, 1, width};
  }
  // Runs of lanes next to each other (or at one address), all with the same jump between them.
  struct Jump {
    unsigned times = 0;
    std::int64_t period = 0;
  };
  std::map<std::int64_t, Jump> jumps;
  unsigned lanes = 1, elements = 1, most_lanes = 1, most_elements = 1;
  std::int64_t from_first = 0;
  for (const std::int64_t step : steps) {
    from_first += step;
    if (is_next(step) || step == 0) {
      most_lanes = std::max(most_lanes, ++lanes);
      most_elements = std::max(most_elements, elements += step == 0 ? 0 : 1);
    } else {
      ++jumps[step].times;
      jumps[step].period = std::exchange(from_first, 0);
      lanes = elements = 1;
    }
  }
  const Lie in_rows = {Way::misaligned, 0, 0, most_lanes, most_elements, width};
  if (jumps.empty()) return in_rows;
  const auto usual = std::max_element(jumps.begin(), jumps.end(), [](const auto& a, const auto& b) {
    return a.second.times < b.second.times;
  });
  const auto all =
      std::accumulate(jumps.begin(), jumps.end(), 0u,
                      [](unsigned sum, const auto& jump) { return sum + jump.second.times; });
  const bool is_irregular = 4 * usual->second.times < 3 * all;
  // Lanes that rise with holes between them, as of a sorted index, fetch what is there of it.
  const bool rises = std::none_of(steps.begin(), steps.end(), [](auto step) { return step < 0; });
  if (is_irregular && rises && 2 * cost.transactions <= steps.size() + 1) return {};
  if (most_elements * width >= 2 * sector_bytes) return in_rows;
  if (is_irregular) return {Way::scattered, 0, 0, 1, 1, width, rises && steps.size() >= 7};
  return {Way::strided, usual->first, usual->second.period, most_lanes, most_elements, width};
}

/// Half a warp or more takes neighbouring elements of one or two bytes.
bool is_narrow(const LanePattern& pattern, unsigned width) {
  if (width > 2) return false;
  const std::vector<std::int64_t> steps = steps_of(pattern);
  return steps.size() >= warp_lanes / 2 &&
         std::all_of(steps.begin(), steps.end(), [&](std::int64_t step) { return step == width; });
}

WarpAccess access_of(const LanePattern& pattern, std::uint32_t place, const Request& request) {
  WarpAccess access;
  access.mask = pattern.mask;
  access.width = request.width;
  access.address.fill(0);
  for_each_lane(pattern.mask, [&](unsigned lane) {
    std::uint64_t& address = access.address[lane];
    address = (std::uint64_t{1} << 60) + place + pattern.delta[lane];
    address += static_cast<std::uint64_t>(std::int64_t{request.offset});
    if (request.is_window) address -= address % request.width;
  });
  return access;
}

std::string bytes_in_words(std::int64_t bytes) {
  return with_noun(shown(static_cast<double>(bytes < 0 ? -bytes : bytes)), "byte");
}

}  // namespace

std::vector<std::int64_t> steps_of(const LanePattern& pattern) {
  std::vector<std::int64_t> steps;
  steps.reserve(warp_lanes);
  std::optional<unsigned> last;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    if (last)
      steps.push_back(static_cast<std::int64_t>(pattern.delta[lane] - pattern.delta[*last]));
    last = lane;
  });
  return steps;
}

SiteLie site_lie(const Subject& subject, std::size_t index) {
  const SiteInfo& site = subject.site(index);
  const AccessCounts& counts = subject.outcome.counts[index].global;
  SiteLie result;
  const SiteRecording& recording = subject.recording.sites[index];
  const bool is_sampled = recording.is_full();
  const SiteRecording& known = is_sampled ? subject.recording.traces[index].sample : recording;
  struct OfWay {
    std::uint64_t excess = 0,
                  most = 0;  ///< the excess of all patterns, and of the one that costs most
    Lie lie;                 ///< that one's
  };
  std::map<std::pair<Way, std::int64_t>, OfWay> ways;
  std::uint64_t narrow = 0, all = 0;
  for (const auto& [pattern, places] : known.patterns()) {
    if (pattern.space != AddressSpace::global) continue;
    // The counts of each place tell more than sectors depend on.
    std::array<std::uint64_t, sector_bytes> of_place{};
    for (const auto& [place, times] : places) of_place[place % sector_bytes] += times;
    for (std::uint32_t place = 0; place < sector_bytes; ++place) {
      const std::uint64_t times = of_place[place];
      if (times == 0) continue;
      all += times;
      if (is_narrow(pattern, site.width)) {
        narrow += times;
        if (result.narrow.mask == 0 && !site.requests.empty()) {
          result.narrow = access_of(pattern, place, site.requests.front());
        }
      }
      for (const Request& request : site.requests) {  // for a vector maybe only what is used
        const WarpAccess access = access_of(pattern, place, request);
        const Cost cost = global_cost(access);
        const Lie lie = lie_of(pattern, request.width, cost);
        if (lie.way == Way::whole) continue;
        OfWay& of_way = ways[{lie.way, lie.step}];
        const std::uint64_t excess = (cost.transactions - cost.ideal) * times;
        of_way.excess += excess;
        if (excess > of_way.most) {
          of_way.most = excess;
          of_way.lie = lie;
        }
        if (cost.transactions - cost.ideal > result.worst_cost) {
          result.worst_cost = cost.transactions - cost.ideal;
          result.worst = access;
        }
      }
    }
  }
  result.is_narrow = all > 0 && 4 * narrow >= 3 * all;
  for (const auto& [key, way] : ways) {
    if (way.excess <= result.excess) continue;
    result.excess = way.excess;
    result.lie = way.lie;
  }
  // The pattern of a sample counts, and of all accesses what they cost.
  if (is_sampled && all == 0) result.lie = {Way::scattered, 0, 0, 1, 1, site.width};
  if (is_sampled && result.lie.way != Way::whole)
    result.excess = counts.transactions - counts.ideal;
  return result;
}

std::string way_in_words(const Lie& lie, unsigned threads_of_row) {
  const unsigned width = lie.width;
  switch (lie.way) {
    case Way::strided:
      if (lie.run_lanes > 1 && lie.run_elements == 1) {
        std::string text = fmt::format(
            "Every {} lanes take the same {}, and the next {} those that are {} further.",
            lie.run_lanes, width == 1 ? "byte" : fmt::format("{} bytes", width), lie.run_lanes,
            bytes_in_words(lie.step));
        if (threads_of_row == lie.run_lanes) {
          text += fmt::format(
              " A row of the block has {}: with rows of {} a request may take one "
              "element.",
              with_noun(threads_of_row, "thread"), warp_lanes);
        }
        return text;
      }
      if (lie.run_lanes > 1) {
        return fmt::format("Every {} lanes take {} in a row, and the next ones go {} further.",
                           lie.run_lanes, with_noun(lie.run_elements * width, "byte"),
                           bytes_in_words(lie.period));
      }
      return fmt::format("Neighbouring lanes are {} apart, and take {} each.",
                         bytes_in_words(lie.step),
                         width == 1 ? "one byte" : fmt::format("{} bytes", width));
    case Way::misaligned:
      return lie.run_lanes >= warp_lanes
                 ? "The lanes lie in a row, but begin in the middle of a sector."
                 : fmt::format("Rows of up to {} begin or end in the middle of a sector.",
                               with_noun(lie.run_elements * width, "byte"));
    case Way::scattered:
      return lie.rises
                 ? "The lanes rise with gaps between them: nearly each fetches a sector of its "
                   "own."
                 : "The lanes lie in no order: nearly each fetches a sector of its own.";
    case Way::whole:
      break;
  }
  return "";
}

schema::WarpPicture sectors_of(const WarpAccess& access) {
  schema::WarpPicture picture;
  picture.mask = access.mask;
  picture.width = access.width;
  std::uint64_t lowest = ~std::uint64_t{0};
  for_each_lane(access.mask,
                [&](unsigned lane) { lowest = std::min(lowest, access.address[lane]); });
  lowest -= lowest % sector_bytes;
  for_each_lane(access.mask,
                [&](unsigned lane) { picture.address[lane] = access.address[lane] - lowest; });
  return picture;
}

schema::WarpPicture sectors_of_row(const WarpAccess& access) {
  WarpAccess row = access;
  std::vector<std::uint64_t> elements;
  for_each_lane(access.mask, [&](unsigned lane) {
    const auto known = std::find(elements.begin(), elements.end(), access.address[lane]);
    row.address[lane] = static_cast<std::uint64_t>(known - elements.begin()) * access.width;
    if (known == elements.end()) elements.push_back(access.address[lane]);
  });
  return sectors_of(row);
}

schema::WarpPicture sectors_of_vectors(const WarpAccess& access, unsigned bytes) {
  WarpAccess vectors = access;
  vectors.width = bytes;
  for_each_lane(access.mask,
                [&](unsigned lane) { vectors.address[lane] -= vectors.address[lane] % bytes; });
  return sectors_of(vectors);
}

}  // namespace warpmeter::model::explain
