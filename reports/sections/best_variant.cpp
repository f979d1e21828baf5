// SPDX-License-Identifier: MIT
#include "reports/sections/best_variant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reports/best.h"
#include "reports/table/number.h"

namespace warpmeter::reports::sections {
namespace {

/// The cost of a variant, and between which bounds that is known.
struct Candidate {
  std::string variant;
  double cost = 0, low = 0, high = 0;
};

struct Contest {
  bool by_time = false;
  std::string marked;  ///< the remark on counts that the hardware might not repeat
  std::vector<Candidate> candidates;
};

std::optional<Candidate> timed_candidate(const Subject& subject) {
  const Figure duration = subject.figure("duration");
  if (!duration.value || !subject.figure("relative_confidence").value) return std::nullopt;
  const Range bounds = bounds_of(subject, "duration");
  return Candidate{subject.variant, *duration.value, bounds.low, bounds.high};
}

std::optional<Candidate> counted_candidate(const Subject& subject, bool& is_approximate,
                                           bool& is_of_ptx) {
  const Figure figure = subject.figure(all_transactions);
  if (!figure.value) return std::nullopt;
  const Range range = figure.range.value_or(Range{*figure.value, *figure.value});
  is_approximate = is_approximate || figure.grade == to_string(schema::Grade::modelled) ||
                   figure.grade == to_string(schema::Grade::sampled);
  is_of_ptx = is_of_ptx || figure.grade == to_string(schema::Grade::ptx);
  return Candidate{subject.variant, *figure.value, range.low, range.high};
}

/// True if its variants are known to do the same: some were compared with what was expected. Not
/// all need be, for what the others are compared with may be one of them.
bool is_verified(const Group& group) {
  return std::any_of(group.subjects.begin(), group.subjects.end(), [](const Subject& subject) {
    return std::any_of(subject.launches.begin(), subject.launches.end(),
                       [](const LaunchRecord* launch) { return launch->verified; });
  });
}

std::vector<const Subject*> competitors(const Group& group) {
  std::vector<const Subject*> subjects;
  for (const Subject& subject : group.subjects) {
    if (competes(subject) && subject.failures() == 0) subjects.push_back(&subject);
  }
  return subjects;
}

/// The contest between variants; nullopt where not all can be, or there is one alone.
std::optional<Contest> contest_of(const Group& group) {
  const std::vector<const Subject*> subjects = competitors(group);
  if (subjects.size() < 2 || !is_verified(group)) return std::nullopt;
  Contest contest;
  bool is_approximate = false, is_of_ptx = false;
  contest.by_time = std::any_of(subjects.begin(), subjects.end(), [](const Subject* subject) {
    return subject->figure("duration").value;
  });
  for (const Subject* subject : subjects) {
    auto candidate = contest.by_time ? timed_candidate(*subject)
                                     : counted_candidate(*subject, is_approximate, is_of_ptx);
    if (!candidate) return std::nullopt;
    contest.candidates.push_back(std::move(*candidate));
  }
  if (is_approximate) {
    contest.marked = "; these counts are approximate";
  } else if (is_of_ptx) {
    contest.marked = "; counted from PTX, the machine code may differ";
  }
  std::stable_sort(contest.candidates.begin(), contest.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; });
  return contest;
}

/// How many lead: the first, and all that may be as good as one of these.
std::size_t leaders(const std::vector<Candidate>& candidates) {
  double high = candidates.front().high;
  std::size_t count = 1;
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = count; i < candidates.size(); ++i) {
      if (candidates[i].low > high) continue;
      for (; count <= i; ++count) high = std::max(high, candidates[count].high);
      grew = true;
    }
  }
  return count;
}

std::string time_text(double ns) {
  const DurationUnit unit = duration_unit(std::span(&ns, 1));
  return fmt::format("{} {}", readable_number(ns / unit.in_ns, Zeros::keep), unit.symbol);
}

std::string ratio_text(double ratio, const char* times_as, const char* less) {
  return ratio >= 1.1
             ? fmt::format("{} times {}", readable_number(ratio, Zeros::keep), times_as)
             : fmt::format("{} % {}", readable_number(100 * (1 - 1 / ratio), Zeros::trim), less);
}

/// "tiled is fastest, 5.73 µs, 1.61 times as fast as naive, the next"
std::string time_sentence(const BestOfFamily& best, const std::vector<Candidate>& candidates) {
  const std::string names = listed(best.variants);
  const std::size_t count = best.variants.size();
  if (count == candidates.size()) {
    return fmt::format("which of {} is fastest is not known, one run cannot tell them apart",
                       names);
  }
  const std::string by = ratio_text(best.factor, "as fast as", "less time than");
  const std::string& next = candidates[count].variant;
  return count == 1
             ? fmt::format("{} is fastest, {}, {} {}, the next", names,
                           time_text(candidates.front().cost), by, next)
             : fmt::format(
                   "{} are fastest (one run cannot tell them apart), at least {} {}, the next",
                   names, by, next);
}

std::string count_text(double count) { return readable_number(count, Zeros::trim); }

