// SPDX-License-Identifier: MIT
// The recorder between two runs of the program: what the later one measured goes to the launches of
// the first; what only one of them launched is stored with that reason.
#include <fmt/format.h>

#include <utility>

#include "collector/profile/recorder.h"

namespace warpmeter::profile {
namespace {

constexpr std::size_t completions_a_transaction = 4096;

void add_unavailable(std::vector<schema::Counter>& counters, const std::vector<std::string>& names,
                     const std::string& reason) {
  for (const std::string& name : names) {
    counters.push_back({name, std::nullopt, schema::Grade::unavailable, reason});
  }
}

}  // namespace

void Recorder::end_pass(bool was_stopped) {
  store_all();
  std::optional<LaterPass> later = std::exchange(later_, std::nullopt);
  if (later && run_id() && !has_failed()) {
    try {
      add_to_first_pass(*later, was_stopped);
    } catch (const Error& error) {
      writer_.fail(error);
    }
  }
  counters_past_.insert(counters_past_.end(), pass_.counters.begin(), pass_.counters.end());
}

void Recorder::add_to_first_pass(LaterPass& later, bool was_stopped) {
  const Pass& pass = later.pass();
  const bool counts = pass.kind == Pass::Kind::counters;
  const std::span<const Sighting> first = first_.finish(), seen = later.sightings().finish();
  const std::vector<std::optional<std::size_t>> places = match(first, seen);
  Mismatch mismatch{pass.number, counts, 0, 0, {}};
  std::vector<bool> is_matched(first.size(), false);
  std::vector<schema::Completion> completions;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!places[i]) continue;
    is_matched[*places[i]] = true;
    completions.push_back(later.completion(i, writer_.launch_ids()[*places[i]]));
    complete(completions, completions_a_transaction);
  }
  const std::string missing =
      was_stopped ? fmt::format("run {} of the program was stopped before it", pass.number)
                  : fmt::format("run {} of the program did not launch it", pass.number);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (is_matched[i]) continue;
    ++mismatch.missing;
    mismatch.kernels.insert(identities_.kernel_of(first[i].identity));
    if (!counts) continue;
    schema::Completion completion{writer_.launch_ids()[i], {}, std::nullopt};
    add_unavailable(completion.counters, pass.counters, missing);
    completions.push_back(std::move(completion));
    complete(completions, completions_a_transaction);
  }
  complete(completions, 0);
  const std::string additional = fmt::format("only run {} of the program launched it", pass.number);
  for (std::size_t i = 0; counts && i < seen.size(); ++i) {
    if (places[i]) continue;
    ++mismatch.additional;
    mismatch.kernels.insert(identities_.kernel_of(seen[i].identity));
    schema::Launch launch = later.launch(i);
    add_unavailable(launch.counters, counters_past_, additional);
    keep(later.device(i), first_.take_over(seen[i]), std::move(launch));
  }
  store_all();
  if (mismatch.missing + mismatch.additional > 0) mismatches_.push_back(std::move(mismatch));
}

void Recorder::skip_pass(const Pass& pass, const std::string& reason) {
  if (!run_id() || has_failed()) return;
  try {
    std::vector<schema::Completion> completions;
    for (const std::int64_t id : writer_.launch_ids()) {
      completions.push_back({id, {}, std::nullopt});
      add_unavailable(completions.back().counters, pass.counters, reason);
      complete(completions, completions_a_transaction);
    }
    complete(completions, 0);
  } catch (const Error& error) {
    writer_.fail(error);
  }
}

/// Stores them when there are more than `most_waiting`.
void Recorder::complete(std::vector<schema::Completion>& completions, std::size_t most_waiting) {
  if (completions.size() <= most_waiting) return;
  writer_.store().complete_launches(completions);
  completions.clear();
}

}  // namespace warpmeter::profile
