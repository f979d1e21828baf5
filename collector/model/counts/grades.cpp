// SPDX-License-Identifier: MIT
#include "collector/model/counts/grades.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "collector/model/counts/counter_names.h"
#include "collector/model/counts/executed.h"
#include "collector/model/counts/instruction_counts.h"
#include "schema/catalogue.h"
#include "schema/figures/figures.h"

namespace warpmeter::model {
namespace {

using schema::Grade;

constexpr std::string_view loop_reason =
    "approximate: the hardware runs this atomic as a loop that retries under contention";
constexpr std::string_view waits_reason =
    "approximate: how often this is done depends on what other threads do at the time";
constexpr std::string_view ordered_reason =
    "approximate: its addresses, or who comes to it, depend on the order in which threads come to "
    "an atomic";
constexpr std::string_view raced_reason =
    "approximate: threads go by values that others of the launch may store meanwhile; counted in "
    "one order, and a GPU may take another";
constexpr std::string_view left_ordered_reason =
    "approximate: its addresses, or who comes to it, depend on what an earlier launch left by the "
    "order of its threads, by the clock or by other things that only the hardware knows";
constexpr std::string_view behind_reason =
    "approximate: lanes that leave a loop in which they wait for other threads, or that holds an "
    "atomic beside a division, a root or a call, do not meet behind it on hardware, so that they "
    "do this one after the other";
constexpr std::string_view parted_reason =
    "counted at PTX level: warps part, and the machine code has copies of this access or branches "
    "in other ways";
constexpr std::string_view barrier_reason =
    "approximate: some threads of a warp come to a barrier or an exchange without the others, and "
    "what they do apart depends on the machine code";
constexpr std::string_view object_reason =
    "approximate: some threads of a warp wait at a barrier object for others of it, and what they "
    "do apart depends on the machine code";
constexpr std::string_view apart_reason =
    "approximate: copies past the registers and barrier objects are not calibrated on hardware";
constexpr std::string_view copy_stores_reason =
    "leaves out the stores of cp.async, which hardware counts apart from others";
constexpr std::string_view left_out_lanes_reason =
    "approximate: of cp.async.cg under a guard, hardware counts the lanes that are left out too, "
    "at "
    "the addresses that they happen to hold";
constexpr std::string_view part_reason =
    "approximate: how cp.async goes through the banks was not measured where a source may have "
    "fewer bytes than it stores";
constexpr std::string_view box_reason =
    "approximate: a copy in bulk (TMA) is of a shape that was not measured";
constexpr std::string_view bulk_reason =
    "leaves out what copies in bulk (TMA) and asynchronous stores move: another unit moves it";
constexpr std::string_view heap_reason =
    "approximate: where malloc of a kernel puts its pieces is the driver's choice, and how they "
    "lie in sectors goes by it";
constexpr std::string_view full_heap_reason =
    "approximate: the threads ask malloc for more than the heap holds at once, and who gets it "
    "depends on what others have freed by then";
constexpr std::string_view some_lanes_reason =
    "approximate: 128-bit loads by some lanes of a warp only are not calibrated on hardware";
constexpr std::string_view copy_reason =
    "approximate: lanes of cp.async read and write in an order that is not calibrated on hardware";
constexpr std::string_view nothing_reason =
    "approximate: some cp.async copies no bytes, and hardware's counter of sectors then gives "
    "another number each time (within 1 % where that was measured)";
constexpr std::string_view width_reason =
    "approximate: accesses of this width are not calibrated on hardware";

/// The machine code has accesses of the counter's kind that no site counts.
bool has_strays(const Program& program, const CounterName& counter) {
  return std::any_of(program.strays.begin(), program.strays.end(), [&](const StrayAccess& stray) {
    const bool is_same_space = stray.space == counter.space || stray.space == AddressSpace::generic;
    return is_same_space && stray.kind == counter.kind && stray.carrier == counter.carrier;
  });
}

/// An atomic that the audit could not settle may be any kind of atomic, or a loop that loads.
bool may_add_to(const SiteInfo& site, const CounterName& counter) {
  return !site.doubt.empty() && site.is_atomic() && counter.kind != AccessKind::store;
}

/// The site moved data of the counter's kind, which the counter does not hold. The words of a short
/// source of cp.async are in the count of its whole load.
bool is_left_out(const SiteInfo& site, const CounterName& counter, const AccessCounts& counts) {
  const bool is_object = site.kind == AccessKind::atomic;
  const bool is_word = site.carrier == Carrier::copy && site.kind == AccessKind::load;
  const bool is_whole =
      counter.carrier == Carrier::registers && counter.space != AddressSpace::cluster;
  return !is_object && !is_word && is_whole && counts.requests > 0 &&
         kind_in(site, counter.space) == counter.kind;
}

std::string_view left_out_reason(const SiteInfo& site) {
  return site.carrier == Carrier::copy ? copy_stores_reason : bulk_reason;
}

/// The counts of a site that are in the counter; null: none of them. `only`: see counter_of().
const AccessCounts* held_counts(const SiteInfo& site, const SiteCounts& counts,
                                const CounterName& counter, std::optional<Carrier> only = {}) {
  if (site.is_apart && !is_of_apart(site, counter)) return nullptr;
  if (!is_carried(site, counter) || (only && site.carrier != *only)) return nullptr;
  const bool loops = counter.space == AddressSpace::shared && counter.kind == AccessKind::load &&
                     counts.loop_loads.requests > 0;
  if (loops) return &counts.loop_loads;
  const bool is_same_kind = kind_in(site, counter.space) == counter.kind;
  return is_same_kind ? &(counts.*counts_of(counter.space)) : nullptr;
}

}  // namespace

SiteGrade grade_without_access(const Program& program) {
  if (!program.is_audited()) return {Grade::ptx, program.why_unaudited};
  if (!program.why_not_exact.empty()) return {Grade::modelled, program.why_not_exact};
  return {};
}

SiteGrade grade_of(const Program& program, std::size_t index, AddressSpace space,
                   const LaunchOutcome& outcome) {
  const SiteInfo& site = program.sites[index];
  if (!program.is_audited()) return grade_without_access(program);
  if (!site.doubt.empty()) return {Grade::ptx, site.doubt};
  // Lanes that copy in bulk are requests of their own, whichever come together.
  const bool by_lane = site.carrier == Carrier::bulk;
  const bool parted = std::any_of(site.together.begin(), site.together.end(), [&](std::uint32_t i) {
    return i == any_instruction ? outcome.has_parted() : outcome.parted[i] != 0;
  });
  if (parted && !by_lane) return {Grade::ptx, parted_reason};
  if (parted_at(program, outcome) && !by_lane) return {Grade::modelled, barrier_reason};
  if (waited_apart(program, outcome) && !by_lane) return {Grade::modelled, object_reason};
  const bool is_of_cluster = site.carrier == Carrier::counted && space == AddressSpace::cluster;
  if (site.is_apart && !by_lane && !is_of_cluster && !writes_copy(site))
    return {Grade::modelled, apart_reason};
  if (site.may_fall_short && writes_copy(site)) return {Grade::modelled, part_reason};
  if (site.counts_left_out) return {Grade::modelled, left_out_lanes_reason};
  if (outcome.may_fill_heap) return {Grade::modelled, full_heap_reason};
  if (site.waits) return {Grade::modelled, waits_reason};
  if (site.is_ordered) return {Grade::modelled, ordered_reason};
  if (site.is_raced && !outcome.is_of_one_thread) return {Grade::modelled, raced_reason};
  if (!site.unknown.empty()) return {Grade::modelled, site.unknown};
  if (!outcome.ordered.empty() && outcome.ordered[index] != 0) {
    return {Grade::modelled, left_ordered_reason};
  }
  if (space == AddressSpace::global && outcome.counts[index].on_heap) {
    return {Grade::modelled, heap_reason};
  }
  if (program.yields && site.is_behind && !by_lane && outcome.counts[index].by_several) {
    return {Grade::modelled, behind_reason};
  }
  if (site.is_atomic() && space != AddressSpace::global && (site.is_float || site.retries)) {
    return {Grade::modelled, loop_reason};
  }
  // In other blocks' memory 8 bytes were measured for exchanges, and where an object counts them.
  const bool is_known_wide = space == AddressSpace::cluster
                                 ? site.exchanges || site.carrier == Carrier::counted
                                 : space != AddressSpace::shared;
  const bool is_known_atomic = site.width == 4 || (site.width == 8 && is_known_wide);
  if (site.carrier == Carrier::copy && outcome.counts[index].is_approximate) {
    return {Grade::modelled, copy_reason};
  }
  if (by_lane && outcome.counts[index].is_approximate) return {Grade::modelled, box_reason};
  if (space == AddressSpace::shared && outcome.counts[index].is_approximate) {
    return {Grade::modelled, some_lanes_reason};
  }
  if (site.width > 16 || (site.is_atomic() && !is_known_atomic && !by_lane)) {
    return {Grade::modelled, width_reason};
  }
  return grade_without_access(program);
}

/// An H200 counted right where no more than four warps were on a multiprocessor, one for each of
/// its schedulers (tests/golden/h200_empty_copies.csv). It has 132.
SiteGrade grade_of_sectors(const Program& program, std::size_t index, AddressSpace space,
                           const LaunchOutcome& outcome) {
  constexpr std::uint64_t multiprocessors = 132, schedulers = 4;
  const SiteGrade grade = grade_of(program, index, space, outcome);
  const bool is_right =
      outcome.blocks <= multiprocessors && outcome.warps <= schedulers * outcome.blocks;
  if (is_right || outcome.counts[index].global.empty == 0 || grade.grade >= Grade::modelled) {
    return grade;
  }
  return {Grade::modelled, nothing_reason};
}

namespace {

/// Hardware has a counter of all instructions of cp.async.
std::uint64_t value_of(const AccessCounts& held, const CounterName& counter) {
  const bool counts_empty =
      counter.carrier == Carrier::copy && counter.count == &AccessCounts::requests;
  return held.*counter.count + (counts_empty ? held.empty : 0);
}

/// `known`: its row, if it has one. `only`: of all that the counter holds, what is moved by this;
/// nullopt: all of it. `is_part`: of a sum, whose other parts hold what it leaves out.
schema::Counter counter_of(std::string_view name, const CounterName* known, const Program& program,
                           const LaunchOutcome& outcome, std::optional<Carrier> only,
                           bool is_part = false) {
  schema::Counter result;
  result.name = name;
  if (known == nullptr) {  // most are counters of accesses
    if (is_of_instructions(name)) return count_instructions(name, program, outcome);
    if (is_instruction_counter(name)) return instruction_counter(name, program, outcome);
    const schema::CounterInfo* info = schema::Catalogue::get().find_counter(name);
    const bool lacks_hardware_counter = info != nullptr && !info->is_on_hardware();
    result.reason = lacks_hardware_counter
                        ? info->lacking
                        : "the model counts accesses and instructions only; run on a GPU "
                          "for this";
    return result;
  }
  SiteGrade grade = grade_without_access(program);
  const auto weaken = [&](const SiteGrade& other) {
    if (other.grade > grade.grade) grade = other;
  };
  if (outcome.may_fill_heap) weaken({Grade::modelled, full_heap_reason});
  if (has_strays(program, *known)) weaken({Grade::ptx, stray_accesses});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    const SiteInfo& site = program.sites[i];
    const AccessCounts* held = held_counts(site, outcome.counts[i], *known, only);
    if (held == nullptr) {
      const AccessCounts& own = outcome.counts[i].*counts_of(known->space);
      if (site.is_apart && !is_of_apart(site, *known)) {
        if (only || is_part || !is_left_out(site, *known, own)) continue;
        weaken({Grade::modelled, left_out_reason(site)});
        continue;
      }
      if (!is_carried(site, *known) || (only && site.carrier != *only)) continue;
      if (own.requests > 0 && may_add_to(site, *known)) {
        weaken(grade_of(program, i, known->space, outcome));
      }
      continue;
    }
    if (held->requests == 0 && held->bytes == 0 && held->empty == 0) {
      // Nobody had to wait here, or was let through; on the hardware somebody may be.
      const bool may_be_there = site.space == known->space || site.space == AddressSpace::generic;
      const bool is_left_ordered = !outcome.ordered.empty() && outcome.ordered[i] != 0;
      const bool is_reached = outcome.counts[i].shared.requests +
                                  outcome.counts[i].global.requests +
                                  outcome.counts[i].cluster.requests >
                              0;
      const bool is_raced = site.is_raced && !outcome.is_of_one_thread;
      const bool may_come = !is_reached && (is_raced || !site.unknown.empty());
      const bool may_differ = site.waits || site.is_ordered || site.may_fall_short ||
                              site.counts_left_out || is_left_ordered || may_come;
      if (!may_differ || !may_be_there) continue;
    }
    sum += value_of(*held, *known);
    const bool are_sectors = known->count == &AccessCounts::transactions;
    weaken((are_sectors ? grade_of_sectors : grade_of)(program, i, known->space, outcome));
  }
  result.value = static_cast<double>(sum);
  result.grade = grade.grade;
  result.reason = grade.reason;
  return result;
}

/// A sum is as good as the weakest of its parts.
schema::Counter sum_of(const std::vector<schema::Term>& terms, const Program& program,
                       const LaunchOutcome& outcome) {
  schema::Counter sum;
  sum.value = 0;
  sum.grade = Grade::measured;
  for (const schema::Term& term : terms) {
    const schema::Counter part =
        counter_of(term.name, find_counter_name(term.name), program, outcome, std::nullopt, true);
    if (sum.value && part.value) {
      *sum.value += term.factor * *part.value;
    } else {
      sum.value.reset();
    }
    if (part.grade > sum.grade) {
      sum.grade = part.grade;
      sum.reason = part.reason;
    }
  }
  return sum;
}

/// A counter of a launch of which some blocks were counted.
schema::Counter as_estimate(schema::Counter counter, const LaunchOutcome& outcome) {
  if (!outcome.sampled || !counter.value || !is_estimated_counter(counter.name)) return counter;
  const std::string weaker = counter.reason.empty() ? "" : "; " + counter.reason;
  counter.reason = fmt::format("{}{} of {} blocks ({:.3g} %){}", schema::estimate_words,
                               outcome.sampled->counted, outcome.sampled->blocks,
                               100 * static_cast<double>(outcome.sampled->counted) /
                                   static_cast<double>(outcome.sampled->blocks),
                               weaker);
  counter.grade = std::max(counter.grade, Grade::sampled);
  return counter;
}

}  // namespace

