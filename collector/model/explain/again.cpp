// SPDX-License-Identifier: MIT
// The repeated accesses, as the blocks show that were followed access by access: sectors that are
// fetched again by the same lanes, the same warp or others, and what is stored over before anybody
// of the block has read it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/model/counts/source_lines.h"
#include "collector/model/explain/access_group.h"

namespace warpmeter::model::explain {
namespace {

/// The share of a line's sectors that makes a finding of what was seen in the blocks followed.
constexpr double least_again = 0.5;
/// The share of the launch's sectors fetched again that may take more time than what comes from
/// memory for the first time: the first-level cache has them, and gives several a cycle.
constexpr double least_again_of_all = 0.5;
/// Percent of what is stored over by the same warp, and by others, before both are reported.
constexpr double least_mixed = 2;
constexpr const char* of_blocks = "seen in one or two blocks, and taken for all";

struct Again {
  const char* kind;
  std::uint64_t SiteTrace::*count;
  const char* evidence;  ///< behind "N % of the sectors"
};

constexpr Again fetched_again[] = {
    {"repeated_load", &SiteTrace::repeated,
     "are of addresses that the same lanes had loaded before, and nobody else of the block had "
     "stored there since: a register may keep the value"},
    {"overlapping_access", &SiteTrace::by_own_warp,
     "had been fetched by the same warp: neighbouring requests overlap, and shared memory or "
     "shuffles could hand their values on."},
    {"refetched_sectors", &SiteTrace::by_other_warps,
     "had been fetched by other warps of the block: in shared memory they would be fetched "
     "once a block."},
};
/// The findings of such loads that all lanes of a request repeat.
constexpr Again uniform_again = {
    "repeated_load", &SiteTrace::by_other_warps,
    "had been fetched by other warps of the block, and all lanes of a request load one address: in "
    "shared memory they would be fetched once a block (or in __constant__ memory, where it is 64 "
    "KB "
    "at most that the kernel does not store)."};
/// Buffer → sites of the line.
using Buffers = std::map<std::string, std::vector<std::size_t>>;

/// The repetition of a buffer's accesses, on one line or on several.
struct Repetition {
  const Again* again = nullptr;  ///< none: it is stored over
  AccessGroup group;
  double sectors = 0, requests = 0;         ///< the sectors of the group's, those that need not be
  std::uint64_t by_own = 0, by_others = 0;  ///< for stores: who stores over
  double cycles = 0, cycles_of_line = 0;    ///< the cycles of all, of the line that costs most
};

class AgainFinder {
 public:
  AgainFinder(const Subject& subject, const std::set<std::size_t>& told,
              std::vector<Weighed>& found)
      : subject_(subject),
        told_(told),
        found_(found),
        part_again_(part_again()),
        stored_(stored_buffers()) {}

  /// Finds, among the loads of one line, the buffers of which one at least mostly fetches again
  /// what was fetched before. Counted is what all its loads of that buffer fetch.
  void add_loads(const SourceLine& line, const AccessGroup& loads) {
    for (const auto& [name, sites] : buffers_of(loads, &SiteTrace::sectors)) {
      const bool may_change = is_stored(name);
      for (const Again& again : fetched_again) {
        const bool is_needless = again.count == &SiteTrace::repeated;
        if (again.count == &SiteTrace::by_other_warps && part_again_ < least_again_of_all) continue;
        const auto part = [&](std::size_t site) {
          const SiteTrace& trace = trace_of(site);
          const bool is_meant = is_needless && subject_.site(site).is_strong && may_change;
          return is_meant ? 0 : part_of(trace.*again.count, trace.sectors);
        };
        const bool is_uniform = again.count == &SiteTrace::by_other_warps &&
                                std::all_of(sites.begin(), sites.end(), [&](std::size_t site) {
                                  return is_at_one_place(site);
                                });
        add({line, is_uniform ? &uniform_again : &again, name}, sites, part,
            cycles_of_cached_sector, is_needless);
      }
    }
  }

  /// The same of its stores, and what is stored over.
  void add_stores(const SourceLine& line, const AccessGroup& stores) {
    for (const auto& [name, sites] : buffers_of(stores, &SiteTrace::stored)) {
      const auto part = [&](std::size_t site) {
        const SiteTrace& trace = trace_of(site);
        // Other threads may read published values each time.
        return subject_.site(site).is_strong
                   ? 0
                   : part_of(trace.over_by_own_warp + trace.over_by_others, trace.stored);
      };
      add({line, nullptr, name}, sites, part, cycles_of_sector, true);
    }
  }

