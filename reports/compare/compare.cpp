// SPDX-License-Identifier: MIT
#include "reports/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/variant_name.h"
#include "reports/compare/counters.h"
#include "reports/compare/findings.h"
#include "reports/compare/groups.h"
#include "reports/compare/limits.h"
#include "reports/compare/sides.h"
#include "reports/compare/times.h"
#include "reports/record.h"
#include "reports/sql/sql.h"
#include "reports/table/number.h"
#include "reports/unfinished.h"

namespace warpmeter::reports {
namespace {

struct Pair {
  PairName name;
  LaunchGroup* base = nullptr;
  LaunchGroup* contender = nullptr;
};

/// The key of a pair: launches share it, and may differ in the rest.
struct PairKey {
  std::string family, variant;
  std::optional<std::int64_t> size;
  std::int64_t ordinal = 0;
  std::string geometry;

  bool operator==(const PairKey&) const = default;
  bool operator<(const PairKey& other) const {
    const auto all = [](const PairKey& key) {
      return std::tie(key.family, key.variant, key.size, key.ordinal, key.geometry);
    };
    return all(*this) < all(other);
  }
};

bool has_several_devices(const std::vector<LaunchGroup>& groups) {
  return std::any_of(groups.begin(), groups.end(), [&](const LaunchGroup& group) {
    return group.device != groups.front().device || group.ordinal != groups.front().ordinal;
  });
}

class Pairing {
 public:
  Pairing(Key by, Sides& sides) : by_(by), sides_(sides) {
    by_device_ =
        by != Key::device && by != Key::backend &&
        (has_several_devices(sides.base_groups) || has_several_devices(sides.contender_groups));
  }

  void pair(Comparison& comparison) {
    std::multimap<PairKey, LaunchGroup*> bases;
    for (LaunchGroup& group : sides_.base_groups) bases.emplace(key_of(group, true), &group);
    std::set<const LaunchGroup*> paired;
    for (LaunchGroup& contender : sides_.contender_groups) {
      const auto found = bases.find(key_of(contender, true));
      if (found == bases.end()) continue;
      paired.insert(&contender);
      paired.insert(found->second);
      pairs_.push_back({name_of(*found->second, contender), found->second, &contender});
    }
    leave_unpaired(comparison, paired, sides_.base_groups, sides_.contender_groups, "contender");
    leave_unpaired(comparison, paired, sides_.contender_groups, sides_.base_groups, "base");
  }

  std::vector<Pair>& pairs() { return pairs_; }

 private:
  /// Geometry belongs to a variant and a size: across these it may differ. Variants compete at the
  /// same named sizes only.
  PairKey key_of(const LaunchGroup& group, bool with_geometry) const {
    PairKey key;
    key.family = group.family;
    key.variant = by_ == Key::variant ? sizes_text(parsed_variant_name(group.variant))
                                      : name_of_pairs(group.variant);
    if (by_ != Key::size) key.size = group.size;
    if (by_device_) key.ordinal = group.ordinal;
    if (with_geometry && by_ != Key::variant && by_ != Key::size) key.geometry = group.geometry();
    return key;
  }

  PairName name_of(const LaunchGroup& base, const LaunchGroup& contender) const {
    PairName name{base.family, base.variant, base.grid, base.block, base.size, "", "", false};
    if (by_ == Key::variant) {
      name.base = base.variant;
      name.contender = name.variant = contender.variant;
    } else if (by_ == Key::size && base.size && contender.size) {
      name.base = std::to_string(*base.size);
      name.contender = std::to_string(*contender.size);
      name.size = contender.size;
    } else if (by_ == Key::device && has_several_devices(sides_.contender_groups)) {
      name.base = base.device;
      name.contender = contender.device;
      name.is_by_device = true;
    } else if (by_device_) {
      name.base = name.contender = fmt::format("device {}", base.ordinal);
    }
    name.grid = contender.grid;
    name.block = contender.block;
    return name;
  }

  void leave_unpaired(Comparison& comparison, const std::set<const LaunchGroup*>& paired,
                      const std::vector<LaunchGroup>& groups,
                      const std::vector<LaunchGroup>& others, std::string_view missing_in) const {
    std::map<PairKey, const LaunchGroup*> other_of;  // the first with the same key
    for (const LaunchGroup& other : others) other_of.try_emplace(key_of(other, false), &other);
    for (const LaunchGroup& group : groups) {
      if (paired.contains(&group)) continue;
      std::string reason = fmt::format("no partner in the {}", missing_in);
      if (const auto found = other_of.find(key_of(group, false)); found != other_of.end()) {
        reason += fmt::format(": the geometry is {} there and {} here", found->second->geometry(),
                              group.geometry());
      }
      std::string name = group.name();
      if (by_device_) name += fmt::format(" on device {}", group.ordinal);
      comparison.leftovers.push_back({std::move(name), std::move(reason), false});
    }
  }

