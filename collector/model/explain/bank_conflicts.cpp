// SPDX-License-Identifier: MIT
// Bank conflicts: of each array in shared memory the lines whose accesses take more wavefronts than
// their words need, the pattern of the costliest warp in words, and what other layouts would give.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/counts/source_lines.h"
#include "collector/model/explain/conflict_words.h"
#include "collector/model/explain/copy_conflicts.h"
#include "collector/model/explain/tried_layouts.h"
#include "collector/model/explain/what_if.h"
#include "collector/model/machine/access_counts.h"
#include "collector/model/machine/device_limits.h"

namespace warpmeter::model::explain {
namespace {

/// The least share of an array's excess wavefronts for a reported line.
constexpr double least_of_array = 0.05;
/// The share of a launch's shared wavefronts that is reported even if they are a small part of the
/// launch.
constexpr double much_of_shared = 0.25;
/// The costliest request is reported as such where it takes so many times what one does in the
/// mean.
constexpr double beyond_the_mean = 1.2;
/// Wavefronts of a request whose lanes go to random banks, in the mean: the fullest of 32.
constexpr double degree_of_random_places = 3.6;
constexpr const char* copies_not_measured =
    "; no measured pattern tells how its cp.async would be done";
/// Sites of an array on one line with one kind of access.
struct ConflictGroup {
  std::vector<std::size_t> sites;
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
};

/// The costliest request of a group, and whose it is.
struct Worst {
  Placed placed;
  WarpAccess access;
  std::uint64_t transactions = 0;
};

Worst worst_of(const Subject& subject, const SharedArray& array, const ConflictGroup& group,
               const WhatIf& what_if) {
  Worst worst;
  const Placed* last = nullptr;
  for (const Placed& placed : array.accesses) {
    if (std::find(group.sites.begin(), group.sites.end(), placed.site) == group.sites.end())
      continue;
    if (last != nullptr && what_if.are_alike(*last, placed)) continue;
    last = &placed;
    for (const WarpAccess& access :
         what_if.requests({Layout::Kind::as_is, array.bytes, 0}, placed)) {
      const std::uint64_t transactions =
          wavefronts_of(subject.site(placed.site), access).transactions;
      if (transactions <= worst.transactions) continue;
      worst = {placed, access, transactions};
    }
  }
  return worst;
}

/// True if a layout goes by rows that nobody declared.
bool has_guessed_rows(const SharedArray& array, const Layout& layout) {
  if (array.extents.size() > 1 || array.is_given || layout.kind == Layout::Kind::split ||
      layout.kind == Layout::Kind::boxes) {
    return false;
  }
  const bool is_of_elements = !array.extents.empty() && layout.row == array.element_bytes;
  return !is_of_elements;
}

class ConflictFinder {
 public:
  ConflictFinder(const Subject& subject, std::vector<Weighed>& found)
      : subject_(subject), found_(found) {
    for (const SiteCounts& counts : subject.outcome.counts) all_ += counts.shared.transactions;
  }

  void look(SharedArray& array) {
    std::uint64_t now = 0, ideal = 0;
    for (const std::vector<std::size_t>& sites : {array.sites, copy_sites(subject_, array)}) {
      for (const std::size_t site : sites) {
        now += subject_.outcome.counts[site].shared.transactions;
        ideal += subject_.outcome.counts[site].shared.ideal;
      }
    }
    if (now == ideal || is_too_little(static_cast<double>(now - ideal))) return;
    complete(subject_, array);
    const WhatIf what_if(subject_, array);
    if (!what_if.copies().are_known()) find_copy_conflicts(subject_, array, found_);
    look(array, what_if);
  }

  /// Conflicts were seen that are not told, because random places cost as much.
  bool has_random_places() const { return has_random_places_; }

 private:
  using Lines = std::vector<std::pair<std::string_view, const ConflictGroup*>>;

