// SPDX-License-Identifier: MIT
// The cost of instructions: lanes that wait while others run, doubles in code of floats.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/with_noun.h"
#include "base/words.h"
#include "collector/model/explain/shared_arrays.h"
#include "collector/model/explain/source_doubles.h"

namespace warpmeter::model::explain {
namespace {

/// Fewer instructions behind a branch are executed by all lanes, with a predicate.
constexpr std::uint32_t least_branched = 3;
/// A store by one lane for its warp, or a few lanes' loads beside a tile, takes no more
/// instructions each time, and the few are no more.
constexpr std::uint32_t most_of_elected = 24;
constexpr int most_at_edge = 4;
/// The share of a launch that waiting lanes cost in instructions alone before they are reported:
/// who loads a halo at the edge of a tile needs requests of its own, whoever waits.
constexpr double least_divergence = 0.06;
/// And of each warp: what one lane does at the end for all of them is less.
constexpr double least_idle_of_warp = 16;

/// The share of a launch's instructions on doubles for a reported line.
constexpr double least_doubles = 0.01;

schema::Finding& start(const Subject& subject, const char* kind, const Place& place, double cycles,
                       std::vector<Weighed>& found) {
  Weighed& weighed = found.emplace_back();
  weighed.cycles = cycles;
  weighed.finding.kind = kind;
  locate(subject, place, weighed.finding);
  weighed.finding.grade = schema::Grade::exact;
  return weighed.finding;
}

// ---- lanes that wait

/// Instructions that a branch decides about.
struct Region {
  std::uint32_t branch = 0, begin = 0, end = 0;
};

/// How many instructions the machine code would execute under a predicate in the place of a
/// branch.
class Ways {
 public:
  explicit Ways(const Program& program) : kinds_(program.places.size()) {
    for (const Operation& op : program.operations) {
      if (op.code == Code::branch) kinds_[op.instruction] = Kind::jump;
      if (op.code == Code::branch_if || op.code == Code::branch_out) {
        kinds_[op.instruction] = Kind::choice;
      }
    }
  }
  /// The longer of two ways; of several all together.
  std::uint32_t length(std::uint32_t begin, std::uint32_t end) const {
    std::uint32_t all = 0, way = 0, longest = 0;
    bool has_choice = false;
    for (std::uint32_t i = begin; i < end; ++i) {
      has_choice |= kinds_[i] == Kind::choice;
      if (kinds_[i] != Kind::none) {
        way = 0;
        continue;
      }
      ++all;
      longest = std::max(longest, ++way);
    }
    return has_choice ? all : longest;
  }

 private:
  enum class Kind : std::uint8_t { none, jump, choice };
  std::vector<Kind> kinds_;
};

std::vector<Region> regions(const Subject& subject) {
  std::vector<Region> all;
  const Program& program = subject.program;
  const Ways ways(program);
  const auto last = static_cast<std::uint32_t>(program.places.size());
  for (const Operation& op : program.operations) {
    if (op.code == Code::leave && op.guard != no_guard) {  // some lanes end here
      const std::uint32_t next = op.instruction + 1;
      const bool parts = next < last && subject.lanes[next] < subject.lanes[op.instruction];
      if (parts && last - next > least_branched) all.push_back({op.instruction, next, last});
      continue;
    }
    const bool is_branch = op.code == Code::branch_if || op.code == Code::branch_out;
    if (!is_branch || subject.outcome.parted[op.instruction] == 0) continue;
    const std::uint32_t target = program.operations[op.extra].instruction;
    if (target <= op.instruction) {
      all.push_back({op.instruction, target, op.instruction + 1});
      continue;
    }
    const std::uint32_t meeting =
        op.imm < 0 ? last : program.operations[static_cast<std::size_t>(op.imm)].instruction;
    // Those who end meet nobody: the others go on from the next instruction.
    const std::uint32_t end = meeting > op.instruction + 1 ? meeting : last;
    if (ways.length(op.instruction + 1, end) >= least_branched)
      all.push_back({op.instruction, op.instruction + 1, end});
  }
  return all;
}

/// The cycles of each instruction's accesses.
std::vector<double> cycles_of_accesses(const Subject& subject) {
  std::vector<double> cycles(subject.program.places.size());
  for (std::size_t i = 0; i < subject.program.sites.size(); ++i) {
    const SiteCounts& counts = subject.outcome.counts[i];
    cycles[subject.site(i).instruction] +=
        cycles_of_wavefront * static_cast<double>(counts.shared.transactions) +
        cycles_of_request * static_cast<double>(counts.global.requests);
  }
  return cycles;
}

/// The lanes that access memory in a way, of all warps together.
struct AccessingLanes {
  std::uint32_t global_stores = 0, global_loads = 0, shared_stores = 0, others = 0;
  bool is_end = false;  ///< for the threads