  Key by_;
  Sides& sides_;
  bool by_device_ = false;
  std::vector<Pair> pairs_;
};

// ---- what of a pair is comparable

void leave_failures(Comparison& comparison, std::vector<Pair>& pairs) {
  std::erase_if(pairs, [&](const Pair& pair) {
    const bool base_failed = pair.base->launches == 0;
    const bool contender_failed = pair.contender->launches == 0;
    if (!base_failed && !contender_failed) return false;
    const std::string& why = contender_failed ? pair.contender->failure : pair.base->failure;
    const char* where = base_failed && contender_failed ? "both"
                        : contender_failed              ? "the contender"
                                                        : "the base";
    comparison.leftovers.push_back({pair.name.text(), fmt::format("failed in {}: {}", where, why),
                                    contender_failed && !base_failed});
    return true;
  });
}

/// How often a program launches a kernel is its own affair; how often a run repeats a launch is
/// ours.
void tell_numbers_of_launches(Comparison& comparison, const std::vector<Pair>& pairs) {
  const auto times = [](const LaunchGroup& group) {
    return group.launches == 1 ? "once" : fmt::format("{} times", group.launches);
  };
  for (const Pair& pair : pairs) {
    const LaunchGroup &base = *pair.base, &contender = *pair.contender;
    const bool are_of_programs = base.is_of_program && contender.is_of_program &&
                                 base.runs.size() == 1 && contender.runs.size() == 1;
    if (!are_of_programs || base.launches == contender.launches) continue;
    comparison.leftovers.push_back({"number of launches of " + pair.name.text(),
                                    fmt::format("launched {} in the base and {} in the contender",
                                                times(base), times(contender)),
                                    false});
  }
}

std::string reason_untimed(const LaunchGroup& group) {
  for (const auto& [run, kinds] : group.kinds) {
    for (const std::size_t place : kinds.places) {
      const schema::LaunchKind& kind = kinds.of_run->all[place];
      if (kind.cache.empty() && !kind.timing_reason.empty()) return kind.timing_reason;
    }
  }
  return "it was not timed";
}

std::vector<GroupPair> timed_pairs(Comparison& comparison, const std::vector<Pair>& pairs) {
  std::vector<GroupPair> timed;
  const auto leave = [&](const Pair& pair, const std::string& reason) {
    comparison.leftovers.push_back({"time of " + pair.name.text(), reason, false});
  };
  for (const Pair& pair : pairs) {
    const bool has_base = !pair.base->samples.sorted_ns.empty();
    const bool has_contender = !pair.contender->samples.sorted_ns.empty();
    if (!has_base && !has_contender) {
      if (comparison.untimed_pairs++ == 0)
        comparison.untimed_reason = reason_untimed(*pair.contender);
    } else if (!has_base || !has_contender) {
      leave(pair, fmt::format("the {} has none: {}", has_base ? "contender" : "base",
                              reason_untimed(has_base ? *pair.contender : *pair.base)));
    } else if (pair.base->caches != pair.contender->caches) {
      leave(pair, fmt::format("the base was timed with a {} cache and the contender with a {} one",
                              fmt::join(pair.base->caches, " and a "),
                              fmt::join(pair.contender->caches, " and a ")));
    } else if (pair.base->samples.median() <= 0 || pair.contender->samples.median() <= 0) {
      leave(pair, "it took no time that the clock could show");
    } else {
      timed.push_back({pair.name, pair.base, pair.contender});
    }
  }
  return timed;
}

/// The remarks on the circumstances, each once.
std::vector<std::string> remarks_on(const std::vector<Pair>& pairs) {
  std::vector<std::string> remarks;
  const auto add = [&](std::string text) {
    if (std::find(remarks.begin(), remarks.end(), text) == remarks.end()) {
      remarks.push_back(std::move(text));
    }
  };
  for (const Pair& pair : pairs) {
    const LaunchGroup& base = *pair.base;
    const LaunchGroup& contender = *pair.contender;
    if (base.device != contender.device) {
      add(fmt::format("The devices differ: {} and {}.", base.device, contender.device));
    } else if (base.uuids != contender.uuids) {
      add(fmt::format(
          "The sides were measured on different GPUs of one model ({}); two of them may "
          "differ by some per cent.",
          base.device));
    }
    if (base.backend == contender.backend && base.drivers != contender.drivers) {
      add(fmt::format("The drivers differ: {} and {}.", fmt::join(base.drivers, ", "),
                      fmt::join(contender.drivers, ", ")));
    }
    if (base.samples.sorted_ns.empty() || contender.samples.sorted_ns.empty()) continue;
    if (base.sm_clock_mhz && contender.sm_clock_mhz &&
        std::abs(*contender.sm_clock_mhz / *base.sm_clock_mhz - 1) > 0.01) {
      add(fmt::format(
          "The SM clocks differ ({} MHz and {} MHz), so times are compared in cycles as "
          "well; a verdict stands where both agree.",
          grouped_number(std::llround(*base.sm_clock_mhz)),
          grouped_number(std::llround(*contender.sm_clock_mhz))));
    }
    if (!base.throttled.empty()) {
      add(fmt::format("The base's clocks were held back: {}.", fmt::join(base.throttled, ", ")));
    }
    if (!contender.throttled.empty()) {
      add(fmt::format("The contender's clocks were held back: {}.",
                      fmt::join(contender.throttled, ", ")));
    }
    if (!base.disturbed.empty()) {
      add(fmt::format("The base's device was shared: {}.", fmt::join(base.disturbed, ", ")));
    }
    if (!contender.disturbed.empty()) {
      add(fmt::format("The contender's device was shared: {}.",
                      fmt::join(contender.disturbed, ", ")));
    }
  }
  return remarks;
}

Error nothing_to_pair(const Comparison& comparison) {
  std::string reason;
  if (!comparison.leftovers.empty()) {
    reason = fmt::format(" ({}: {})", comparison.leftovers.front().what,
                         comparison.leftovers.front().reason);
  }
  return {
      ExitCode::nothing,
      fmt::format("{} and {} have no launch in common to compare{}: measure the same variants and "
                  "sizes on both sides",
                  comparison.base.name, comparison.contender.name, reason)};
}

}  // namespace

std::string PairName::text() const {
  std::string text = fmt::format("{}/{}", family, variant);
  if (size) text += " at " + grouped_number(*size);
  if (is_by_device) return fmt::format("{} on {} against {}", text, contender, base);
  if (base != contender) return fmt::format("{} against {}", text, base);
  return base.empty() ? text : fmt::format("{} on {}", text, base);
}

std::size_t Comparison::count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      times.begin(), times.end(), [&](const TimePair& pair) { return pair.verdict == verdict; }));
}

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(
      std::count_if(counters.begin(), counters.end(),
                    [&](const CounterPair& pair) { return pair.change == change; }));
}