  void look(const SharedArray& array, const WhatIf& what_if) {
    std::map<std::pair<SourceLine, std::string_view>, ConflictGroup> groups;
    std::uint64_t now = 0, ideal = 0;
    for (const std::size_t index : what_if.counted_sites()) {
      const SiteInfo& site = subject_.site(index);
      const AccessCounts& counts = subject_.outcome.counts[index].shared;
      now += counts.transactions;
      ideal += counts.ideal;
      ConflictGroup& group = groups[{line_of(subject_, subject_.place(site)),
                                     access_name(site, AddressSpace::shared)}];
      group.sites.push_back(index);
      group.requests += counts.requests;
      group.transactions += counts.transactions;
      group.ideal += counts.ideal;
    }
    const double all_excess = static_cast<double>(now - ideal);
    if (now == ideal || is_too_little(all_excess)) return;
    const auto excess = [](const ConflictGroup& group) {
      return static_cast<double>(group.transactions - group.ideal);
    };
    Lines lines;
    for (const auto& [key, group] : groups) {
      if (group.transactions > group.ideal) lines.emplace_back(key.second, &group);
    }
    std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
      return excess(*a.second) > excess(*b.second);
    });
    if (!what_if.impossible().empty() && !lines.empty() && !helps(what_if, lines)) {
      has_random_places_ = true;
      return;
    }
    const std::vector<Tried> tried = what_if.impossible().empty()
                                         ? tried_layouts(subject_, array, what_if, now, ideal)
                                         : std::vector<Tried>{};
    if (none_helps(what_if, tried) && are_random_atomics(lines)) {
      has_random_places_ = true;
      return;
    }
    std::vector<schema::Remedy> remedies = in_words(array, what_if, tried);
    // The worst line stands for the array: one change mends them all.
    double cycles = std::max(all_excess * cycles_of_wavefront, least_told(subject_));
    std::erase_if(lines, [&](const auto& line) {
      return excess(*line.second) < least_of_array * all_excess;
    });
    // All that was tried is listed once, with the worst line; the others have what is advised.
    std::vector<schema::Remedy> advised;
    if (lines.size() > 1) {
      const auto others = std::find_if(remedies.begin(), remedies.end(),
                                       [](const schema::Remedy& one) { return !one.is_advised; });
      advised.assign(remedies.begin(), others);
    }
    for (const auto& [access, group] : lines) {
      const bool is_first = group == lines.front().second;
      tell(array, *group, access, what_if, tried, is_first ? std::exchange(remedies, {}) : advised,
           now, cycles);
      cycles = std::max(excess(*group) * cycles_of_wavefront, least_told(subject_));
    }
  }

  /// For accesses in too many ways to try them all, true if they take more wavefronts than random
  /// places do, or if another layout would help the few that were kept.
  static bool helps(const WhatIf& what_if, const Lines& lines) {
    std::vector<std::size_t> sites;
    for (const auto& [access, group] : lines) {
      const double degree =
          static_cast<double>(group->transactions) / static_cast<double>(group->ideal);
      if (degree > degree_of_random_places) return true;
      sites.insert(sites.end(), group->sites.begin(), group->sites.end());
    }
    return what_if.may_help(sites);
  }

  /// True if layouts were tried, and none is advised.
  static bool none_helps(const WhatIf& what_if, const std::vector<Tried>& tried) {
    return tried.empty() ? what_if.has_useless() : !tried.front().is_advised;
  }

  /// Counters that the data choose: no layout helps, and they meet no more than at random.
  bool are_random_atomics(const Lines& lines) const {
    return std::all_of(lines.begin(), lines.end(), [&](const auto& line) {
      const ConflictGroup& group = *line.second;
      const double degree =
          static_cast<double>(group.transactions) / static_cast<double>(group.ideal);
      return subject_.site(group.sites.front()).is_atomic() && degree <= degree_of_random_places;
    });
  }

