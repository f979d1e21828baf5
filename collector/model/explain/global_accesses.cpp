// SPDX-License-Identifier: MIT
// Accesses to global memory: how the lanes of each line lie (strided, scattered, misaligned,
// narrow). The file again.cpp has repeated accesses and overwritten stores.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/access_group.h"
#include "collector/model/explain/coalesced.h"

namespace warpmeter::model::explain {
namespace {

/// Vectors that a load or store can take.
constexpr unsigned widest_vector = 16, usual_vector = 4;

class AccessFinder {
 public:
  AccessFinder(const Subject& subject, std::vector<Weighed>& found)
      : subject_(subject), found_(found) {}

  void look() {
    Groups groups;
    std::map<std::tuple<SourceLine, AccessKind>, AccessGroup> narrow;
    std::map<SourceLine, AccessGroup> loads, stores;
    find_members();
    for (std::size_t i = 0; i < subject_.program.sites.size(); ++i) {
      const SiteInfo& site = subject_.site(i);
      const AccessCounts& counts = subject_.outcome.counts[i].global;
      if (counts.requests == 0 || site.is_apart) continue;
      const SourceLine line = line_of(subject_, subject_.place(site));
      // A copy to shared memory is the remedy for loads that are made again.
      const bool is_copy = site.carrier == Carrier::copy;
      if (!site.is_atomic() && !is_copy) {
        (site.kind == AccessKind::load ? loads : stores)[line].add(i, counts, {});
      }
      if (members_.contains(i)) continue;
      const SiteLie lie = site_lie(subject_, i);
      // Lanes of an atomic that meet are told elsewhere (execution.cpp).
      if (site.is_atomic() && lie.lie.way != Way::strided && lie.lie.way != Way::scattered) {
        continue;
      }
      if (lie.lie.way != Way::whole) {
        groups[{line, site.kind, lie.lie.way, buffer_of(subject_, i)}].add(i, counts, lie);
      } else if (lie.is_narrow && !is_copy) {
        narrow[{line, site.kind}].add(i, counts, lie);
      }
    }
    for (const auto& [way, group] : together(groups)) tell_way(way, group);
    for (const auto& [key, group] : narrow) tell_narrow(group);
    find_accesses_again(subject_, loads, stores, members_, found_);
  }

 private:
  /// Each group has one buffer: s += value[i] * x[column[i]] walks through three, in ways of their
  /// own.
  using Groups = std::map<std::tuple<SourceLine, AccessKind, Way, std::string>, AccessGroup>;

  /// Lines that access one buffer in the same way are one finding, of the line that costs most.
  std::vector<std::pair<Way, AccessGroup>> together(const Groups& groups) const {
    std::vector<std::pair<Way, AccessGroup>> all;
    std::map<std::tuple<std::string_view, AccessKind, Way, std::int64_t, std::string>, std::size_t>
        known;
    for (const auto& [key, group] : groups) {
      const auto& [line, kind, way, buffer] = key;
      const auto [place, is_new] =
          known.try_emplace({line.file, kind, way, group.worst.lie.step, buffer}, all.size());
      if (is_new || buffer.empty()) {
        all.emplace_back(way, group);
        all.back().second.line = line.number;
        all.back().second.excess_of_line = group.excess;
        continue;
      }
      AccessGroup& sum = all[place->second].second;
      const bool is_worse = group.excess > sum.excess_of_line;
      sum.also.push_back(is_worse ? sum.line : line.number);
      if (is_worse) {
        sum.sites.insert(sum.sites.begin(), group.sites.begin(), group.sites.end());
        sum.worst = group.worst;
        sum.line = line.number;
        sum.excess_of_line = group.excess;
      } else {
        sum.sites.insert(sum.sites.end(), group.sites.begin(), group.sites.end());
      }
      sum.requests += group.requests;
      sum.transactions += group.transactions;
      sum.ideal += group.ideal;
      sum.excess += group.excess;
    }
    return all;
  }

  schema::Finding& start(const char* kind, const AccessGroup& group, double cycles) {
    return start_finding(subject_, kind, group, cycles, found_);
  }