  /// Lines that do the same with one buffer are one finding, of the line that costs most.
  void tell() {
    for (const Repetition& one : all_) {
      const char* kind = one.again == nullptr ? "repeated_store" : one.again->kind;
      schema::Finding& finding = start_finding(subject_, kind, one.group, one.cycles, found_);
      finding.share = part_of_sectors(subject_, one.sectors);
      finding.ideal =
          one.group.transactions - static_cast<std::uint64_t>(std::llround(one.sectors));
      finding.evidence = evidence_of(one);
      tell_also(one.group.also, finding);
      if (schema::Grade::modelled > finding.grade) {
        finding.grade = schema::Grade::modelled;
        finding.grade_reason = of_blocks;
      } else {
        finding.grade_reason += fmt::format("; {}", of_blocks);
      }
    }
  }

 private:
  const SiteTrace& trace_of(std::size_t site) const { return subject_.recording.traces[site]; }

  /// The share of all sectors of the launch that its blocks had fetched before.
  double part_again() const {
    double sectors = 0;
    for (std::size_t site = 0; site < subject_.recording.traces.size(); ++site) {
      const SiteTrace& trace = trace_of(site);
      if (trace.sectors == 0) continue;
      sectors += part_of(trace.known, trace.sectors) *
                 static_cast<double>(subject_.outcome.counts[site].global.transactions);
    }
    return part_of_sectors(subject_, sectors);
  }

  static double part_of(std::uint64_t count, std::uint64_t all) {
    return static_cast<double>(count) / static_cast<double>(all);
  }

  bool is_at_one_place(std::size_t site) const {
    const auto& first = trace_of(site).first;
    if (!first || std::popcount(first->mask) < 2) return false;
    return std::all_of(first->delta.begin(), first->delta.end(),
                       [](std::uint64_t delta) { return delta == 0; });
  }

  Buffers buffers_of(const AccessGroup& line, std::uint64_t SiteTrace::*sectors) const {
    Buffers buffers;
    for (const std::size_t site : line.sites) {
      if (trace_of(site).*sectors == 0 || told_.contains(site)) continue;
      buffers[buffer_of(subject_, site)].push_back(site);
    }
    return buffers;
  }

  /// True if the launch stores there, as far as it is known where that is.
  bool is_stored(const std::string& buffer) const {
    return stored_.contains(buffer) || stored_.contains("");
  }

  std::set<std::string> stored_buffers() const {
    std::set<std::string> names;
    for (std::size_t site = 0; site < subject_.program.sites.size(); ++site) {
      const bool stores = subject_.site(site).kind != AccessKind::load &&
                          subject_.outcome.counts[site].global.requests > 0;
      if (stores) names.insert(buffer_of(subject_, site));
    }
    return names;
  }

  struct Key {
    SourceLine line;
    const Again* again;  ///< none: what is stored over
    std::string buffer;
  };

  /// `part`: of a site's sectors. A needless access spares its request too.
  template <class Part>
  void add(const Key& key, const std::vector<std::size_t>& sites, Part part, double cycles_of_one,
           bool is_needless) {
    if (std::none_of(sites.begin(), sites.end(),
                     [&](std::size_t site) { return part(site) >= least_again; })) {
      return;
    }
    Repetition one;
    one.again = key.again;
    one.group.line = key.line.number;
    for (const std::size_t site : sites) {
      const AccessCounts& counts = subject_.outcome.counts[site].global;
      one.group.add(site, counts, {});
      one.sectors += part(site) * static_cast<double>(counts.transactions);
      one.requests += part(site) * static_cast<double>(counts.requests);
      one.by_own += trace_of(site).over_by_own_warp;
      one.by_others += trace_of(site).over_by_others;
    }
    one.cycles = one.cycles_of_line =
        cycles_of_one * one.sectors + (is_needless ? cycles_of_request * one.requests : 0);
    const auto [place, is_new] =
        known_.try_emplace({key.line.file, key.again, key.buffer}, all_.size());
    if (is_new || key.buffer.empty()) {
      all_.push_back(std::move(one));
    } else {
      join(std::move(one), all_[place->second]);
    }
  }

  static void join(Repetition one, Repetition& all) {
    if (one.cycles_of_line > all.cycles_of_line) std::swap(one, all);  // the worst stands first
    AccessGroup& group = all.group;
    group.also.insert(group.also.end(), one.group.also.begin(), one.group.also.end());
    group.also.push_back(one.group.line);
    group.sites.insert(group.sites.end(), one.group.sites.begin(), one.group.sites.end());
    group.requests += one.group.requests;
    group.transactions += one.group.transactions;
    group.ideal += one.group.ideal;
    group.excess += one.group.excess;
    all.sectors += one.sectors;
    all.requests += one.requests;
    all.by_own += one.by_own;
    all.by_others += one.by_others;
    all.cycles += one.cycles;
  }