  /// A small part of the launch, and of its shared wavefronts.
  bool is_too_little(double excess) const {
    const bool is_much_of_shared = excess >= much_of_shared * static_cast<double>(all_) &&
                                   excess * cycles_of_wavefront >= least_told(subject_) / 4;
    return excess * cycles_of_wavefront < least_told(subject_) && !is_much_of_shared;
  }

  void tell(const SharedArray& array, const ConflictGroup& group, std::string_view access,
            const WhatIf& what_if, const std::vector<Tried>& tried,
            std::vector<schema::Remedy> remedies, std::uint64_t now, double cycles) {
    Weighed& weighed = found_.emplace_back();
    weighed.cycles = cycles;
    schema::Finding& finding = weighed.finding;
    finding.kind = "bank_conflict";
    locate(subject_, subject_.place(subject_.site(group.sites.front())), finding);
    finding.object = array.name;
    finding.access = access;
    finding.requests = group.requests;
    finding.transactions = group.transactions;
    finding.ideal = group.ideal;
    finding.other_transactions = now - group.transactions;
    finding.share =
        static_cast<double>(group.transactions - group.ideal) / static_cast<double>(all_);
    finding.share_of = "the launch's shared wavefronts";
    finding.grade = schema::Grade::exact;
    for (const std::size_t site : group.sites)
      weaken(subject_, site, AddressSpace::shared, finding);
    const Worst worst = worst_of(subject_, array, group, what_if);
    if (worst.transactions > 0) {
      finding.lanes = banks_of(subject_.site(worst.placed.site), worst.access);
      finding.evidence = pattern_in_words(worst.access);
      const double mean =
          static_cast<double>(group.transactions) / static_cast<double>(group.requests);
      if (static_cast<double>(worst.transactions) > beyond_the_mean * mean) {
        finding.evidence.front() =
            static_cast<char>(std::tolower(static_cast<unsigned char>(finding.evidence.front())));
        finding.evidence.insert(0, "At worst ");
      }
    }
    const bool is_copy = subject_.site(group.sites.front()).carrier == Carrier::copy;
    if (is_copy) finding.evidence = copy_in_words;
    if (group.sites.size() > 1) {
      finding.evidence += fmt::format("{}Its {} {} in PTX are counted together.",
                                      finding.evidence.empty() ? "" : " ", group.sites.size(),
                                      is_copy ? "copies" : fmt::format("{}s", access));
    }
    if (!tried.empty() && has_guessed_rows(array, tried.front().layout)) {
      finding.evidence += " The length of its rows is inferred from the addresses";
      // A part of a buffer has no name of its own to be given a shape.
      const bool has_name = !array.name.empty() && array.part.empty();
      const std::string shape =
          has_name ? shape_of(array, tried.front().layout.row, what_if.element()) : "";
      finding.evidence += shape.empty() ? "." : fmt::format("; --shape {} states it.", shape);
    } else if (array.is_given) {
      finding.evidence += " Its rows are those of the given shape.";
    }
    if (what_if.boxes().are_there()) {
      if (what_if.impossible().empty()) {
        finding.evidence += mode_in_words(what_if.boxes());
      }
    } else if (what_if.has_bulk_copies()) {
      finding.evidence += " Bulk copies move it: its rows stay whole, one copy each.";
    } else if (what_if.copied() > what_if.element()) {
      finding.evidence +=
          fmt::format(" Asynchronous copies of {} bytes move it: each stays whole and aligned.",
                      what_if.copied());
    }
    if (!what_if.copies().are_known() && !remedies.empty()) {
      finding.evidence += " The wavefronts that its cp.async takes then were not counted.";
    }
    if (!array.part.empty()) {
      finding.evidence += fmt::format(" It is the part of {} {}.", array.name, array.part);
    }
    if (!what_if.impossible().empty()) {
      finding.evidence += fmt::format("{}No other layout was tried: {}.",
                                      finding.evidence.empty() ? "" : " ", what_if.impossible());
    }
    if (none_helps(what_if, tried)) {
      finding.evidence += " No layout that was tried mends it.";
    }
    finding.remedies = std::move(remedies);
    for (std::size_t i = 0; i < finding.remedies.size(); ++i) {
      add_own(group, what_if, tried[i], worst, finding.remedies[i]);
    }
  }