  void tell_way(Way way, const AccessGroup& group) {
    const char* kind = way == Way::strided      ? "strided_access"
                       : way == Way::misaligned ? "misaligned_access"
                                                : "scattered_access";
    // Lanes that share an element walk through its sector, which the cache has mostly.
    const bool is_shared_element = group.worst.lie.run_elements < group.worst.lie.run_lanes;
    const double cycles = is_shared_element ? cycles_of_cached_sector : cycles_of_sector;
    schema::Finding& finding = start(kind, group, cycles * static_cast<double>(group.excess));
    finding.share =
        part_of_sectors(subject_, static_cast<double>(group.transactions - group.ideal));
    finding.evidence = way_in_words(group.worst.lie, subject_.geometry.block.x);
    if (lies_as_the_block(group.worst.lie)) {
      found_.back().is_by_block = true;
      finding.evidence += " The threads of a block, no whole warps, make it so.";
    }
    if (group.worst.worst.mask != 0) finding.lanes = sectors_of(group.worst.worst);
    tell_also(group.also, finding);
    if (way == Way::strided && !is_shared_element) tell_coalesced(group, finding);
  }

  /// Adds the layout with neighbours side by side, where that could be counted and is better.
  void tell_coalesced(const AccessGroup& group, schema::Finding& finding) const {
    const Lie& lie = group.worst.lie;
    const bool is_counted = lie.run_lanes == 1 && !subject_.site(group.sites.front()).is_atomic();
    const auto then = is_counted ? coalesced(subject_, group, lie.step, finding) : std::nullopt;
    if (!then || then->transactions >= group.transactions) {
      finding.evidence +=
          " Other lanes for other elements, or a tile in shared memory (its rows padded by an "
          "element), help where something uses the words between; else only another layout of the "
          "data does. Neither was counted.";
      return;
    }
    // How far apart the lanes are does not tell whether structures or the order of the lanes makes
    // it so.
    schema::Remedy& remedy = finding.remedies.emplace_back();
    remedy.name = "coalesced";
    remedy.words =
        "what neighbouring lanes take lies next to each other: of structures an array for each "
        "member, else other lanes for other elements";
    remedy.transactions = then->transactions;
    remedy.is_advised = true;
    remedy.lanes = sectors_of_row(group.worst.worst);
    const Coalesced::Change& loads = then->loads;
    const Coalesced::Change& stores = then->stores;
    if (loads.now.requests > 0) {
      put(remedy, "global_load_sectors", loads.now.transactions, loads.then.transactions);
      put(remedy, "global_load_requests", loads.now.requests, loads.then.requests);
    }
    if (stores.now.requests > 0) {
      put(remedy, "global_store_sectors", stores.now.transactions, stores.then.transactions);
      put(remedy, "global_store_requests", stores.now.requests, stores.then.requests);
    }
  }

  /// True if blocks that are no whole warps are to blame: their rows are short, or begin where
  /// those of the block before ended.
  bool lies_as_the_block(const Lie& lie) const {
    const std::uint64_t threads = subject_.geometry.block.count(), row = subject_.geometry.block.x;
    if (threads % warp_lanes == 0) return false;
    const bool ends_in_sector =
        threads * lie.width % sector_bytes != 0 || row * lie.width % sector_bytes != 0;
    const bool is_row = lie.run_elements == lie.run_lanes && lie.run_lanes == row;
    return lie.way == Way::misaligned ? ends_in_sector
                                      : lie.way == Way::strided && row > 1 && is_row;
  }

  /// Sets the launch's counter with a part of it replaced.
  void put(schema::Remedy& remedy, const char* name, std::uint64_t before,
           std::uint64_t after) const {
    const schema::Counter known = counter(name, subject_.program, subject_.outcome);
    if (!known.value) return;
    remedy.predicted.push_back({name, static_cast<std::uint64_t>(*known.value) - before + after});
  }