  AccessingLanes& operator|=(const AccessingLanes& more) {
    global_stores |= more.global_stores;
    global_loads |= more.global_loads;
    shared_stores |= more.shared_stores;
    others |= more.others;
    return *this;
  }
};

/// By instruction.
std::vector<AccessingLanes> accessing_lanes(const Subject& subject) {
  std::vector<AccessingLanes> lanes(subject.program.places.size());
  for (std::size_t i = 0; i < subject.program.sites.size(); ++i) {
    const SiteInfo& site = subject.site(i);
    const bool is_shared = subject.outcome.counts[i].shared.requests > 0;
    AccessingLanes& own = lanes[site.instruction];
    std::uint32_t& way = site.kind == AccessKind::load ? (is_shared ? own.others : own.global_loads)
                         : !is_shared                  ? own.global_stores
                         : site.is_atomic()            ? own.others
                                                       : own.shared_stores;
    for (const auto& [pattern, places] : subject.recording.sites[i].patterns()) way |= pattern.mask;
  }
  for (const Operation& op : subject.program.operations) {
    if (op.code == Code::leave) lanes[op.instruction].is_end = true;
  }
  return lanes;
}

/// True if one lane, the same of each warp, stores there what the warp has found together, or a few
/// bring what lies at the edge of the warp's tile to shared memory: nobody else has that to do.
bool is_elected(const Subject& subject, const std::vector<AccessingLanes>& accessing,
                const Region& region) {
  if (region.end - region.begin > most_of_elected) return false;
  AccessingLanes lanes;
  double most = 0;  ///< lanes a warp
  for (std::uint32_t i = region.begin; i < region.end; ++i) {
    if (accessing[i].is_end) continue;  // those who do nothing else come here too
    most = std::max(most, subject.lanes[i] / std::max(1.0, subject.issues[i]));
    lanes |= accessing[i];
  }
  if (most > most_at_edge || lanes.others != 0) return false;
  const bool is_edge = lanes.global_stores == 0 && lanes.global_loads != 0 &&
                       std::popcount(lanes.shared_stores) <= most_at_edge &&
                       lanes.global_loads == lanes.shared_stores;
  return is_edge || (most <= 1 && lanes.global_loads == 0 &&
                     std::has_single_bit(lanes.global_stores | lanes.shared_stores));
}

struct Waiting {
  Place place;
  double idle = 0, issues = 0, lanes = 0;
  double cycles = 0;  ///< that lanes at work would not need
};

void find_divergence(const Subject& subject, std::vector<Weighed>& found) {
  const std::vector<Region> all = regions(subject);
  const std::vector<double> accesses = cycles_of_accesses(subject);
  const std::vector<AccessingLanes> accessing = accessing_lanes(subject);
  std::map<LineKey, Waiting> lines;
  for (std::uint32_t i = 0; i < subject.program.places.size(); ++i) {
    const double idle = subject.warps_lanes * subject.issues[i] - subject.lanes[i];
    if (idle <= 0) continue;
    const Region* innermost = nullptr;
    for (const Region& region : all) {
      if (i < region.begin || i >= region.end) continue;
      if (innermost == nullptr || region.end - region.begin < innermost->end - innermost->begin) {
        innermost = &region;
      }
    }
    if (innermost == nullptr || is_elected(subject, accessing, *innermost)) continue;
    const auto decided = subject.program.decided_at.find(innermost->branch);
    const Place& place = decided == subject.program.decided_at.end()
                             ? subject.program.places[innermost->branch]
                             : decided->second;
    Waiting& waiting = lines[line_key(place)];
    waiting.place = place;
    waiting.idle += idle;
    waiting.issues += subject.issues[i];
    waiting.lanes += subject.lanes[i];
    waiting.cycles += idle / subject.warps_lanes *
                      (cycles_of_instruction + accesses[i] / std::max(1.0, subject.issues[i]));
  }
  const double warps = subject.issues.empty() ? 0 : subject.issues[0];
  for (const auto& [key, waiting] : lines) {
    const double issues = waiting.idle / subject.warps_lanes;  // that would not be needed
    if (cycles_of_instruction * issues < least_divergence * subject.cycles) continue;
    if (issues < least_idle_of_warp * warps) continue;
    schema::Finding& finding = start(subject, "divergence", waiting.place, waiting.cycles, found);
    finding.share = issues / std::max(1.0, static_cast<double>(subject.outcome.warp_instructions));
    finding.share_of = "the launch's instructions";
    finding.evidence = fmt::format(
        "The lanes of a warp part here: of what this decides about, {} run with "
        "{:.1f} "
        "of {:.0f} lanes in the mean.",
        with_noun(shown(waiting.issues), "instruction"),
        waiting.lanes / std::max(1.0, waiting.issues), subject.warps_lanes);
    finding.grade = schema::Grade::ptx;
    finding.grade_reason = "PTX instructions: machine code executes another number of them";
  }
}

// ---- doubles

/// The doubles of one line.
struct Doubles {
  Place place;
  double arithmetic = 0, conversions = 0;
  std::uint8_t traits = 0;