bool is_estimated_counter(std::string_view name) {
  return !is_of_instructions(name) && !is_of_all_blocks(name);
}

schema::Counter counter(std::string_view name, const Program& program,
                        const LaunchOutcome& outcome) {
  return as_estimate(counter_of(name, find_counter_name(name), program, outcome, std::nullopt),
                     outcome);
}

/// The first of counter_list().
constexpr std::string_view ptx_instructions[] = {"warp_instructions", "thread_instructions"};

std::vector<std::string_view> counter_list() {
  std::vector<std::string_view> names(std::begin(ptx_instructions), std::end(ptx_instructions));
  for (const CounterName& known : counter_names()) names.push_back(known.name);
  return names;
}

bool is_counted(std::string_view counter) {
  const schema::CounterInfo* const info = schema::Catalogue::get().find_counter(counter);
  if (info != nullptr && !info->sum.empty()) {
    return std::all_of(info->sum.begin(), info->sum.end(),
                       [](const schema::Term& term) { return is_counted(term.name); });
  }
  const std::vector<std::string_view> all = counter_list();
  return std::find(all.begin(), all.end(), counter) != all.end() || is_instruction_counter(counter);
}

namespace {

/// True if nothing was counted at the site.
bool is_empty(const SiteCounts& counts) {
  const auto is_none = [](const AccessCounts& one) {
    return (one.requests | one.transactions | one.bytes | one.empty) == 0;
  };
  return is_none(counts.global) && is_none(counts.shared) && is_none(counts.cluster) &&
         is_none(counts.loop_loads);
}

}  // namespace

