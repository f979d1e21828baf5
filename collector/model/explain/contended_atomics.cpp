// SPDX-License-Identifier: MIT
// Atomics many lanes of which go to one address. The accesses of a source line to one array are one
// finding, however many copies of them the compiler made. Each advice is counted on the recorded
// accesses, and given only where it spares more than it costs.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/explain/shared_arrays.h"
#include "collector/model/machine/access_counts.h"

namespace warpmeter::model::explain {
namespace {

/// Lanes of an atomic that share an address, in the mean, from where on they are reported: those
/// that go to 32 addresses at random, a private count of letters, are 1.57, and there is no better
/// way.
constexpr double least_meeting_lanes = 1.75;
/// Cycles that each lane of an atomic to global memory waits for those before it at its address.
constexpr double cycles_of_meeting = 1;
/// Instructions by which a warp adds up its values and chooses one lane. (__match_any_sync and a
/// sum for each address take longer than the wavefronts of shared memory that they spare; in global
/// memory they pay: tests/device/facts/meeting_atomics.cu.)
constexpr double cycles_of_sum = 12 * cycles_of_instruction;

struct Atomics {
  std::vector<std::size_t> sites;
  AddressSpace space = AddressSpace::global;
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
  double recorded = 0, lanes = 0, meeting = 0;  ///< requests; lanes, and those that meet others
  double of_one_lane = 0;   ///< transactions if one lane of each address made the request
  bool is_whole = true;     ///< every access was recorded; else a sample stands for all
  bool is_elected = false;  ///< the compiler has one lane of each warp act for all
  bool waits = false;       ///< for other threads, as at a lock: no lane can act for others
  std::uint64_t of_block = 0, addresses_of_block = 0;  ///< lanes and addresses in traced blocks
  bool is_cut = false;                                 ///< there were more than were followed

  double addresses() const { return lanes - meeting; }
  bool is_one_address() const { return addresses() < 1.05 * recorded; }
};

/// The access of a pattern by the first lane of each address alone; `addresses`: how many these
/// are.
WarpAccess by_one_lane(const LanePattern& pattern, unsigned width, unsigned& addresses) {
  WarpAccess access;
  access.width = width;
  std::vector<std::uint64_t> seen;
  for_each_lane(pattern.mask, [&](unsigned lane) {
    access.address[lane] = (std::uint64_t{1} << 60) + pattern.delta[lane];
    if (std::find(seen.begin(), seen.end(), pattern.delta[lane]) != seen.end()) return;
    seen.push_back(pattern.delta[lane]);
    access.mask |= 1u << lane;
  });
  addresses = static_cast<unsigned>(seen.size());
  return access;
}

class AtomicsFinder {
 public:
  AtomicsFinder(const Subject& subject, std::vector<Weighed>& found)
      : subject_(subject), found_(found) {}

  void look() {
    std::map<Key, Atomics> all;
    for (std::size_t i = 0; i < subject_.program.sites.size(); ++i) {
      const SiteInfo& site = subject_.site(i);
      if (!site.is_atomic() || site.is_apart)
        continue;  // whoever waits at a barrier object does so
      const SiteCounts& counts = subject_.outcome.counts[i];
      if (counts.shared.requests + counts.global.requests == 0) continue;
      const AddressSpace space =
          counts.shared.requests > 0 ? AddressSpace::shared : AddressSpace::global;
      const Place& place = subject_.place(site);
      Atomics& atomics = all[{line_key(place), place.own_line == 0 ? i : 0, space,
                              access_name(site, space), array_of(i, space)}];
      atomics.space = space;
      add(i, space == AddressSpace::shared ? counts.shared : counts.global, atomics);
    }
    for (const auto& [key, atomics] : all) {
      if (atomics.lanes > 0 && atomics.lanes >= least_meeting_lanes * atomics.addresses()) {
        tell(atomics, std::get<4>(key).second);
      }
    }
  }

 private:
  using Array = std::pair<std::uint64_t, std::string>;  ///< where it begins; its name
  using Key = std::tuple<LineKey, std::size_t, AddressSpace, std::string_view, Array>;