  bool has(std::uint8_t trait) const { return (traits & trait) != 0; }
  /// Doubles come from other numbers here, and are none any more behind it.
  bool is_closed() const {
    return arithmetic > 0 && has(trait_widens | trait_begins) &&
           has(trait_narrows | trait_ends | trait_judges);
  }
  std::string what_becomes_of_them() const {
    if (has(trait_narrows)) return "a float becomes a double and a float again";
    const char* from = has(trait_widens) ? "a float" : "an integer";
    return has(trait_ends) ? fmt::format("{} becomes a double, and that an integer", from)
                           : fmt::format("{} becomes a double to be compared", from);
  }
};

/// Doubles that nobody asked for: they come from floats and go back to floats; or, where memory and
/// parameters hold none, to integers and comparisons of the same line.
void find_doubles(const Subject& subject, std::vector<Weighed>& found) {
  std::map<LineKey, Doubles> lines;
  Doubles all_lines;
  for (std::uint32_t i = 0; i < subject.program.traits.size(); ++i) {
    const std::uint8_t traits = subject.program.traits[i];
    if (traits == 0 || subject.issues[i] <= 0) continue;
    all_lines.traits |= traits;
    if (traits == trait_keeps) continue;
    Doubles& doubles = lines[line_key(subject.program.places[i])];
    doubles.place = subject.program.places[i];
    doubles.traits |= traits;
    const bool computes = (traits & trait_double) != 0;
    (computes ? doubles.arithmetic : doubles.conversions) += subject.issues[i];
    all_lines.arithmetic += computes ? subject.issues[i] : 0;
  }
  if (all_lines.arithmetic <= 0) return;  // doubles are only stored
  const bool is_of_floats = all_lines.has(trait_widens) && all_lines.has(trait_narrows);
  const bool may_be_kept = all_lines.has(trait_keeps);
  const double all = std::max(1.0, static_cast<double>(subject.outcome.warp_instructions));
  for (const auto& [key, doubles] : lines) {
    if (!is_of_floats && (may_be_kept || !doubles.is_closed())) continue;
    const double cost = doubles.arithmetic + doubles.conversions;
    // One literal in a long loop is a small part of it here, and most of it where doubles are rare.
    const double least =
        doubles.arithmetic > 0 && cost >= least_doubles * all ? least_told(subject) : 0;
    schema::Finding& finding = start(subject, "double_arithmetic", doubles.place,
                                     std::max(least, cycles_of_double * cost), found);
    finding.share = cost / all;
    finding.share_of = "the launch's instructions";
    finding.evidence = fmt::format("{} of doubles and {}: {}. {}.",
                                   with_noun(shown(doubles.arithmetic), "instruction"),
                                   with_noun(shown(doubles.conversions), "conversion"),
                                   (is_of_floats ? all_lines : doubles).what_becomes_of_them(),
                                   cause_of_doubles(finding.text));
    finding.grade = schema::Grade::ptx;
    finding.grade_reason = "PTX instructions: machine code executes another number of them";
  }
}

}  // namespace

void find_in_execution(const Subject& subject, std::vector<Weighed>& found) {
  find_divergence(subject, found);
  find_doubles(subject, found);
}

}  // namespace warpmeter::model::explain
