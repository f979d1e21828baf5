// SPDX-License-Identifier: MIT
#include "collector/profile/sightings.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace warpmeter::profile {
namespace {

/// Two process ids this far apart: they were used up in between and began again. Half of what a
/// small system has.
constexpr pid_t far_apart = 1 << 14;

using Places = std::vector<std::size_t>;

/// Pairs what is not paired yet and equal in `key`, where both runs have equally many of it: of six
/// and five nobody knows which one is new.
template <class Key>
void pair_by(const Key& key, std::span<const Sighting> first, std::span<const Sighting> later,
             std::vector<bool>& taken, std::vector<std::optional<std::size_t>>& places) {
  using Value = std::invoke_result_t<const Key&, const Sighting&>;
  std::map<Value, std::pair<Places, Places>> alike;  // in the first run, in the later one
  for (std::size_t i = 0; i < later.size(); ++i) {
    if (!places[i]) alike[key(later[i])].second.push_back(i);
  }
  if (alike.empty()) return;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (taken[i]) continue;
    if (const auto found = alike.find(key(first[i])); found != alike.end()) {
      found->second.first.push_back(i);
    }
  }
  const auto in_order = [](Places& some, std::span<const Sighting> of) {
    std::sort(some.begin(), some.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(of[a].occurrence, of[a].process, of[a].stream, a) <
             std::tuple(of[b].occurrence, of[b].process, of[b].stream, b);
    });
  };
  for (auto& [value, both] : alike) {
    auto& [ours, theirs] = both;
    if (ours.size() != theirs.size()) continue;
    in_order(ours, first);
    in_order(theirs, later);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      places[theirs[i]] = ours[i];
      taken[ours[i]] = true;
    }
  }
}

}  // namespace

std::vector<std::optional<std::size_t>> match(std::span<const Sighting> first,
                                              std::span<const Sighting> later) {
  std::vector<bool> taken(first.size(), false);
  std::vector<std::optional<std::size_t>> places(later.size());
  const auto closest = [](const Sighting& s) {
    return std::tuple(s.identity, s.process, s.context, s.stream, s.occurrence);
  };
  const auto without_stream = [](const Sighting& s) { return std::tuple(s.identity, s.process); };
  const auto without_process = [](const Sighting& s) { return s.identity; };
  pair_by(closest, first, later, taken, places);
  pair_by(without_stream, first, later, taken, places);
  pair_by(without_process, first, later, taken, places);
  return places;
}

std::uint32_t Identities::number_of(const std::string& kernel, const inject::LaunchShape& shape,
                                    bool is_in_graph) {
  const auto next = static_cast<std::uint32_t>(known_.size());
  const auto [place, is_new] =
      known_.try_emplace(Key{kernel, shape.device, shape.grid, shape.block, is_in_graph}, next);
  if (is_new) kernels_.push_back(&std::get<0>(place->first));
  return place->second;
}

void Sightings::meet(int peer, pid_t process, const std::string& program) {
  processes_.push_back({peer, process, program});
}

std::size_t Sightings::add(int peer, const inject::LaunchShape& shape, std::uint32_t identity,
                           std::uint32_t occurrence) {
  all_.push_back(
      {identity, static_cast<std::uint64_t>(peer), shape.context, shape.stream, occurrence});
  return all_.size() - 1;
}

std::size_t Sightings::add_traced(int peer, const inject::LaunchShape& shape,
                                  std::uint32_t identity, std::uint32_t correlation) {
  correlations_.push_back(correlation);
  return add(peer, shape, identity, 0);
}

std::span<const Sighting> Sightings::finish() {
  if (!std::exchange(is_finished_, true)) {
    number_processes();
    if (!correlations_.empty()) count_occurrences();
  }
  return all_;
}

std::size_t Sightings::take_over(const Sighting& sighting) {
  all_.push_back(sighting);
  return all_.size() - 1;
}

void Sightings::number_processes() {
  std::vector<Process> ordered = processes_;
  pid_t greatest = 0;
  for (const Process& process : ordered) greatest = std::max(greatest, process.id);
  const auto age = [greatest](const Process& process) {
    return std::tuple(greatest - process.id > far_apart, process.id, process.peer);
  };
  std::sort(ordered.begin(), ordered.end(),
            [&](const Process& a, const Process& b) { return age(a) < age(b); });
  std::map<int, std::uint64_t> numbers;  // by the peer
  std::map<std::string, std::uint64_t> started;
  for (const Process& process : ordered) {
    // The same program in every run has the same hash within this process, which is all that
    // counts.
    const std::uint64_t program = std::hash<std::string>{}(process.program);
    numbers[process.peer] = (program << 20) + started[process.program]++;
  }
  for (Sighting& sighting : all_) sighting.process = numbers[static_cast<int>(sighting.process)];
}

/// CUPTI's correlations grow from launch to launch of a process.
void Sightings::count_occurrences() {
  std::vector<std::size_t> order(all_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::tuple(all_[a].process, correlations_[a]) <
           std::tuple(all_[b].process, correlations_[b]);
  });
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      seen;
  for (const std::size_t place : order) {
    Sighting& s = all_[place];
    s.occurrence = seen[{s.identity, s.process, s.context, s.stream}]++;
  }
}

}  // namespace warpmeter::profile