std::vector<double> counter_values(const Program& program, const LaunchOutcome& outcome) {
  const std::span<const CounterName> counters = counter_names();
  std::vector<std::uint64_t> sums(counters.size());
  for (std::size_t i = 0; i < program.sites.size(); ++i) {
    if (is_empty(outcome.counts[i])) continue;
    for (std::size_t c = 0; c < counters.size(); ++c) {
      const AccessCounts* held = held_counts(program.sites[i], outcome.counts[i], counters[c]);
      if (held != nullptr) sums[c] += value_of(*held, counters[c]);
    }
  }
  std::vector<double> values;
  values.reserve(std::size(ptx_instructions) + sums.size());
  for (const std::string_view name : ptx_instructions) {
    values.push_back(number_of_instructions(name, outcome));
  }
  for (const std::uint64_t sum : sums) values.push_back(static_cast<double>(sum));
  return values;
}

namespace {

/// True if the counter has a second name of PerfWorks for what its copies do.
bool has_copies(const schema::CounterInfo& info) {
  return !info.perfworks_also.empty() && !is_instruction_counter(info.name);
}

/// The first counter that has the name of PerfWorks, for itself or for its copies.
const std::unordered_map<std::string_view, const schema::CounterInfo*>& counters_by_perfworks() {
  static const auto all = [] {
    std::unordered_map<std::string_view, const schema::CounterInfo*> found;
    for (const schema::CounterInfo& info : schema::Catalogue::get().counters()) {
      if (!info.perfworks.empty()) found.try_emplace(info.perfworks, &info);
      if (has_copies(info)) found.try_emplace(info.perfworks_also.front(), &info);
    }
    return found;
  }();
  return all;
}

}  // namespace