  /// The remedies that all lines of the array share.
  std::vector<schema::Remedy> in_words(const SharedArray& array, const WhatIf& what_if,
                                       const std::vector<Tried>& all) {
    std::vector<schema::Remedy> remedies;
    remedies.reserve(all.size());
    const auto shared_bytes =
        static_cast<std::int64_t>(subject_.program.shared_bytes(subject_.geometry));
    const std::vector<PartOfCounter> parts = parts_of_counters(what_if, all);
    const DeviceLimits& limits = device_limits(subject_.program.arch);
    std::optional<PaddingWords> padding;
    for (const Tried& tried : all) {
      schema::Remedy& remedy = remedies.emplace_back();
      remedy.name = tried.layout.name();
      if (tried.layout.kind == Layout::Kind::padding) {
        if (!padding || padding->row() != tried.layout.row) {
          padding.emplace(array, tried.layout.row, what_if.element());
        }
        remedy.change = padding->change(tried.layout.amount);
        remedy.words = padding->meaning(tried.layout.amount);
      } else {
        remedy.change = change_of(array, tried.layout, what_if);
        remedy.words = meaning_of(array, tried.layout, what_if);
      }
      remedy.words += needs_of(tried.room);
      if (!tried.cost->are_copies_measured) remedy.words += copies_not_measured;
      remedy.also_amounts = tried.also_amounts;
      remedy.is_advised = tried.is_advised;
      remedy.shared_bytes = shared_bytes + tried.more_bytes;
      remedy.blocks =
          blocks_at_a_time(limits, {static_cast<std::uint32_t>(subject_.geometry.block.count()),
                                    static_cast<std::uint32_t>(*remedy.shared_bytes),
                                    subject_.program.resources.registers});
      for (const PartOfCounter& part : parts) {
        const std::uint64_t after = tried.cost->*part.count;
        if (!part.has_any && after == 0) continue;
        if (part.is_of_copies && !tried.cost->are_copies_measured) continue;
        remedy.predicted.push_back({part.counter, part.others + after});
      }
      if (tried.layout.kind == Layout::Kind::boxes) predict_boxes(what_if, tried.layout, remedy);
    }
    return remedies;
  }

  /// A box that is cut makes more requests.
  void predict_boxes(const WhatIf& what_if, const Layout& layout, schema::Remedy& remedy) const {
    constexpr const char* name = "bulk_load_requests";
    const std::uint32_t boxes = what_if.boxes().boxes_of_one(layout.amount);
    const auto known = counter(name, subject_.program, subject_.outcome).value;
    if (boxes == 1 || !known) return;
    const std::uint64_t more = (boxes - 1) * what_if.boxes().load_requests();
    remedy.predicted.push_back({name, static_cast<std::uint64_t>(*known) + more});
  }

