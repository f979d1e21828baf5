// SPDX-License-Identifier: MIT
// Two sentences on the limit of a family: the limit of the variant that takes most, with its
// evidence, and how another variant differs from it.
//
// Where one resource limits all variants alike, as device memory does for transposes on the model,
// the second sentence says what else in memory tells them apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "reports/sections/limits.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// Limits that differ by less are alike.
constexpr double alike = 1.05;
/// A memory tells variants apart where one needs more cycles of it than another, by this share of
/// the limit.
constexpr double least_excess = 0.05;
/// At most so many variants are told apart.
constexpr std::size_t most_told_apart = 2;

std::string factor_text(double factor) { return readable_number(factor, Zeros::trim); }

std::string place_of(const RunRecord& run, const Limits& limits, bool with_variant) {
  const Group& group = *limits.group;
  std::string place = group.family;
  if (with_variant) place += "/" + limits.subject->variant;
  if (group.size) place += " at " + grouped_number(*group.size);
  return run.devices.size() > 1 ? place + " on " + run.device_name(group.device_id) : place;
}

/// In quotation marks: a kernel may be called as a word of the sentence.
std::string variant_of(const Limits& limits) {
  return fmt::format("'{}'", limits.subject->variant);
}

/// The time of a launch, or else the cycles of its limit.
double cost_of(const Limits& limits) {
  return limits.elapsed.missing.empty() ? limits.elapsed.value : most_of(limits).cycles.value;
}

/// The name of a limit that is known.
std::string limit_name(const Limits& limits) {
  return std::get<std::string>(limit_of(limits).value);
}

double cycles_of_limit(const Limits& limits) { return most_of(limits).cycles.value; }

bool needs_less(const Limits* a, const Limits* b) {
  return cycles_of_limit(*a) < cycles_of_limit(*b);
}

/// The share of the limit that the launch reaches; nothing without a clock.
std::optional<double> reached(const Limits& limits) {
  const Sum share = share_of_time(limits, most_of(limits));
  return share.missing.empty() ? std::optional(share.value) : std::nullopt;
}

/// "matmul/tiled at 1,024 is limited by shared memory: 134,217,728 wavefronts at 1 a cycle, 4 times
/// the cycles of issue slots; it reaches 71 % of that."
std::string limit_sentence(const RunRecord& run, const Limits& limits) {
  const Need& most = most_of(limits);
  std::string text = fmt::format("{} is limited by {}: {}", place_of(run, limits, true),
                                 limit_name(limits), most.evidence);
  if (const Need* second = second_of(limits)) {
    const double factor = most.cycles.value / second->cycles.value;
    text += factor < alike ? fmt::format(", about as many cycles as {} needs", second->name)
                           : fmt::format(", {} times the cycles of {}",
                                         readable_number(factor, Zeros::keep), second->name);
  }
  const std::optional<double> share = reached(limits);
  if (share && !most.is_measured) {
    text += fmt::format("; it reaches {} % of that", factor_text(*share));
  }
  return text + ".";
}

/// "All 5 variants of transpose at 4,096 are limited by device memory: 134,217,728 bytes of input
/// and output at 18.4 a cycle; they reach 54 % ('naive') to 91 % ('tiled') of that."
std::string common_sentence(const RunRecord& run, const std::vector<const Limits*>& family) {
  const Limits& neediest = **std::max_element(family.begin(), family.end(), needs_less);
  const std::string& evidence = most_of(neediest).evidence;
  std::string text = fmt::format("{} variants of {} are limited by {}: {}",
                                 family.size() == 2 ? "Both" : fmt::format("All {}", family.size()),
                                 place_of(run, neediest, false), limit_name(neediest), evidence);
  const bool is_same = std::all_of(family.begin(), family.end(), [&](const Limits* limits) {
    return most_of(*limits).evidence == evidence;
  });
  if (!is_same) {
    text += fmt::format(" for {}, at most {:.0f} % fewer cycles for {}", variant_of(neediest),
                        100 * (alike - 1), family.size() == 2 ? "the other" : "the others");
  }
  const bool have_shares = std::all_of(family.begin(), family.end(), [](const Limits* limits) {
    return reached(*limits).has_value() && !most_of(*limits).is_measured;
  });
  if (!have_shares) return text + ".";
  const auto [least, most] =
      std::minmax_element(family.begin(), family.end(), [](const Limits* a, const Limits* b) {
        return reached(*a).value_or(0) < reached(*b).value_or(0);
      });
  return text + fmt::format("; they reach {} % ({}) to {} % ({}) of that.",
                            factor_text(reached(**least).value_or(0)), variant_of(**least),
                            factor_text(reached(**most).value_or(0)), variant_of(**most));
}

