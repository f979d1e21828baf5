// What is accessed again, as the blocks show that were followed access by access: sectors that are
// fetched again by the same lanes, the same warp or others, and what is stored over before anybody
// of the block has read it.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "collector/model/counts/grades.h"
#include "collector/model/explain/access_group.h"

namespace warpmeter::model::explain {
namespace {

/// Of a line's sectors, what makes a finding of what was seen in the blocks followed.
constexpr double least_again = 0.5;
/// Of the launch's sectors, those fetched again that may take more time than what comes from memory
/// for the first time: the first-level cache has them, and gives several a cycle.
constexpr double least_again_of_all = 0.5;
constexpr const char* of_blocks = "seen in one or two blocks, and taken for all";

struct Again {
  const char* kind;
  std::uint64_t SiteTrace::*count;
  const char* evidence;  ///< behind "N % of the sectors"
};

/// Buffer → sites of the line.
using Buffers = std::map<std::string, std::vector<std::size_t>>;

class AgainFinder {
 public:
  AgainFinder(const Subject& subject, const std::set<std::size_t>& told,
              std::vector<Weighed>& found)
      : subject_(subject), told_(told), found_(found), part_again_(part_again()) {}

  /// Of the loads of one line, the buffers of which one at least mostly fetches again what was
  /// fetched before. Told is what all its loads of that buffer fetch.
  void tell_fetched(const AccessGroup& line) {
    static constexpr Again all[] = {
        {"repeated_load", &SiteTrace::repeated,
         "are of addresses that the same lanes had loaded before, and nobody else of the block had "
         "stored there since: a register may keep the value (where the compiler cannot know that, "
         "a local variable or __restrict__ says so)."},
        {"overlapping_access", &SiteTrace::by_own_warp,
         "had been fetched by the same warp: neighbouring requests overlap, and shared memory or "
         "shuffles could hand their values on."},
        {"refetched_sectors", &SiteTrace::by_other_warps,
         "had been fetched by other warps of the block: in shared memory they would be fetched "
         "once a block."},
    };
    const Buffers buffers = buffers_of(line, &SiteTrace::sectors);
    for (const Again& again : all) {
      const bool is_needless = again.count == &SiteTrace::repeated;
      if (again.count == &SiteTrace::by_other_warps && part_again_ < least_again_of_all) continue;
      for (const auto& [name, sites] : buffers) {
        const auto part = [&](std::size_t site) {
          const SiteTrace& trace = trace_of(site);
          const bool is_meant = is_needless && subject_.site(site).is_strong;
          return is_meant ? 0 : part_of(trace.*again.count, trace.sectors);
        };
        tell(again.kind, sites, part, cycles_of_cached_sector, is_needless, [&](double percent) {
          return fmt::format("{:.0f} % of the sectors {}", percent, again.evidence);
        });
      }
    }
  }

  /// The same of its stores, and what is stored over.
  void tell_stored(const AccessGroup& line) {
    for (const auto& [name, sites] : buffers_of(line, &SiteTrace::stored)) {
      std::uint64_t by_own = 0, by_others = 0;
      for (const std::size_t site : sites) {
        by_own += trace_of(site).over_by_own_warp;
        by_others += trace_of(site).over_by_others;
      }
      const auto part = [&](std::size_t site) {
        const SiteTrace& trace = trace_of(site);
        // What others are meant to see may be read by them each time.
        return subject_.site(site).is_strong
                   ? 0
                   : part_of(trace.over_by_own_warp + trace.over_by_others, trace.stored);
      };
      const bool is_one_place = is_at_one_place(sites.front());
      tell("repeated_store", sites, part, cycles_of_sector, true, [&](double percent) {
        return fmt::format(
            "{:.0f} % of the sectors are stored over {} before the block has read them. {}{}",
            percent, by_own >= by_others ? "by the same warp" : "by other warps of the block",
            is_one_place ? "All lanes of a request store to one place. " : "",
            by_own >= by_others
                ? "The last of these stores would do: a register may keep the value "
                  "until then."
                : "One warp's stores would do.");
      });
    }
  }

 private:
  const SiteTrace& trace_of(std::size_t site) const { return subject_.recording.traces[site]; }

  /// Of all sectors of the launch, those that its blocks had fetched before.
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

  /// `part`: of a site's sectors; `evidence`: of the percentage of all. A needless access spares
  /// its request too.
  template <class Part, class Evidence>
  void tell(const char* kind, const std::vector<std::size_t>& sites, Part part,
            double cycles_of_one, bool is_needless, Evidence evidence) {
    if (std::none_of(sites.begin(), sites.end(),
                     [&](std::size_t site) { return part(site) >= least_again; })) {
      return;
    }
    AccessGroup group;
    double sectors = 0, requests = 0;
    for (const std::size_t site : sites) {
      const AccessCounts& counts = subject_.outcome.counts[site].global;
      group.add(site, counts, {});
      sectors += part(site) * static_cast<double>(counts.transactions);
      requests += part(site) * static_cast<double>(counts.requests);
    }
    schema::Finding& finding = start_finding(
        subject_, kind, group,
        cycles_of_one * sectors + (is_needless ? cycles_of_request * requests : 0), found_);
    finding.share = part_of_sectors(subject_, sectors);
    finding.ideal = group.transactions - static_cast<std::uint64_t>(std::llround(sectors));
    finding.evidence = evidence(100 * sectors / static_cast<double>(group.transactions));
    if (schema::Grade::modelled > finding.grade) {
      finding.grade = schema::Grade::modelled;
      finding.grade_reason = of_blocks;
    }
  }

  const Subject& subject_;
  const std::set<std::size_t>& told_;
  std::vector<Weighed>& found_;
  const double part_again_;
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
  return trace.first && subject.options.buffer ? subject.options.buffer(trace.first_address) : "";
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
  for (const auto& [line, group] : loads) finder.tell_fetched(group);
  for (const auto& [line, group] : stores) finder.tell_stored(group);
}

}  // namespace warpmeter::model::explain