  /// Adds a remedy's effect on the accesses of one line.
  void add_own(const ConflictGroup& group, const WhatIf& what_if, const Tried& tried,
               const Worst& worst, schema::Remedy& remedy) const {
    const std::vector<std::size_t> sites = what_if.counted_sites();
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const bool is_own =
          std::find(group.sites.begin(), group.sites.end(), sites[i]) != group.sites.end();
      (is_own ? remedy.transactions : remedy.other_transactions) += tried.cost->of_site[i];
    }
    if (tried.is_advised && worst.transactions > 0) {
      const std::vector<WarpAccess> requests = what_if.requests(tried.layout, worst.placed);
      if (!requests.empty()) {
        remedy.lanes = banks_of(subject_.site(worst.placed.site), requests.front());
      }
    }
  }

  /// A counter of the launch, and the array's own part in it.
  struct PartOfCounter {
    std::string_view counter;
    std::uint64_t LayoutCost::*count;
    bool is_of_copies = false;
    std::uint64_t others = 0;  ///< the other arrays' part
    bool has_any = false;      ///< something is the array's
  };

  /// The cost of an array's cp.async today.
  LayoutCost cost_of_copies(const CopyCosts& copies) const {
    LayoutCost cost;
    for (std::size_t i = 0; copies.are_known() && i < copies.sites().size(); ++i) {
      const std::uint64_t wavefronts =
          subject_.outcome.counts[copies.sites()[i]].shared.transactions;
      cost.copy_wavefronts += wavefronts;
      if (!copies.bypass_l1(i)) continue;
      cost.bypass_wavefronts += wavefronts;
      cost.bypass_sectors += subject_.outcome.counts[copies.source(i)].global.transactions;
    }
    return cost;
  }

  /// The parts of known counters that concern the array, as it is or in one of these ways.
  std::vector<PartOfCounter> parts_of_counters(const WhatIf& what_if,
                                               const std::vector<Tried>& all) const {
    LayoutCost own = cost_of_copies(what_if.copies());
    for (const std::size_t index : what_if.counted_sites()) {
      if (subject_.site(index).carrier == Carrier::copy) continue;
      const SiteInfo& site = subject_.site(index);
      const AccessCounts& counts = subject_.outcome.counts[index].shared;
      const Counted counted = counted_as(site);
      own.*counted.wavefronts += counts.transactions;
      own.*counted.requests += counts.requests;
    }
    std::vector<PartOfCounter> parts = {
        {"shared_load_wavefronts", &LayoutCost::load_wavefronts},
        {"shared_load_requests", &LayoutCost::load_requests},
        {"shared_store_wavefronts", &LayoutCost::store_wavefronts},
        {"shared_store_requests", &LayoutCost::store_requests},
        {"shared_atomic_wavefronts", &LayoutCost::atomic_wavefronts},
        {"shared_atomic_requests", &LayoutCost::atomic_requests},
        {"shared_matrix_load_wavefronts", &LayoutCost::matrix_load_wavefronts},
        {"shared_matrix_load_requests", &LayoutCost::matrix_load_requests},
        {"shared_matrix_store_wavefronts", &LayoutCost::matrix_store_wavefronts},
        {"shared_matrix_store_requests", &LayoutCost::matrix_store_requests},
        {"async_copy_wavefronts", &LayoutCost::copy_wavefronts, true},
        {"async_copy_bypass_wavefronts", &LayoutCost::bypass_wavefronts, true},
        {"global_load_sectors", &LayoutCost::bypass_sectors, true},
    };
    std::erase_if(parts, [&](PartOfCounter& part) {
      part.has_any = own.*part.count > 0;
      const bool concerns =
          part.has_any || std::any_of(all.begin(), all.end(), [&](const Tried& tried) {
            return tried.cost->*part.count > 0;
          });
      if (!concerns) return true;
      const auto known = counter(part.counter, subject_.program, subject_.outcome).value;
      part.others = static_cast<std::uint64_t>(known.value_or(0)) - own.*part.count;
      return !known;
    });
    return parts;
  }

  const Subject& subject_;
  std::vector<Weighed>& found_;
  std::uint64_t all_ = 0;
  bool has_random_places_ = false;
};

}  // namespace

bool find_bank_conflicts(const Subject& subject, std::vector<Weighed>& found) {
  const bool has_conflicts = std::any_of(
      subject.outcome.counts.begin(), subject.outcome.counts.end(),
      [](const SiteCounts& counts) { return counts.shared.transactions > counts.shared.ideal; });
  if (!has_conflicts && subject.options.shapes.empty()) return false;
  ConflictFinder finder(subject, found);
  for (SharedArray& array : shared_arrays(subject)) finder.look(array);
  return finder.has_random_places();
}

}  // namespace warpmeter::model::explain