/// A variant's need of a memory beside that of the variant that needs least of it.
struct Excess {
  const Limits* limits = nullptr;
  const Limits* least = nullptr;
  const char* what = "";
  double cycles = 0;  ///< so many more
  double factor = 1;
};

Excess excess_of(const Limits& limits, const std::vector<const Limits*>& family) {
  static constexpr std::array<std::pair<const char*, const char*>, 2> memories = {
      {{"shared", "shared wavefronts"}, {"l1", "L1 sectors"}}};
  Excess most{&limits};
  for (const auto& [column, what] : memories) {
    const double mine = need_named(limits, column).cycles.value;
    for (const Limits* other : family) {
      const double theirs = need_named(*other, column).cycles.value;
      if (theirs <= 0 || mine - theirs <= most.cycles) continue;
      most = {&limits, other, what, mine - theirs, mine / theirs};
    }
  }
  return most;
}

/// "'tiled' needs 4.5 times the shared wavefronts of 'tiled_rows', and 'naive' 2.5 times the L1
/// sectors of 'tiled'."
std::string difference_sentence(const std::vector<const Limits*>& family) {
  std::vector<Excess> all;
  for (const Limits* limits : family) {
    const Excess excess = excess_of(*limits, family);
    const double limit = most_of(*limits).cycles.value;
    if (excess.cycles >= least_excess * limit) all.push_back(excess);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Excess& a, const Excess& b) { return a.cycles > b.cycles; });
  all.resize(std::min(all.size(), most_told_apart));
  std::vector<std::string> parts;
  for (const Excess& one : all) {
    parts.push_back(fmt::format("{}{} {} times the {} of {}", variant_of(*one.limits),
                                parts.empty() ? " needs" : "", factor_text(one.factor), one.what,
                                variant_of(*one.least)));
  }
  return parts.empty() ? "" : fmt::format("{}.", fmt::join(parts, ", and "));
}

/// "'tiled', limited by L1, needs 7.64 times fewer cycles."
std::string other_sentence(const Limits& most, const Limits& least) {
  const double factor = cost_of(most) / cost_of(least);
  const bool is_same = most_of(most).column == most_of(least).column;
  const std::string limit = is_same ? "the same" : limit_name(least);
  const std::optional<double> share = reached(least);
  return fmt::format(
      "{}, limited by {}, {} {}{}.", variant_of(least), limit, share ? "takes" : "needs",
      factor < alike ? "about as many cycles"
                     : fmt::format("{} times fewer cycles", readable_number(factor, Zeros::keep)),
      share ? fmt::format(" and reaches {} % of its limit", factor_text(*share)) : "");
}

/// True if one resource limits all variants, with about the same cycles.
bool is_alike(const std::vector<const Limits*>& family) {
  const auto [least, most] = std::minmax_element(family.begin(), family.end(), needs_less);
  const std::string name = limit_name(**most);
  return cycles_of_limit(**most) < alike * cycles_of_limit(**least) &&
         std::all_of(family.begin(), family.end(),
                     [&name](const Limits* limits) { return limit_name(*limits) == name; });
}

FamilyLimit limit_of_family(const RunRecord& run, const std::vector<const Limits*>& all) {
  std::vector<const Limits*> family = without_ceilings(all);
  const Limits& first = *family.front();
  const std::size_t variants = family.size();
  FamilyLimit limit{first.group, 0, "", ""};
  std::erase_if(family, [](const Limits* limits) { return limit_of(*limits).missing(); });
  if (family.empty()) {
    limit.limit = fmt::format("Nobody knows what limits {}: {}.", place_of(run, first, true),
                              std::get<Missing>(limit_of(first).value).reason);
    return limit;
  }
  const auto [least, most] = std::minmax_element(
      family.begin(), family.end(),
      [](const Limits* a, const Limits* b) { return cost_of(*a) < cost_of(*b); });
  limit.cycles = cost_of(**most);
  if (variants > 1 && family.size() == variants && is_alike(family)) {
    limit.limit = common_sentence(run, family);
    limit.comparison = difference_sentence(family);
  } else {
    limit.limit = limit_sentence(run, **most);
    if (*least != *most) limit.comparison = other_sentence(**most, **least);
  }
  return limit;
}

}  // namespace

std::vector<FamilyLimit> limits_of_families(const Source& source) {
  // A report of a million launches is not to read their limits where nobody counted any.
  const std::vector<std::string>& metrics = source.run.metrics;
  if (!std::binary_search(metrics.begin(), metrics.end(), "local_load_sectors")) return {};
  std::vector<FamilyLimit> all;
  for (const auto& family : families_of(largest_of(source.limits().all))) {
    all.push_back(limit_of_family(source.run, family));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const FamilyLimit& a, const FamilyLimit& b) { return a.cycles > b.cycles; });
  return all;
}

}  // namespace warpmeter::reports::sections
