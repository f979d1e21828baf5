// Bank conflicts: of each array in shared memory the lines whose accesses take more wavefronts than
// their words need, the pattern of the costliest warp in words, and what other layouts would give.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "collector/model/counts/grades.h"
#include "collector/model/counts/rules/counting.h"
#include "collector/model/explain/what_if.h"
#include "collector/model/machine/access_counts.h"
#include "collector/model/machine/device_limits.h"

namespace warpmeter::model::explain {
namespace {

constexpr unsigned banks = 32;
/// A layout is advised that saves at least this part of the array's wavefronts beyond the fewest.
constexpr double least_saving = 0.2;
/// A further layout is advised that saves nearly as much as the best.
constexpr double least_of_best_saving = 0.7;
/// Of an array's wavefronts beyond the fewest, what a line has to have to be told.
constexpr double least_of_array = 0.05;
/// Of a launch's shared wavefronts, what is told even if they are a small part of the launch.
constexpr double much_of_shared = 0.25;
/// Wavefronts of a request whose lanes go to random banks, in the mean: the fullest of 32.
constexpr double degree_of_random_places = 3.6;
/// Of the layouts tried, these many are kept to be listed.
constexpr std::size_t most_listed = 24;

/// Sites of an array on one line with one kind of access.
struct ConflictGroup {
  std::vector<std::size_t> sites;
  std::uint64_t requests = 0, transactions = 0, ideal = 0;
};

schema::WarpPicture banks_of(const SiteInfo& site, const WarpAccess& access) {
  schema::WarpPicture picture;
  picture.mask = access.mask;
  picture.width = access.width;
  for_each_lane(access.mask, [&](unsigned lane) { picture.address[lane] = access.address[lane]; });
  const auto passes =
      shared_passes(site.is_matrix ? matrix_rows(access) : access, shared_access(site));
  std::copy(passes.begin(), passes.end(), picture.pass.begin());
  return picture;
}

/// The longest run of neighbouring lanes that are equally far apart.
struct Run {
  unsigned first = 0, lanes = 1;
  std::int64_t step = 0;
};

Run longest_run(const WarpAccess& access) {
  Run best, run;
  bool is_started = false;
  for (unsigned lane = 1; lane < warp_lanes; ++lane) {
    const bool both = (access.mask >> lane & 1) != 0 && (access.mask >> (lane - 1) & 1) != 0;
    const auto step = static_cast<std::int64_t>(access.address[lane] - access.address[lane - 1]);
    if (both && is_started && step == run.step) {
      ++run.lanes;
    } else if (both) {
      run = {lane - 1, 2, step};
    }
    is_started = both;
    if (both && step != 0 && (run.lanes > best.lanes || best.step == 0)) best = run;
  }
  return best;
}

std::string apart(std::int64_t bytes) {
  const std::int64_t length = bytes < 0 ? -bytes : bytes;
  if (length % word != 0) return fmt::format("{} bytes", shown(static_cast<double>(length)));
  return length == word ? "one word"
                        : fmt::format("{} words", shown(static_cast<double>(length) / word));
}

std::string pattern_in_words(const WarpAccess& access) {
  struct Places {
    std::set<std::uint64_t> words, in_banks;
  } of_all, of_run;
  const Run run = longest_run(access);
  for_each_lane(access.mask, [&](unsigned lane) {
    const bool is_of_run = lane >= run.first && lane < run.first + run.lanes;
    for (unsigned byte = 0; byte < access.width; byte += word) {
      const std::uint64_t place = (access.address[lane] + byte) / word;
      for (Places* places : {&of_all, is_of_run ? &of_run : &of_all}) {
        places->words.insert(place);
        places->in_banks.insert(place % banks);
      }
    }
  });
  // Lanes that have a bank each do not meet: it is the runs beside them that they meet.
  const bool meets = of_run.in_banks.size() < of_run.words.size();
  if (run.lanes < 4 || run.step == static_cast<std::int64_t>(access.width) || !meets) {
    return fmt::format("Its lanes go to {} words in {} banks.", of_all.words.size(),
                       in_words(of_all.in_banks.size()));
  }
  const std::string who = run.lanes == warp_lanes ? "All 32 lanes"
                          : run.lanes == 16
                              ? "The 16 lanes of half a warp"
                              : fmt::format("Lanes {} to {}", run.first, run.first + run.lanes - 1);
  return fmt::format("{}, {} apart, meet in {} bank{}.", who, apart(run.step),
                     in_words(of_run.in_banks.size()), of_run.in_banks.size() == 1 ? "" : "s");
}

/// Rows that are the elements of an array of structures.
bool is_of_elements(const SharedArray& array, const Layout& layout) {
  return array.extents.size() == 1 && layout.row == array.element_bytes;
}

/// The layout in the kernel's own words where its declaration is known.
std::string change_of(const SharedArray& array, const Layout& layout, const WhatIf& what_if) {
  const std::string name = array.name.empty() ? "array" : array.name;
  if (is_of_elements(array, layout)) return "";
  const std::uint32_t element = what_if.element();
  const std::uint32_t columns = layout.row / element, rows = array.bytes / layout.row;
  const bool is_declared = array.extents.size() > 1;
  switch (layout.kind) {
    case Layout::Kind::padding: {
      const std::uint32_t more = layout.amount * word / element;
      if (is_declared && layout.row == array.extents.back() * element) {
        std::string outer;
        for (std::size_t i = 0; i + 1 < array.extents.size(); ++i) {
          outer += fmt::format("[{}]", array.extents[i]);
        }
        return fmt::format("{}{}[{}]", name, outer, columns + more);
      }
      return fmt::format("{}[i + i / {}{}]", name, columns,
                         more > 1 ? fmt::format(" * {}", more) : "");
    }
    case Layout::Kind::swizzle: {
      std::string row = layout.amount == 0 ? "y" : fmt::format("(y >> {})", layout.amount);
      if ((rows - 1) >> layout.amount >= columns) row = fmt::format("({} % {})", row, columns);
      if (is_declared && array.extents.size() == 2) return fmt::format("{}[y][x ^ {}]", name, row);
      return fmt::format("{}[i ^ {}], y = i / {}", name, row, columns);
    }
    case Layout::Kind::transpose:
      if (is_declared && array.extents.size() == 2) return fmt::format("{}[x][y]", name);
      return fmt::format("{}[i % {} * {} + i / {}]", name, columns, rows, columns);
    case Layout::Kind::split:
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

std::string meaning_of(const SharedArray& array, const Layout& layout) {
  const bool is_declared = array.extents.size() > 1;
  const std::string words = layout.amount == 1 ? "a word" : fmt::format("{} words", layout.amount);
  const std::string part =
      array.part.empty() ? "" : fmt::format(", of the part of {} {}", array.name, array.part);
  const std::string row =
      is_declared ? "a row" : fmt::format("after every {} words", layout.row / word);
  switch (layout.kind) {
    case Layout::Kind::padding:
      if (is_of_elements(array, layout)) {
        return fmt::format("a member of {} more in each element{}", words, part);
      }
      return fmt::format("{} of padding {}{}", words, row, part);
    case Layout::Kind::swizzle:
      if (is_declared) return "a swizzle";
      return fmt::format("a swizzle of rows of {} words{}", layout.row / word, part);
    case Layout::Kind::transpose:
      if (is_declared) return "stored the other way round";
      return fmt::format("rows of {} words stored as columns{}", layout.row / word, part);
    case Layout::Kind::split:
      return fmt::format("an array for each word of an element{}", part);
    case Layout::Kind::as_is:
      break;
  }
  return "";
}

struct Tried {
  Layout layout;
  LayoutCost cost;
  std::uint32_t more_bytes = 0;
  bool is_advised = false;
};

/// Fewest wavefronts first, then least memory, then the simplest.
auto order(const Tried& tried) {
  return std::tuple(tried.cost.wavefronts(), tried.more_bytes, tried.layout.kind,
                    tried.layout.amount, tried.layout.row);
}

/// Layouts tried, those advised before the others: of each kind the best, where it saves enough.
std::vector<Tried> tried_layouts(const Subject& subject, const SharedArray& array,
                                 const WhatIf& what_if, std::uint64_t now, std::uint64_t ideal) {
  std::vector<Tried> all;
  for (const std::uint32_t row : row_lengths(subject, array)) {
    for (const Layout& layout : what_if.layouts(row)) {
      const auto cost = what_if.cost(layout);
      if (cost) all.push_back({layout, *cost, what_if.more_bytes(layout), false});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Tried& a, const Tried& b) { return order(a) < order(b); });
  std::set<Layout::Kind> kinds;
  const double best = all.empty() ? 0 : static_cast<double>(all.front().cost.wavefronts());
  const double most =
      static_cast<double>(now) - std::max(least_saving * static_cast<double>(now - ideal),
                                          least_of_best_saving * (static_cast<double>(now) - best));
  for (Tried& tried : all) {
    if (static_cast<double>(tried.cost.wavefronts()) > most) break;
    tried.is_advised = kinds.insert(tried.layout.kind).second;
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Tried& a, const Tried& b) { return a.is_advised > b.is_advised; });
  if (all.size() > most_listed) all.resize(most_listed);
  return all;
}

/// The costliest request of a group, and whose it is.
struct Worst {
  Placed placed;
  WarpAccess access;
  std::uint64_t transactions = 0;
};

Worst worst_of(const Subject& subject, const SharedArray& array, const ConflictGroup& group,
               const WhatIf& what_if) {
  Worst worst;
  for (const Placed& placed : array.accesses) {
    if (std::find(group.sites.begin(), group.sites.end(), placed.site) == group.sites.end())
      continue;
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

class ConflictFinder {
 public:
  ConflictFinder(const Subject& subject, std::vector<Weighed>& found)
      : subject_(subject), found_(found) {
    for (const SiteCounts& counts : subject.outcome.counts) all_ += counts.shared.transactions;
  }

  void look(const SharedArray& array) {
    std::map<std::tuple<std::string, int, std::string>, ConflictGroup> groups;
    std::uint64_t now = 0, ideal = 0;
    for (const std::size_t index : array.sites) {
      const SiteInfo& site = subject_.site(index);
      const AccessCounts& counts = subject_.outcome.counts[index].shared;
      now += counts.transactions;
      ideal += counts.ideal;
      schema::Finding place;
      locate(subject_, subject_.place(site), place);
      ConflictGroup& group =
          groups[{place.file, place.line, std::string(access_name(site, AddressSpace::shared))}];
      group.sites.push_back(index);
      group.requests += counts.requests;
      group.transactions += counts.transactions;
      group.ideal += counts.ideal;
    }
    if (now == ideal) return;
    const WhatIf what_if(subject_, array);
    const auto excess = [](const ConflictGroup& group) {
      return static_cast<double>(group.transactions - group.ideal);
    };
    const double all_excess = static_cast<double>(now - ideal);
    Lines lines;
    for (const auto& [key, group] : groups) {
      if (group.transactions > group.ideal) lines.emplace_back(std::get<2>(key), &group);
    }
    std::stable_sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) {
      return excess(*a.second) > excess(*b.second);
    });
    const std::vector<Tried> tried = what_if.impossible().empty()
                                         ? tried_layouts(subject_, array, what_if, now, ideal)
                                         : std::vector<Tried>{};
    const bool is_random =
        !what_if.impossible().empty() && !lines.empty() && !helps(what_if, lines);
    if (is_too_little(all_excess)) return;
    if (is_random) {
      has_random_places_ = true;
      return;
    }
    // The worst line stands for the array: one change mends them all.
    double cycles = std::max(all_excess * cycles_of_wavefront, least_told(subject_));
    for (const auto& [access, group] : lines) {
      if (excess(*group) < least_of_array * all_excess) break;
      tell(array, *group, access, what_if, tried, now, cycles);
      cycles = std::max(excess(*group) * cycles_of_wavefront, least_told(subject_));
    }
  }

  /// Conflicts were seen that are not told, because random places cost as much.
  bool has_random_places() const { return has_random_places_; }

 private:
  using Lines = std::vector<std::pair<std::string, const ConflictGroup*>>;

  /// Of accesses that lie in too many ways to try them all: whether they take more wavefronts than
  /// random places do, or another layout would help the few that were kept.
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

  /// A small part of the launch, and of its shared wavefronts.
  bool is_too_little(double excess) const {
    const bool is_much_of_shared = excess >= much_of_shared * static_cast<double>(all_) &&
                                   excess * cycles_of_wavefront >= least_told(subject_) / 4;
    return excess * cycles_of_wavefront < least_told(subject_) && !is_much_of_shared;
  }

  void tell(const SharedArray& array, const ConflictGroup& group, const std::string& access,
            const WhatIf& what_if, const std::vector<Tried>& tried, std::uint64_t now,
            double cycles) {
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
      finding.picture = banks_of(subject_.site(worst.placed.site), worst.access);
      finding.evidence = pattern_in_words(worst.access);
    }
    if (array.extents.size() < 2 && !tried.empty()) {
      finding.evidence += " How long its rows are goes by the addresses; --shape would tell it.";
    } else if (array.is_given) {
      finding.evidence += " Its rows are as --shape says.";
    }
    if (!array.part.empty()) {
      finding.evidence += fmt::format(" It is the part of {} {}.", array.name, array.part);
    }
    if (!what_if.impossible().empty()) {
      finding.evidence += fmt::format("{}No other layout was tried: {}.",
                                      finding.evidence.empty() ? "" : " ", what_if.impossible());
    }
    for (const Tried& one : tried) add_remedy(array, group, what_if, one, worst, finding);
  }

  void add_remedy(const SharedArray& array, const ConflictGroup& group, const WhatIf& what_if,
                  const Tried& tried, const Worst& worst, schema::Finding& finding) const {
    schema::Remedy& remedy = finding.remedies.emplace_back();
    remedy.name = tried.layout.name();
    remedy.change = change_of(array, tried.layout, what_if);
    remedy.words = meaning_of(array, tried.layout);
    remedy.is_advised = tried.is_advised;
    for (std::size_t i = 0; i < array.sites.size(); ++i) {
      const bool is_own =
          std::find(group.sites.begin(), group.sites.end(), array.sites[i]) != group.sites.end();
      (is_own ? remedy.transactions : remedy.other_transactions) += tried.cost.of_site[i];
    }
    const auto shared =
        static_cast<std::int64_t>(subject_.program.shared_bytes(subject_.geometry)) +
        tried.more_bytes;
    remedy.shared_bytes = shared;
    remedy.blocks = blocks_at_a_time(
        device_limits(subject_.program.arch),
        {static_cast<std::uint32_t>(subject_.geometry.block.count()),
         static_cast<std::uint32_t>(shared), subject_.program.resources.registers});
    predict(array, tried.cost, remedy);
    if (tried.is_advised && worst.transactions > 0) {
      const std::vector<WarpAccess> requests = what_if.requests(tried.layout, worst.placed);
      if (!requests.empty()) {
        remedy.picture = banks_of(subject_.site(worst.placed.site), requests.front());
      }
    }
  }

  /// The launch's counters with the array's own part replaced.
  void predict(const SharedArray& array, const LayoutCost& cost, schema::Remedy& remedy) const {
    LayoutCost own;
    for (const std::size_t index : array.sites) {
      const SiteInfo& site = subject_.site(index);
      const AccessCounts& counts = subject_.outcome.counts[index].shared;
      if (site.is_atomic()) {
        own.atomic_wavefronts += counts.transactions;
        own.atomic_requests += counts.requests;
      } else if (site.kind == AccessKind::load) {
        own.load_wavefronts += counts.transactions;
        own.load_requests += counts.requests;
      } else {
        own.store_wavefronts += counts.transactions;
        own.store_requests += counts.requests;
      }
    }
    const auto add = [&](const char* name, std::uint64_t before, std::uint64_t after) {
      const schema::Counter known = counter(name, subject_.program, subject_.outcome);
      if (!known.value || (before == 0 && after == 0)) return;
      remedy.predicted.push_back({name, static_cast<std::uint64_t>(*known.value) - before + after});
    };
    add("shared_load_wavefronts", own.load_wavefronts, cost.load_wavefronts);
    add("shared_load_requests", own.load_requests, cost.load_requests);
    add("shared_store_wavefronts", own.store_wavefronts, cost.store_wavefronts);
    add("shared_store_requests", own.store_requests, cost.store_requests);
    add("shared_atomic_wavefronts", own.atomic_wavefronts, cost.atomic_wavefronts);
    add("shared_atomic_requests", own.atomic_requests, cost.atomic_requests);
  }

  const Subject& subject_;
  std::vector<Weighed>& found_;
  std::uint64_t all_ = 0;
  bool has_random_places_ = false;
};

}  // namespace

bool find_bank_conflicts(const Subject& subject, std::vector<Weighed>& found) {
  ConflictFinder finder(subject, found);
  for (const SharedArray& array : shared_arrays(subject)) finder.look(array);
  return finder.has_random_places();
}

}  // namespace warpmeter::model::explain