  /// The launch's requests and sectors of the kind of access, with the group's own replaced.
  void predict(schema::Finding& finding, const char* name, const std::string& words,
               std::uint64_t requests, std::uint64_t sectors, const AccessGroup& group) const {
    schema::Remedy& remedy = finding.remedies.emplace_back();
    remedy.name = name;
    remedy.words = words;
    remedy.transactions = sectors;
    remedy.is_advised = true;
    const bool loads = subject_.site(group.sites.front()).kind == AccessKind::load;
    put(remedy, loads ? "global_load_sectors" : "global_store_sectors", group.transactions,
        sectors);
    put(remedy, loads ? "global_load_requests" : "global_store_requests", group.requests, requests);
  }

  void tell_narrow(const AccessGroup& group) {
    const unsigned width = subject_.site(group.sites.front()).width;
    const unsigned vector = usual_vector / width;
    const double saved = static_cast<double>(group.requests) * (1 - 1.0 / vector);
    schema::Finding& finding =
        start("narrow_access", group, saved * (cycles_of_request + 2 * cycles_of_instruction));
    finding.share = saved / requests_of_all();
    finding.share_of = "the launch's global requests";
    finding.evidence = fmt::format("Each lane takes {}: a request moves {} bytes, and can move {}.",
                                   width == 1 ? "one byte" : fmt::format("{} bytes", width),
                                   warp_lanes * width, warp_lanes * usual_vector);
    predict(finding, "vector", fmt::format("{} elements a lane, as one of 4 bytes", vector),
            (group.requests + vector - 1) / vector, group.transactions, group);
    finding.remedies.back().name = fmt::format("vector {}", vector);
    // As many lanes take `vector` times as many elements.
    finding.lanes = sectors_of(group.worst.narrow);
    WarpAccess wide = group.worst.narrow;
    for_each_lane(wide.mask,
                  [&](unsigned lane) { wide.address[lane] = std::uint64_t{lane} * usual_vector; });
    wide.width = usual_vector;
    finding.remedies.back().lanes = sectors_of(wide);
  }

  double requests_of_all() const {
    double all = 0;
    for (const SiteCounts& counts : subject_.outcome.counts) {
      all += static_cast<double>(counts.global.requests);
    }
    return std::max(all, 1.0);
  }

  /// Accesses to the members of structures, each of which one vector would take at once.
  struct Vectors {
    AccessGroup group;
    std::size_t members = 0, vectors = 0;          ///< the members of one structure; structures
    std::uint64_t requests = 0, transactions = 0;  ///< the requests of the vectors
    bool are_equal = true;                         ///< members are accessed equally often

    void add(const Vectors& one) {
      for (const std::size_t site : one.group.sites) group.sites.push_back(site);
      group.requests += one.group.requests;
      group.transactions += one.group.transactions;
      group.ideal += one.group.ideal;
      group.excess += one.group.excess;
      if (vectors == 0 || one.group.worst.excess > group.worst.excess) {
        group.worst = one.group.worst;
      }
      are_equal &= one.are_equal && (vectors == 0 || members == one.members);
      members = one.members;
      requests += one.requests;
      transactions += one.transactions;
      ++vectors;
    }
  };

  /// True if nearly all lanes are as far apart as the first two, and the others, as where a row of
  /// the block ends, a multiple of that.
  static bool is_in_rows(const std::vector<std::int64_t>& steps) {
    const auto equal = std::count(steps.begin(), steps.end(), steps[0]);
    const bool is_multiple =
        std::all_of(steps.begin(), steps.end(), [&](auto step) { return step % steps[0] == 0; });
    return is_multiple && 4 * static_cast<std::size_t>(equal) >= 3 * steps.size();
  }