  /// The end of the sentence on a register. A load that is read-only to the compiler, or a kernel
  /// that stores nothing, leaves __restrict__ nothing to say.
  const char* how_to_keep(const AccessGroup& group) const {
    const bool is_read_only =
        stored_.empty() || std::all_of(group.sites.begin(), group.sites.end(), [&](std::size_t i) {
          return subject_.site(i).is_read_only;
        });
    return is_read_only ? ", or shared memory where it is too many for registers."
                        : " (where the compiler cannot know that, a local variable or __restrict__ "
                          "says so).";
  }

  std::string evidence_of(const Repetition& one) const {
    const double percent = 100 * one.sectors / static_cast<double>(one.group.transactions);
    if (one.again != nullptr) {
      return fmt::format("{:.0f} % of the sectors {}{}", percent, one.again->evidence,
                         one.again->count == &SiteTrace::repeated ? how_to_keep(one.group) : "");
    }
    const double by_own =
        100 * static_cast<double>(one.by_own) / static_cast<double>(one.by_own + one.by_others);
    const bool is_mixed = by_own >= least_mixed && by_own <= 100 - least_mixed;
    const std::string by =
        is_mixed
            ? fmt::format("by the same warp ({:.0f} % of these) and by others of the block", by_own)
        : by_own > 50 ? std::string("by the same warp")
                      : std::string("by other warps of the block");
    const char* what = is_mixed
                           ? "One store of the block, by a value that its warps bring together, "
                             "would do."
                       : by_own > 50 ? "The last of these stores would do: a register may keep the "
                                       "value until then."
                                     : "Divided among the warps, each would be made once.";
    return fmt::format(
        "{:.0f} % of the sectors are stored over {} before the block has read them. {}{}", percent,
        by,
        is_at_one_place(one.group.sites.front()) ? "All lanes of a request store to one place. "
                                                 : "",
        what);
  }

  const Subject& subject_;
  const std::set<std::size_t>& told_;
  std::vector<Weighed>& found_;
  const double part_again_;
  const std::set<std::string> stored_;
  std::vector<Repetition> all_;
  std::map<std::tuple<std::string_view, const Again*, std::string>, std::size_t> known_;
};

}  // namespace

void AccessGroup::add(std::size_t site, const AccessCounts& counts, const SiteLie& lie) {
  sites.push_back(site);
  requests += counts.requests;
  transactions += counts.transactions;
  ideal += counts.ideal;
  excess += lie.excess;
  if (sites.size() == 1 || lie.excess > worst.excess) worst = lie;
}

std::string buffer_of(const Subject& subject, std::size_t site) {
  const SiteTrace& trace = subject.recording.traces[site];
  return trace.first && subject.options.buffer ? subject.options.buffer(trace.first_address).name
                                               : "";
}

void tell_also(std::vector<int> lines, schema::Finding& finding) {
  if (lines.empty()) return;
  std::sort(lines.begin(), lines.end());
  const bool is_one = lines.size() == 1;
  finding.evidence +=
      fmt::format(" Line{} {} {} the same, and {} counted here.", is_one ? "" : "s",
                  fmt::join(lines, ", "), is_one ? "does" : "do", is_one ? "is" : "are");
  finding.also_lines = std::move(lines);
}

double part_of_sectors(const Subject& subject, double sectors) {
  std::uint64_t all = 0;
  for (const SiteCounts& counts : subject.outcome.counts) all += counts.global.transactions;
  return all == 0 ? 0 : sectors / static_cast<double>(all);
}

schema::Finding& start_finding(const Subject& subject, const char* kind, const AccessGroup& group,
                               double cycles, std::vector<Weighed>& found) {
  Weighed& weighed = found.emplace_back();
  weighed.cycles = cycles;
  schema::Finding& finding = weighed.finding;
  const std::size_t first = group.sites.front();
  finding.kind = kind;
  locate(subject, subject.place(subject.site(first)), finding);
  finding.object = buffer_of(subject, first);
  finding.access = access_name(subject.site(first), AddressSpace::global);
  finding.requests = group.requests;
  finding.transactions = group.transactions;
  finding.ideal = group.ideal;
  finding.share_of = "the launch's global sectors";
  finding.grade = schema::Grade::exact;
  for (const std::size_t site : group.sites) weaken(subject, site, AddressSpace::global, finding);
  return finding;
}

void find_accesses_again(const Subject& subject, const std::map<SourceLine, AccessGroup>& loads,
                         const std::map<SourceLine, AccessGroup>& stores,
                         const std::set<std::size_t>& told, std::vector<Weighed>& found) {
  AgainFinder finder(subject, told, found);
  for (const auto& [line, group] : loads) finder.add_loads(line, group);
  for (const auto& [line, group] : stores) finder.add_stores(line, group);
  finder.tell();
}

}  // namespace warpmeter::model::explain