NamedCounter::NamedCounter(const std::string& text) : name(text), own_name(text) {
  const schema::CounterInfo* const whole = schema::Catalogue::get().find_counter(name);
  if (whole != nullptr && !whole->sum.empty()) {
    sum = &whole->sum;
    return;
  }
  const auto found = counters_by_perfworks().find(name);
  if (found != counters_by_perfworks().end()) {
    const schema::CounterInfo& info = *found->second;
    own_name = info.name;
    if (has_copies(info)) only = info.perfworks == name ? Carrier::registers : Carrier::copy;
  }
  of_accesses = find_counter_name(own_name);
}

schema::Counter counter_named(const NamedCounter& named, const std::vector<Ran>& grids,
                              std::string_view doubt) {
  schema::Counter sum;
  for (const Ran& ran : grids) {
    schema::Counter one = counter_named(named, *ran.program, ran.outcome);
    if (&ran == &grids.front()) {
      sum = std::move(one);
      continue;
    }
    if (sum.value && one.value) *sum.value += *one.value;
    if (one.grade > sum.grade) {
      sum.grade = one.grade;
      sum.reason = std::move(one.reason);
    }
  }
  if (!doubt.empty() && sum.value && sum.grade < Grade::modelled) {
    sum.grade = Grade::modelled;
    sum.reason = doubt;
  }
  return sum;
}

schema::Counter counter_named(const NamedCounter& named, const Program& program,
                              const LaunchOutcome& outcome) {
  if (named.sum != nullptr) {
    schema::Counter sum = sum_of(*named.sum, program, outcome);
    sum.name = named.name;
    return as_estimate(std::move(sum), outcome);
  }
  schema::Counter result = as_estimate(
      counter_of(named.own_name, named.of_accesses, program, outcome, named.only), outcome);
  if (result.name != named.name) result.name = named.name;
  return result;
}

}  // namespace warpmeter::model