  Array array_of(std::size_t index, AddressSpace space) const {
    const SiteTrace& trace = subject_.recording.traces[index];
    if (space == AddressSpace::shared) {
      const auto& patterns = subject_.recording.sites[index].patterns();
      if (patterns.empty() && !trace.first) return {};
      const std::uint64_t place =
          patterns.empty() ? trace.first_address : patterns.begin()->second.begin()->first;
      return {0, shared_name(subject_.program, static_cast<std::uint32_t>(place))};
    }
    if (!trace.first || !subject_.options.buffer) return {};
    const Buffer buffer = subject_.options.buffer(trace.first_address);
    return {buffer.begin, buffer.name};
  }

  void add(std::size_t index, const AccessCounts& counts, Atomics& atomics) const {
    const SiteInfo& site = subject_.site(index);
    const SiteTrace& trace = subject_.recording.traces[index];
    const SiteRecording& recording = subject_.recording.sites[index];
    atomics.sites.push_back(index);
    atomics.requests += counts.requests;
    atomics.transactions += counts.transactions;
    atomics.ideal += counts.ideal;
    atomics.is_elected |= !site.requests.empty() && site.requests[0].is_elected;
    atomics.is_whole &= !recording.is_full();
    atomics.waits |= site.waits;
    const auto& patterns = recording.is_full() ? trace.sample.patterns() : recording.patterns();
    Atomics own;
    for (const auto& [pattern, places] : patterns) {
      double times = 0;
      for (const auto& [place, count] : places) times += static_cast<double>(count);
      unsigned addresses = 0;
      const WarpAccess access = by_one_lane(pattern, site.width, addresses);
      const Cost cost =
          atomics.space == AddressSpace::shared ? wavefronts_of(site, access) : global_cost(access);
      const unsigned lanes = static_cast<unsigned>(std::popcount(pattern.mask));
      own.recorded += times;
      own.lanes += times * lanes;
      own.meeting += times * (lanes - addresses);
      own.of_one_lane += times * cost.transactions;
    }
    if (own.recorded > 0) {
      const double scale = static_cast<double>(counts.requests) / own.recorded;
      atomics.recorded += scale * own.recorded;
      atomics.lanes += scale * own.lanes;
      atomics.meeting += scale * own.meeting;
      atomics.of_one_lane += scale * own.of_one_lane;
    }
    atomics.of_block += trace.lanes;
    atomics.addresses_of_block += trace.addresses;
    atomics.is_cut |= trace.is_cut;
  }

  void tell(const Atomics& atomics, const std::string& array) {
    const bool is_shared = atomics.space == AddressSpace::shared;
    const double spared = static_cast<double>(atomics.transactions) - atomics.of_one_lane;
    Weighed& weighed = found_.emplace_back();
    // Wavefronts of shared memory are counted as they are; those that the hardware adds up
    // beforehand do not wait.
    weighed.cycles = is_shared ? cycles_of_wavefront * spared : cycles_of_meeting * atomics.meeting;
    schema::Finding& finding = weighed.finding;
    finding.kind = "contended_atomic";
    const SiteInfo& site = subject_.site(atomics.sites.front());
    locate(subject_, subject_.place(site), finding);
    finding.grade = schema::Grade::exact;
    finding.object = array;
    finding.access = access_name(site, atomics.space);
    finding.requests = atomics.requests;
    finding.transactions = atomics.transactions;
    finding.ideal = atomics.ideal;
    for (const std::size_t index : atomics.sites) weaken(subject_, index, atomics.space, finding);
    finding.share = atomics.meeting / atomics.lanes;
    finding.share_of = "its lanes go where another of the warp goes";
    finding.evidence = evidence_of(atomics);
    if (atomics.waits) return;
    if (is_shared) {
      advise_one_lane(atomics, spared, finding);
    } else {
      advise_one_of_block(atomics, finding);
    }
  }