bool Comparison::has_slower() const {
  return count(Verdict::slower) > 0 ||
         std::any_of(leftovers.begin(), leftovers.end(),
                     [](const Leftover& leftover) { return leftover.broke; });
}

bool Comparison::has_times() const { return !times.empty(); }

bool Comparison::has_changed() const {
  return has_slower() || count(Verdict::faster) > 0 || count(Change::changed) > 0;
}

Comparison compare(const schema::Reader& reader, const CompareRequest& request,
                   const Thresholds& thresholds) {
  Sides sides = find_sides(reader, request);
  Comparison comparison;
  comparison.base = sides.base;
  comparison.contender = sides.contender;
  comparison.thresholds = thresholds;
  std::set<std::int64_t> runs(sides.base.runs.begin(), sides.base.runs.end());
  runs.insert(sides.contender.runs.begin(), sides.contender.runs.end());
  comparison.unfinished =
      unfinished(reader, std::vector<std::int64_t>(runs.begin(), runs.end()), request.run_names);
  Pairing pairing(request.by, sides);
  pairing.pair(comparison);
  std::vector<Pair>& pairs = pairing.pairs();
  if (pairs.empty()) throw nothing_to_pair(comparison);
  comparison.pairs = pairs.size();
  leave_failures(comparison, pairs);
  tell_numbers_of_launches(comparison, pairs);
  // The statistics take as long as the counters to read.
  std::future<std::vector<TimePair>> times =
      std::async(std::launch::async, test_times, timed_pairs(comparison, pairs), thresholds);

  std::vector<LaunchGroup*> counted_groups;
  std::vector<GroupPair> read_pairs;
  for (const Pair& pair : pairs) {
    counted_groups.push_back(pair.base);
    counted_groups.push_back(pair.contender);
    read_pairs.push_back({pair.name, pair.base, pair.contender});
  }
  read_counters(reader, counted_groups);
  CounterChanges changes = compare_counters(read_pairs);
  comparison.counters = std::move(changes.pairs);
  comparison.counters_compared = changes.compared;
  for (Leftover& leftover : changes.leftovers) comparison.leftovers.push_back(std::move(leftover));
  FindingChanges findings = compare_findings(reader, read_pairs);
  comparison.findings = std::move(findings.pairs);
  comparison.same_findings = findings.same;
  ComparedLimits limits = compare_limits(reader, read_pairs);
  comparison.limits = std::move(limits.pairs);
  comparison.uncounted = std::move(limits.uncounted);
  comparison.times = times.get();
  for (const std::string& sentence : comparison.unfinished) {
    comparison.remarks.push_back(fmt::format(
        "Not all was measured: {}; launches that are missing were compared with nothing.",
        sentence));
  }
  for (std::string& remark : remarks_on(pairs)) comparison.remarks.push_back(std::move(remark));
  return comparison;
}

}  // namespace warpmeter::reports