std::string count_sentence(const BestOfFamily& best, const std::vector<Candidate>& candidates) {
  const std::string names = listed(best.variants);
  const std::size_t count = best.variants.size();
  const bool are_equal = candidates.front().cost == candidates[count - 1].cost;
  if (count == candidates.size()) {
    return are_equal ? fmt::format("{} cost the same shared and global transactions, {}", names,
                                   count_text(candidates.front().cost))
                     : fmt::format(
                           "the shared and global transactions of {} differ by less than they do "
                           "from launch to launch",
                           names);
  }
  const Candidate& next = candidates[count];
  std::string text = fmt::format("{} {} the fewest shared and global transactions", names,
                                 count == 1 ? "has" : "have");
  if (are_equal) text += fmt::format(", {}", count_text(candidates.front().cost));
  text += fmt::format("; {}, the next, has {}", next.variant, count_text(next.cost));
  if (candidates[count - 1].cost == 0) return text;
  return best.factor >= 2
             ? text + fmt::format(", {} times as many", readable_number(best.factor, Zeros::trim))
             : text + fmt::format(", {} % more",
                                  readable_number(100 * (best.factor - 1), Zeros::trim));
}

BestOfFamily best_of(const Group& group, const Contest& contest) {
  BestOfFamily best;
  best.group = &group;
  const std::size_t count = leaders(contest.candidates);
  for (std::size_t i = 0; i < count; ++i) best.variants.push_back(contest.candidates[i].variant);
  if (count < contest.candidates.size() && contest.candidates[count - 1].cost > 0) {
    best.factor = contest.candidates[count].cost / contest.candidates[count - 1].cost;
  }
  best.sentence = contest.by_time ? time_sentence(best, contest.candidates)
                                  : count_sentence(best, contest.candidates) + contest.marked;
  return best;
}

std::string place_of(const RunRecord& run, const Group& group, bool with_size) {
  std::string place = group.family;
  if (with_size && group.size) place += " at " + grouped_number(*group.size);
  if (with_size && !group.sizes.empty()) place += (group.size ? ", " : " at ") + group.sizes;
  return run.devices.size() > 1 ? place + " on " + run.device_name(group.device_id) : place;
}

/// The share of each variant in a whole, in launch order; empty where it is not known of all.
std::vector<double> shares(const Group& group, bool by_time) {
  std::vector<double> costs;
  double all = 0;
  for (const Subject& subject : group.subjects) {
    double cost = 0;
    for (const LaunchRecord* launch : subject.launches) {
      if (launch->failed) return {};
      const auto sum = launch->sum(by_time ? "duration" : all_transactions);
      if (!sum) return {};
      cost += *sum;
    }
    costs.push_back(cost);
    all += cost;
  }
  if (all <= 0) return {};
  for (double& cost : costs) cost /= all;
  return costs;
}

/// In per cent, and 100 only for all of it.
std::string share_text(double share) {
  return share < 1 && share >= 0.9995 ? "over 99.9" : readable_number(100 * share, Zeros::trim);
}

}  // namespace

bool competes(const Subject& subject) {
  return !subject.is_ceiling() && !subject.variant.starts_with("copy");
}

std::string listed(std::vector<std::string> names) {
  constexpr std::size_t most = 4;
  if (names.size() == 1) return names.front();
  std::string last = names.back();
  if (names.size() > most) {
    last = fmt::format("{} more", names.size() - (most - 1));
    names.resize(most);
  }
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

bool BestOfFamily::has(const std::string& family, const std::string& variant) const {
  return group->family == family &&
         std::find(variants.begin(), variants.end(), variant) != variants.end();
}

std::vector<BestOfFamily> best_of_families(const RunRecord& run) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<BestOfFamily>> families;
  for (const Group& group : run.groups) {
    if (const auto contest = contest_of(group)) {
      families[{group.device_id, group.family}].push_back(best_of(group, *contest));
    }
  }
  std::vector<BestOfFamily> all;
  for (auto& [key, sizes] : families) {
    BestOfFamily& largest = *std::max_element(sizes.begin(), sizes.end(),
                                              [](const BestOfFamily& a, const BestOfFamily& b) {
                                                return is_smaller(*a.group, *b.group);
                                              });
    largest.sentence =
        fmt::format("{}: {}.", place_of(run, *largest.group, true), largest.sentence);
    all.push_back(std::move(largest));
  }
  std::stable_sort(all.begin(), all.end(), [](const BestOfFamily& a, const BestOfFamily& b) {
    return a.factor > b.factor;
  });
  return all;
}

std::vector<std::string> costliest_of_programs(const RunRecord& run) {
  std::vector<std::pair<double, std::string>> sentences;
  for (const Group& group : run.groups) {
    if (group.subjects.size() < 2 || is_verified(group)) continue;
    const bool by_time = !shares(group, true).empty();
    const std::vector<double> all = shares(group, by_time);
    if (all.empty()) continue;
    const auto most = std::max_element(all.begin(), all.end());
    if (std::count(all.begin(), all.end(), *most) > 1) continue;
    const Subject& subject = group.subjects[static_cast<std::size_t>(most - all.begin())];
    sentences.emplace_back(
        *most, fmt::format("{}: '{}' takes most, {} % of the {} of {} launches, in {}.",
                           place_of(run, group, true), subject.variant, share_text(*most),
                           by_time ? "time" : "shared and global transactions",
                           run.groups.size() > 1 ? "these" : "all",
                           reports::counted(subject.count(), "launch", "launches")));
  }
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (auto& [share, text] : sentences) texts.push_back(std::move(text));
  return texts;
}

}  // namespace warpmeter::reports::sections