  std::string evidence_of(const Atomics& atomics) const {
    std::string text = fmt::format(
        "{:.0f} lanes of a request go to {}", atomics.lanes / atomics.recorded,
        atomics.is_one_address()
            ? "one address"
            : fmt::format("{:.1f} addresses in the mean", atomics.addresses() / atomics.recorded));
    text += atomics.is_elected
                ? "; the compiler has one of them act for all, and the warps wait for each other."
                : ", and wait for each other there.";
    if (atomics.addresses_of_block > 0) {
      const double times =
          static_cast<double>(atomics.of_block) / static_cast<double>(atomics.addresses_of_block);
      if (times >= 2) {
        text += fmt::format(" A block comes {}{} times to each of its addresses.",
                            atomics.is_cut ? "at least " : "", shown(std::round(times)));
      }
    }
    if (atomics.space == AddressSpace::global && !atomics.is_elected && !atomics.waits) {
      const bool is_one = atomics.is_one_address();
      text += fmt::format(
          " Brought together in each warp first ({}), it would be one atomic a warp{}: {} instead "
          "of {}.",
          is_one ? "by shuffles" : "__match_any_sync tells which lanes share an address",
          is_one ? "" : " and address", shown(std::round(atomics.addresses())),
          shown(std::round(atomics.lanes)));
    }
    return text;
  }

  /// The lanes of a warp that all go to one address choose one of them.
  void advise_one_lane(const Atomics& atomics, double spared, schema::Finding& finding) const {
    const double cost = cycles_of_sum * static_cast<double>(atomics.requests);
    const bool is_better = cycles_of_wavefront * spared > cost;
    if (!atomics.is_whole || !atomics.is_one_address() || !is_better) return;
    schema::Remedy& remedy = finding.remedies.emplace_back();
    remedy.name = "one lane a warp";
    remedy.words = "the warp brings its values together first, and one lane acts for all";
    remedy.transactions = static_cast<std::uint64_t>(atomics.of_one_lane);
    remedy.is_advised = true;
    put(remedy, "shared_atomic_wavefronts", atomics.transactions, remedy.transactions);
    put(remedy, "shared_atomic_requests", atomics.requests, atomics.requests);
  }

  /// The warps of a block choose one lane of them all, where all go to one address.
  void advise_one_of_block(const Atomics& atomics, schema::Finding& finding) const {
    const std::uint64_t blocks = subject_.geometry.grid.count();
    const std::uint64_t warps =
        blocks * ((subject_.geometry.block.count() + warp_lanes - 1) / warp_lanes);
    const std::uint64_t traced = std::min<std::uint64_t>(blocks, 2);
    const bool is_one = atomics.is_whole && atomics.is_one_address() && !atomics.is_cut &&
                        atomics.addresses_of_block == traced;
    if (!is_one || atomics.requests % warps != 0 || atomics.requests <= blocks) return;
    schema::Remedy& remedy = finding.remedies.emplace_back();
    remedy.name = "one atomic a block";
    remedy.words = "the warps bring their values together in shared memory first";
    remedy.transactions = blocks;
    remedy.is_advised = true;
    const bool is_reduction = finding.access == "global reduction";
    put(remedy, is_reduction ? "global_reduction_sectors" : "global_atomic_sectors",
        atomics.transactions, blocks);
    put(remedy, is_reduction ? "global_reduction_requests" : "global_atomic_requests",
        atomics.requests, blocks);
  }

  /// The launch's counter with a part of it replaced.
  void put(schema::Remedy& remedy, const char* name, std::uint64_t before,
           std::uint64_t after) const {
    const schema::Counter known = counter(name, subject_.program, subject_.outcome);
    if (!known.value) return;
    remedy.predicted.push_back({name, static_cast<std::uint64_t>(*known.value) - before + after});
  }

  const Subject& subject_;
  std::vector<Weighed>& found_;
};

}  // namespace

void find_contended_atomics(const Subject& subject, std::vector<Weighed>& found) {
  AtomicsFinder(subject, found).look();
}

}  // namespace warpmeter::model::explain