  /// Loads or stores of the members of one structure that a vector would take at once.
  void find_members() {
    struct Key {
      AccessKind kind;
      std::uint32_t mask;  ///< no vector does what different lanes do
      std::int64_t step;
      std::uint64_t structure;
      bool operator<(const Key& other) const {
        return std::tie(kind, mask, step, structure) <
               std::tie(other.kind, other.mask, other.step, other.structure);
      }
    };
    std::map<Key, std::vector<std::size_t>> structures;
    for (std::size_t i = 0; i < subject_.program.sites.size(); ++i) {
      const SiteInfo& site = subject_.site(i);
      const SiteTrace& trace = subject_.recording.traces[i];
      if (!trace.first || trace.first->space != AddressSpace::global) continue;
      if (site.kind != AccessKind::load && site.kind != AccessKind::store) continue;
      const std::vector<std::int64_t> steps = steps_of(*trace.first);
      if (steps.empty() || steps[0] <= site.width || steps[0] > widest_vector) continue;
      if (!std::has_single_bit(static_cast<std::uint64_t>(steps[0]))) continue;
      if (!is_in_rows(steps)) continue;
      structures[{site.kind, trace.first->mask, steps[0],
                  trace.first_address / static_cast<std::uint64_t>(steps[0])}]
          .push_back(i);
    }
    std::map<std::tuple<SourceLine, AccessKind, std::string, std::int64_t, std::uint64_t>, Vectors>
        lines;
    for (const auto& [key, sites] : structures) {
      Vectors one;
      std::uint64_t covered = 0;
      std::map<std::uint64_t, std::size_t> members;
      for (const std::size_t site : sites) {
        const SiteTrace& trace = subject_.recording.traces[site];
        const std::uint64_t place = trace.first_address % static_cast<std::uint64_t>(key.step);
        if (members.emplace(place, site).second) covered += subject_.site(site).width;
        one.are_equal &= subject_.outcome.counts[site].global.requests ==
                         subject_.outcome.counts[sites.front()].global.requests;
      }
      if (members.size() < 2) continue;
      const auto& [last, last_site] = *members.rbegin();
      const std::uint64_t first = members.begin()->first,
                          end = last + subject_.site(last_site).width;
      std::uint64_t vector = 2;
      while (first / vector * vector + vector < end) vector *= 2;
      // A load may take what nobody needs; a store may not change what is not its own.
      const bool is_whole =
          key.kind == AccessKind::load ? 2 * covered >= vector : covered == vector;
      if (!is_whole) continue;
      for (const auto& [place, site] : members) {
        members_.insert(site);
        one.group.add(site, subject_.outcome.counts[site].global, site_lie(subject_, site));
      }
      const AccessCounts& each = subject_.outcome.counts[one.group.sites.front()].global;
      one.requests = each.requests;
      one.transactions = each.transactions;
      one.members = members.size();
      const Place& place = subject_.place(subject_.site(one.group.sites.front()));
      lines[{line_of(subject_, place), key.kind, buffer_of(subject_, one.group.sites.front()),
             key.step, vector}]
          .add(one);
    }
    for (const auto& [key, vectors] : lines) {
      tell_members(static_cast<unsigned>(std::get<4>(key)), static_cast<unsigned>(std::get<3>(key)),
                   vectors);
    }
  }

  /// `vector`: bytes of the access that takes them all.
  void tell_members(unsigned vector, unsigned step, const Vectors& of) {
    const double saved = static_cast<double>(of.group.transactions - of.transactions);
    schema::Finding& finding =
        start("narrow_access", of.group,
              cycles_of_sector * saved +
                  cycles_of_request * static_cast<double>(of.group.requests - of.requests));
    finding.share = part_of_sectors(subject_, saved);
    finding.ideal = of.transactions;
    finding.evidence = fmt::format(
        "{} {}s of neighbouring members, {} bytes from lane to lane, could be {} of {} bytes.",
        of.group.sites.size(), finding.access, step, in_words(of.vectors), vector);
    if (of.group.worst.worst.mask != 0) finding.lanes = sectors_of(of.group.worst.worst);
    if (of.are_equal) {
      predict(finding, "vector", fmt::format("one access of {} bytes a lane", vector), of.requests,
              of.transactions, of.group);
      finding.remedies.back().name = fmt::format("vector {}", of.members);
      finding.remedies.back().lanes = sectors_of_vectors(of.group.worst.worst, vector);
    }
  }

  const Subject& subject_;
  std::vector<Weighed>& found_;
  std::set<std::size_t> members_;  ///< sites that are told as members of structures
};

}  // namespace

void find_global_accesses(const Subject& subject, std::vector<Weighed>& found) {
  AccessFinder(subject, found).look();
}

}  // namespace warpmeter::model::explain
